// The deployment that the end-to-end tests call, in a file: the script writes it, tests read it.

import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

const E2eTarget = z.object({
  apiUrl: z.string(),
  region: z.string(),
  /** Absent: AWS itself. */
  endpoint: z.string().optional(),
  outputs: z.record(z.string(), z.string()),
  /** The settings of the deployment, to deploy it again. */
  context: z.record(z.string(), z.string()),
  /** The folder for the files of deployments. */
  folder: z.string(),
  /** What the target lacks, with the reason; tests that need it are skipped and counted. */
  lacks: z.partialRecord(z.enum(["iam", "schedules", "loopback"]), z.string()),
});

export type E2eTarget = Readonly<z.infer<typeof E2eTarget>>;

/** Something that not every target has. */
export type Capability = keyof E2eTarget["lacks"];

export function writeTarget(file: string, target: E2eTarget): void {
  writeFileSync(file, `${JSON.stringify(target, undefined, 2)}\n`);
}

/** The target that the script has deployed. */
export function readTarget(file: string | undefined): E2eTarget {
  if (file === undefined) {
    throw new Error("These tests need a deployment: run them with `npm run test:e2e`.");
  }
  return E2eTarget.parse(JSON.parse(readFileSync(file, "utf8")));
}
