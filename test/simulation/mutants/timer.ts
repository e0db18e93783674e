// Rules of timers, the sweep and the wheel, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const TIMER_MUTANTS: readonly Mutant[] = [
  {
    name: "no-lead",
    without: "a schedule fires well before the timer is due, because it may be a minute late",
    scenario: "timer-routes",
    file: "lib/adapters/scheduler/timer-route.ts",
    find: "const at = wholeSecond(dueAt - leadSeconds * 1_000);",
    replace: `${MARK}; const at = wholeSecond(dueAt);`,
  },
  {
    name: "no-sweep",
    without: "what no queue has delivered is found by the sweep",
    scenario: "timer-routes",
    file: "lib/engine/recovery/sweep.ts",
    find: "if (items.length === 0 && next === undefined) return NOTHING;",
    replace: `if (items.length > 0 || next !== undefined) ${MARK}; return NOTHING;`,
  },
  {
    name: "sweep-passes-what-is-not-overdue",
    without: "the cursor of the sweep stays before what it has not sent",
    scenario: "timer-crowd",
    file: "lib/engine/recovery/sweep.ts",
    find: "end: { begunAt: begin.begunAt, from: until },",
    replace: `end: (${MARK}, { begunAt: begin.begunAt, from: now }),`,
  },
  {
    name: "wheel-without-cursor",
    without: "the wheel continues with the minute that it has reached",
    scenario: "timer-wheel",
    file: "lib/engine/recovery/wheel.ts",
    find: "const begin: Position = cursor.position ?? { begunAt: now };",
    replace: `if (cursor.position) ${MARK}; const begin: Position = { begunAt: now };`,
  },
  {
    name: "wheel-passes-what-it-has-not-queued",
    without: "the wheel advances only as far as it has read",
    scenario: "timer-wheel",
    file: "lib/engine/recovery/wheel.ts",
    find: "end: { begunAt: begin.begunAt, from: end },",
    replace: `end: (${MARK}, { begunAt: begin.begunAt, from: instantFrom(end + 3_600_000) }),`,
  },
  {
    name: "busy-taken-for-success",
    without: "a write that a busy store refused was not written",
    scenario: "incident",
    file: "lib/engine/step/commit.ts",
    find: `case "busy":
      return outcome;`,
    replace: `case "busy":
      ${MARK};
      return done(world, plan);`,
  },
  {
    name: "unknown-repeated-blindly",
    without: "after an unknown outcome a writer reads, and writes again only under its version",
    scenario: "fork-join",
    file: "lib/engine/step/commit.ts",
    find: "return findOut(world, plan, own);",
    replace: `{
      ${MARK};
      const [there] = await world.store.get([plan.item.key]);
      const when = there ? { version: there.version } : "absent";
      const again = await world.store.commit([{ put: plan.item, when }, ...write.slice(1)]);
      return again.kind === "committed" ? done(world, plan) : "unwritten";
    }`,
  },
  {
    name: "giving-up-drops-what-is-owed",
    without: "a trigger that was delivered too often still owes what its step has opened",
    scenario: "dead-letters",
    file: "lib/engine/drive/receive.ts",
    find: "const asked = await openAttempt(world, message, invocation);",
    replace: `
    const { loadOrCreate } = await import("./creation.ts");
    const { openTask } = await import("../rows/open-tickets.ts");
    const found = await loadOrCreate(world, message.instanceId, message.start);
    if (found && openTask(found.instance, message.ticket)?.attempt !== message.attempt) {
      ${MARK};
      return "release";
    }
    const asked = await openAttempt(world, message, invocation);`,
  },
  {
    name: "given-up-without-failure",
    without: "a task that was delivered too often has failed, and that is reported",
    scenario: "dead-letters",
    file: "lib/engine/drive/receive.ts",
    find: "const failure = { message: UNDELIVERABLE };",
    replace: `${MARK}; return "release"; const failure = {};`,
  },
];
