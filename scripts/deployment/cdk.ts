// Bootstraps and deploys with the published CDK command, as a user would.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { z } from "zod";
import { runCommand } from "../run-command.ts";
import { type AwsPlace, EMULATED } from "./aws-place.ts";

const ROOT = join(import.meta.dirname, "../..");
const BIN = join(ROOT, "node_modules/.bin");

/** The stack with the engine. */
export const ENGINE_STACK = "Fermata";

/** What is deployed, as context for `cdk deploy -c`. */
export type Context = Readonly<Record<string, string>>;

export type Outputs = Readonly<Record<string, string>>;

export type Deployment = Readonly<{
  place: AwsPlace;
  context: Context;
  /** Where the synthesised app, the outputs and the log are left. */
  folder: string;
}>;

type Synthesised = Omit<Deployment, "context">;

/** Prepares an emulated account for deployments; in an empty folder, since this app is not needed. */
export async function bootstrap(place: AwsPlace): Promise<void> {
  const empty = mkdtempSync(join(tmpdir(), "fermata-bootstrap-"));
  try {
    const environment = `aws://${EMULATED.account}/${place.region}`;
    await cdk(["bootstrap", environment], { place, cwd: empty, log: join(empty, "bootstrap.log") });
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}

/** Deploys the engine, or updates the deployment, and returns the outputs of its stack. */
export async function deploy(deployment: Deployment): Promise<Outputs> {
  await synthesise(deployment);
  return deploySynthesised(deployment);
}

/** Creates the templates and bundles the functions, which takes most of the time. */
export async function synthesise({ place, context, folder }: Deployment): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const settings = Object.entries(context).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["synth", "--quiet", `--output=${resolve(folder, "cdk.out")}`, ...settings];
  await cdk(args, { place, cwd: ROOT, log: resolve(folder, "synth.log") });
}

/** Deploys what was synthesised into the folder. */
export async function deploySynthesised({ place, folder }: Synthesised): Promise<Outputs> {
  const outputs = resolve(folder, "outputs.json");
  const args = [
    "deploy",
    ENGINE_STACK,
    "--exclusively",
    "--require-approval=never",
    `--app=${resolve(folder, "cdk.out")}`,
    `--outputs-file=${outputs}`,
  ];
  await cdk(args, { place, cwd: ROOT, log: resolve(folder, "deploy.log") });
  return parseOutputs(readFileSync(outputs, "utf8"));
}

/** Removes the deployment, using what it left in its folder, which may be nothing yet. */
export async function destroy({ place, folder }: Synthesised): Promise<void> {
  if (!existsSync(resolve(folder, "cdk.out/manifest.json"))) return;
  const app = `--app=${resolve(folder, "cdk.out")}`;
  const args = ["destroy", ENGINE_STACK, "--exclusively", "--force", app];
  await cdk(args, { place, cwd: ROOT, log: resolve(folder, "destroy.log") });
}

/** There is only one stack in the file. */
function parseOutputs(text: string): Outputs {
  const byStack = z.record(z.string(), z.record(z.string(), z.string())).parse(JSON.parse(text));
  return Object.assign({}, ...Object.values(byStack));
}

type Where = Readonly<{ place: AwsPlace; cwd: string; log: string }>;

async function cdk(args: readonly string[], { place, cwd, log }: Where): Promise<void> {
  const env = {
    ...place.environment,
    PATH: `${BIN}${delimiter}${process.env.PATH ?? ""}`,
    // Plain lines instead of a progress bar, and no telemetry.
    CI: "true",
    CDK_DISABLE_CLI_TELEMETRY: "true",
  };
  const options = { cwd, env, group: true };
  const { code, output } = await runCommand("cdk", [...args, "--no-notices"], options);
  writeFileSync(log, output);
  if (code !== 0) throw new Error(`cdk ${args[0]} failed: ${whyFailed(output)}`);
}

/** The error lines of the command; its whole output if there are none. */
function whyFailed(output: string): string {
  const lines = output.trimEnd().split("\n");
  const told = lines.filter((line) => /❌|error|failed/i.test(line));
  return `\n${(told.length > 0 ? told : lines).slice(-25).join("\n")}`;
}
