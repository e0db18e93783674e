// Proves that an acknowledged commit has been flushed, which no kill -9 can show: a program makes
// commits one after another, each when the one before was acknowledged, while strace counts the
// flushes of its process. Fewer flushes than commits means that something was promised too early.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const COMMITS = 200;
const program = join(import.meta.dirname, "../test/support/commit-one-by-one.ts");

process.exitCode = main();

function main(): number {
  if (spawnSync("strace", ["-V"]).error !== undefined) {
    console.error("test:durable needs strace: install it (Debian: apt-get install strace).");
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), "fermata-durable-"));
  try {
    return verdict(traced(folder, 0), traced(folder, COMMITS));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Traced = Readonly<{ acknowledged: number; flushes: number }>;

/** Opening and closing flush as well: a run without commits tells how often, and is taken off. */
function verdict(idle: Traced, busy: Traced): number {
  const flushes = busy.flushes - idle.flushes;
  console.log(`${busy.acknowledged} commits acknowledged one by one, ${flushes} flushes for them`);
  console.log(`(${busy.flushes} in all, ${idle.flushes} of them to open and close the folder)`);
  const isDurable = busy.acknowledged === COMMITS && flushes >= busy.acknowledged;
  console.log(isDurable ? "1 passed, 0 failed" : "0 passed, 1 failed: a commit was not flushed");
  return isDurable ? 0 : 1;
}

function traced(folder: string, commits: number): Traced {
  const trace = join(folder, "trace");
  const flushCalls = "trace=fsync,fdatasync";
  const command = ["-f", "-qq", "-e", flushCalls, "-o", trace];
  const run = [process.execPath, program, join(folder, `data-${commits}`), String(commits)];
  const { status, stdout, stderr } = spawnSync("strace", [...command, ...run], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the traced program failed: ${stderr}`);
  return { acknowledged: Number(stdout), flushes: countFlushes(readFileSync(trace, "utf8")) };
}

/** Only calls that answered 0; one cut in two by another thread is counted where it answers. */
function countFlushes(trace: string): number {
  return [...trace.matchAll(/\b(fsync|fdatasync)\b.*= 0$/gm)].length;
}
