// Proves that an acknowledged commit has been flushed, which no kill -9 can show: a program makes
// commits one after another, each after the previous one was acknowledged, while strace counts the
// flushes of its process. Fewer flushes than commits mean that something was acknowledged too
// early. Once with the bare store, once with the whole engine running one instance after another,
// once with messages and signals that each resume an instance.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "./command-line.ts";

type Case = Readonly<{ what: string; program: string; rounds: number; commitsPerRound: number }>;

readCommandLine(import.meta.filename, {});

const CASES: readonly Case[] = [
  {
    what: "the store",
    program: join(import.meta.dirname, "../test/support/commit-one-by-one.ts"),
    rounds: 200,
    commitsPerRound: 1,
  },
  {
    what: "the engine",
    program: join(import.meta.dirname, "../test/support/run-one-by-one.ts"),
    rounds: 20,
    commitsPerRound: 11, // a start and ten steps
  },
  {
    what: "messages and signals",
    program: join(import.meta.dirname, "../test/support/receive-one-by-one.ts"),
    rounds: 20,
    // Two starts; a message with the step of its recipient; a signal's number, place, itself and
    // the step of its recipient.
    commitsPerRound: 7,
  },
];

process.exitCode = main();

function main(): number {
  if (spawnSync("strace", ["-V"]).error !== undefined) {
    console.error("test:durable needs strace: install it (Debian: apt-get install strace).");
    return 1;
  }
  const failed = CASES.filter((it) => !isDurable(it)).length;
  console.log(`${CASES.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function isDurable(it: Case): boolean {
  const folder = mkdtempSync(join(tmpdir(), "fermata-durable-"));
  try {
    return verdict(it, traced(it.program, folder, 0), traced(it.program, folder, it.rounds));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Traced = Readonly<{ acknowledged: number; flushes: number }>;

/** Opening and closing flush as well: a run without commits shows how often, and is subtracted. */
function verdict({ what, rounds, commitsPerRound }: Case, idle: Traced, busy: Traced): boolean {
  const flushes = busy.flushes - idle.flushes;
  const { acknowledged } = busy;
  console.log(`${what}: ${acknowledged} commits acknowledged one by one, ${flushes} flushes`);
  console.log(`  (${busy.flushes} in all, ${idle.flushes} of them to open and close the folder)`);
  const isWhole = acknowledged >= rounds * commitsPerRound;
  if (!isWhole) console.log(`  ${rounds * commitsPerRound} commits were expected`);
  if (flushes < acknowledged) console.log("  a commit was acknowledged that was not flushed");
  return isWhole && flushes >= acknowledged;
}

function traced(program: string, folder: string, rounds: number): Traced {
  const trace = join(folder, "trace");
  const flushCalls = "trace=fsync,fdatasync";
  const command = ["-f", "-qq", "-e", flushCalls, "-o", trace];
  const run = [process.execPath, program, join(folder, `data-${rounds}`), String(rounds)];
  const { status, stdout, stderr } = spawnSync("strace", [...command, ...run], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the traced program failed: ${stderr}`);
  return { acknowledged: Number(stdout), flushes: countFlushes(readFileSync(trace, "utf8")) };
}

/**
 * Only calls that returned 0; one that strace splits because of another thread is counted where it
 * returns.
 */
function countFlushes(trace: string): number {
  return [...trace.matchAll(/\b(fsync|fdatasync)\b.*= 0$/gm)].length;
}
