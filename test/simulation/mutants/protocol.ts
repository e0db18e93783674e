// Rules of the step protocol, each left out by a patch of one place in the source. Nothing of this
// is in lib: a load hook applies the patch before the engine is imported. A patched line also says
// that it was reached; a mutant that no run reaches proves nothing.

import type { Mode } from "../world/mode.ts";

/** A change of one place of the source. */
type Patch = Readonly<{
  file: string;
  /** Must occur exactly once. */
  find: string;
  replace: string;
}>;

export type Mutant = Patch &
  Readonly<{
    name: string;
    /** The purpose of the rule. */
    without: string;
    /** The scenario that reaches it. */
    scenario: string;
    /**
     * A seed that is known to detect it, and is tried first; another may, when the world has changed.
     */
    seed?: number;
    /** The kind of queues; durable by default. */
    mode?: Mode;
    /** What must change elsewhere, too. */
    also?: Patch;
  }>;

/** Every place that a mutant changes. */
export const patchesOf = ({ also, ...patch }: Mutant): readonly Patch[] =>
  also ? [patch, also] : [patch];

/** Set by every mutant where it changes something. */
export const REACHED = "fermataMutantReached";

export const MARK = `globalThis.${REACHED} = true`;

/** Rules of every step. */
export const STEP: readonly Mutant[] = [
  {
    name: "no-trigger",
    without:
      "`by` on every entry: without it a redelivered trigger does not find what it still owes",
    scenario: "driven",
    file: "lib/engine/step/take.ts",
    find: "const lease = { trigger: name, ...owner };",
    replace: `${MARK}; const lease = { trigger: "", ...owner };`,
  },
  {
    name: "trigger-is-predecessor",
    without: "`by` names the trigger: only the trigger is redelivered, not the previous step",
    scenario: "driven",
    file: "lib/engine/drive/report.ts",
    find: "want: { name: trigger, fact },",
    replace: `want: { name: (position.step > 1 && (${MARK}), parked.name), fact },`,
  },
  {
    name: "no-take-over",
    without:
      "a redelivery takes over before it sends: a slow driver continues under a deleted trigger",
    scenario: "driven",
    file: "lib/engine/step/redelivery.ts",
    find: "if (others.length === 0 || waitMs > 0) return instance;",
    replace: `if (others.length > 0 && waitMs === 0) ${MARK}; return instance;`,
  },
  {
    name: "held-task-sent-again",
    without: "a redelivery leaves alone what a queue of its process holds",
    scenario: "timer-together",
    mode: "memory",
    file: "lib/engine/step/owed.ts",
    find: "tickets: tickets.filter((ticket) => !isHeld(world, instance, ticket)), outbox };",
    replace: `tickets: tickets.filter((ticket) => !isHeld(world, instance, ticket) || (${MARK}, true)), outbox };`,
  },
  {
    name: "driver-ignores-owner",
    without: "a driver stops at another owner's lease",
    scenario: "driven",
    file: "lib/engine/drive/report.ts",
    find: "return open === undefined || open.lease?.owner === id;",
    replace: `if (open !== undefined && open.lease?.owner !== id) ${MARK}; return true;`,
  },
  {
    name: "redelivery-continues-in-place",
    without: "a redelivery only sends: the first owner may delete the trigger that both share",
    scenario: "isolated",
    seed: 448,
    file: "lib/engine/drive/drive.ts",
    find: "const asked = await openAttempt(world, message, invocation);",
    replace: `
    const name = attemptName(message.ticket, message.attempt);
    const found = await loadOrCreate(world, message.instanceId, message.start);
    const isGone =
      found !== undefined && !hasLost(found.instance, message.start) && openTask(found.instance, message.ticket)?.attempt !== message.attempt;
    const heir = !isGone ? undefined : found.instance.tickets.find((t) => t.lease?.trigger === name && runsHere(world, t));
    if (heir?.lease && heir.lease.expiresAt <= world.clock.now()) {
      const { planWrite } = await import("../step/plan.ts");
      const { commit } = await import("../step/commit.ts");
      const lease = { trigger: name, owner: invocation.id, expiresAt: invocation.until };
      const tickets = found.instance.tickets.map((t) => (t.id === heir.id ? { ...t, lease } : t));
      const put = planWrite(world, found.program, found.instance, { ...found.instance, tickets });
      const taken = await commit(world, put, invocation.id);
      if (taken.kind !== "committed") return { keepForMs: 100 };
      ${MARK};
      const task = taken.image.instance.tickets.find(({ id }) => id === heir.id);
      return driveFrom({ world, trigger: name, invocation }, { image: taken.image, task, sent: new Set(), step: 2 });
    }
    const asked = await openAttempt(world, message, invocation);`,
  },
  {
    name: "parked-fact-parked-again",
    without: "a parked fact is never parked again: a queue that deduplicates would drop it",
    scenario: "wide-swallowing",
    file: "lib/engine/drive/advance.ts",
    find: 'if (result === "contended") return messages.map(() => ({ keepForMs: CONTENDED_MS }));',
    replace: `if (result === "contended") {
      ${MARK};
      for (const message of messages) await world.parking.park(message);
      return messages.map(() => "release");
    }`,
  },
  {
    name: "trigger-deleted-before-dispatch",
    without: "the trigger is deleted last: what is owed was sent before",
    scenario: "fork-join",
    file: "lib/engine/drive/drive.ts",
    find: "const sent = await afterCommit(world, ran, { keep: next });",
    replace: `const dispatched = afterCommit(world, ran, { keep: next });
    if (next === undefined) ${MARK};
    const sent = next === undefined ? new Set() : await dispatched;`,
  },
  {
    name: "anothers-record-dropped",
    without: "only the sender of a record drops it",
    scenario: "incident",
    file: "lib/engine/step/redelivery.ts",
    find: "const outbox = instance.outbox.filter(({ id }) => !sent.has(id));",
    replace: `${MARK}; const outbox = [];`,
  },
  {
    name: "partial-write",
    without: "S is always written as a whole",
    scenario: "fork-join",
    file: "lib/engine/step/plan.ts",
    find: "const grown = { ...after, version, minted: 0 };",
    replace: `${MARK}; const grown = { ...after, completed: before.completed, version, minted: 0 };`,
  },
  {
    name: "chunk-after-commit",
    without: "a chunk is stored before the commit that drops its entries",
    scenario: "long",
    file: "lib/engine/step/commit.ts",
    find: "if (plan.chunk && !(await tryPutHint(world, plan.chunk))) return BUSY;",
    replace: `if (plan.chunk) {
      ${MARK};
      const done = await put(world, plan, write, own);
      await tryPutHint(world, plan.chunk);
      return done;
    }`,
  },
  {
    name: "chunks-read-before-instance",
    without: "readers read the instance first, then its chunks",
    scenario: "long",
    file: "lib/engine/instances/history.ts",
    find: "if (bySeq.size < count) add(inside, next - inside.length);",
    replace: `${MARK};
  const later = (await getInstance(world, instance.id)).instance;
  add(later.trail.entries, next - inside.length);`,
  },
  {
    name: "no-recent-requests",
    without: "an instance remembers its recent requests",
    scenario: "request",
    file: "lib/engine/step/take.ts",
    find: "const remembered = remember ? addToRing(",
    replace: `if (remember) ${MARK}; const remembered = remember && false ? addToRing(`,
  },
  {
    name: "carried-start-without-hash",
    without: "a start that finds the instance of another start ignores it",
    scenario: "same-id",
    file: "lib/engine/drive/creation.ts",
    find: "return start !== undefined && !isMadeBy(instance, start);",
    replace: `if (start && !isMadeBy(instance, start)) ${MARK}; return false;`,
  },
  {
    name: "claim-without-lease",
    without: "an exclusive task has an unknown outcome only after the lease of its run has expired",
    scenario: "exclusive",
    file: "lib/engine/drive/claim.ts",
    find: "const forMs = claimLeftMs(world, task);",
    replace: `if (claimLeftMs(world, task) > 0) ${MARK}; const forMs = 0;`,
  },
  {
    name: "timer-fired-early",
    without: "no timer fires before its instant",
    scenario: "task-timer",
    file: "lib/kernel/decide.ts",
    find: ": boolean => now >= dueAt;",
    replace: `: boolean => (now < dueAt && now >= dueAt - 2_000 && (${MARK}), now >= dueAt - 2_000);`,
  },
  {
    name: "ticket-consumed-twice",
    without: "after a conflict a step is decided again, from the winning image",
    scenario: "fork-join",
    file: "lib/engine/step/commit-with-retry.ts",
    find: `return { kind: "overtaken" };
    image = outcome.current;`,
    replace: `return { kind: "overtaken" };
    ${MARK};
    const { version } = outcome.current.instance;
    image = { ...image, instance: { ...image.instance, version } };`,
  },
];
