// The workflow of engines that are killed: steps side by side, an event against a timer, a step that
// fails first, and a loop. Each step adds a line to the ledger before it does anything.
import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import {
  all,
  delay,
  event,
  race,
  type StepContext,
  step,
  uuid,
  workflow,
} from "fermata-engine/workflow";

/** How often the flaky step fails before it succeeds. */
const FAILURES = 2;

/** Set by the program that serves the engine. */
type Ledger = { ledger: number; life: string };

/** One write to a file opened for appending: whole or absent, and not lost with the process. */
function enter(name: string, { idempotencyKey, attempt }: StepContext): void {
  const { ledger, life } = (globalThis as unknown as { killed: Ledger }).killed;
  writeSync(ledger, `${life} ${idempotencyKey} ${attempt} ${name}\n`);
}

/** Half of the steps end at once, the others take their time. */
async function work(): Promise<void> {
  if (Math.random() < 0.5) await pause(Math.random() * 25);
}

export const write = step("write", async (name: string, context) => {
  enter(name, context);
  await work();
  return `${name} ${context.idempotencyKey}`;
});

export const flaky = step(
  "flaky",
  async (name: string, context) => {
    enter(name, context);
    if (context.attempt <= FAILURES) throw new Error(`failure ${context.attempt}`);
    return `${name} ${context.idempotencyKey}`;
  },
  { retry: { maxAttempts: 5, backoff: "50ms" } },
);

export const life = workflow("life", async ({ waitMs }: { waitMs: number }) => {
  const ids = [uuid()];
  const both = await all([write("a"), write("b")]);
  const first = await race({ go: event<string>("go"), late: delay(`${waitMs}ms`) });
  ids.push(uuid());
  const mended = await flaky("c");
  const rest: string[] = [];
  for (const name of ["d", "e", "f"]) rest.push(await write(name));
  const times = [Date.now()];
  return {
    done: [...both, mended, ...rest],
    go: first.key === "go" ? first.value : null,
    ids,
    times,
  };
});
