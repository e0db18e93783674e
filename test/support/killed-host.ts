// The process under test, as the test sees it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

/** Runs steps above this number wait for a slot; high enough that most find one free. */
export const CONCURRENCY = 2_048;

/** The numbers of its report by which its kills are judged. */
const Recovered = z.object({ resumed: z.number(), timersFired: z.number(), failed: z.literal(0) });
const Ready = z.object({ url: z.string(), recovered: Recovered });

/** One process of the program; `openedAt` and `killedAt` are wall clock, as in the histories. */
export type Life = Readonly<{
  url: string;
  recovered: z.infer<typeof Recovered>;
  openedAt: number;
  pid: number;
  /** SIGKILL; resolves to the moment before it was sent, once the process is gone. */
  kill(): Promise<number>;
}>;

export type Folders = Readonly<{ data: string; ledger: string }>;

/** Starts the program and waits until it serves. */
export async function startLife(
  { data, ledger }: Folders,
  number: number,
  program = "killed-engine.ts",
): Promise<Life> {
  const args = [
    join(import.meta.dirname, program),
    data,
    ledger,
    String(number),
    String(CONCURRENCY),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const line = await Promise.race([
    once(createInterface(child.stdout), "line").then(([text]) => String(text)),
    gone.then(([code, signal]) => {
      throw new Error(`life ${number} ended before it served: ${code ?? signal}`);
    }),
  ]);
  const openedAt = Date.now();
  return {
    ...Ready.parse(JSON.parse(line)),
    openedAt,
    pid: child.pid ?? 0,
    kill: async () => {
      const killedAt = Date.now();
      child.kill("SIGKILL");
      const [code, signal] = await gone;
      if (signal !== "SIGKILL") throw new Error(`life ${number} ended by itself: ${code}`);
      return killedAt;
    },
  };
}
