// A program that serves an engine on the given folder, until it is killed. Every handler first adds
// a line to the ledger: which process, which key, which attempt, which element. Prints where it
// listens, and what it found to recover.

import { openSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { openEngine, serveEngine } from "../../lib/embedded/index.ts";
import { FAILURES_OF_D } from "./killed-processes.ts";

const [, , dataDir = "", ledgerFile = "", life = "", concurrency = ""] = process.argv;
const ledger = openSync(ledgerFile, "a");

type Context = Readonly<{ idempotencyKey: string; attempt: number; element: string }>;

/** One write to a file opened for appending: whole or absent, and not lost with the process. */
function enter({ idempotencyKey, attempt, element }: Context): void {
  writeSync(ledger, `${life} ${idempotencyKey} ${attempt} ${element}\n`);
}

/** The key goes into the variables, so that the state can be compared with the ledger. */
function done({ idempotencyKey, element }: Context) {
  return { [element]: idempotencyKey };
}

/** Half of the tasks end at once and go on in place, the others take their time. */
async function work(): Promise<void> {
  if (Math.random() < 0.5) await pause(Math.random() * 25);
}

const engine = await openEngine({
  dataDir,
  concurrency: Number(concurrency),
  onTrouble: (message) => process.stderr.write(`${message}\n`),
  tasks: {
    step: async (_, context) => {
      enter(context);
      await work();
      return done(context);
    },
    flaky: {
      backoff: { initial: "PT0.05S" },
      run: async (_, context) => {
        enter(context);
        await work();
        if (context.attempt <= FAILURES_OF_D) throw new Error(`failure ${context.attempt}`);
        return done(context);
      },
    },
    slow: async ({ slow }, context) => {
      enter(context);
      if (slow === true) await pause(600_000, undefined, { signal: context.signal });
      await work();
      return done(context);
    },
  },
});
const { url } = await serveEngine(engine, {
  port: 0,
  onUnexpected: (id, error) => process.stderr.write(`${id} ${String(error)}\n`),
});
process.stdout.write(`${JSON.stringify({ url, recovered: await engine.recovered })}\n`);
