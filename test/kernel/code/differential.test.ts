// Random programs with random outcomes, decided three ways: by live sessions, by replay alone, and by
// sessions that are lost at random points. All must decide the same, to the byte. More programs:
// FERMATA_LONG=1 (10,000).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { itemsOf } from "../../../lib/kernel/batch.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { Ticket } from "../../../lib/kernel/instance.ts";
import type { Program, Runner } from "../../../lib/kernel/runner.ts";
import { NO_ROOM } from "../../support/code-play.ts";
import { aCode } from "../../support/code-workflow.ts";
import { anEvent, type Play, play } from "../../support/play.ts";

const IS_LONG = process.env.FERMATA_LONG === "1";
const RUNS = IS_LONG ? 10_000 : 100;
const TIMEOUT_MS = IS_LONG ? 1_800_000 : 180_000;
/** Outcomes of one program; what is open then is cancelled. */
const LONGEST = 40;

/**
 * One workflow that runs any program: the program is its input. What it remembers of every step, it
 * shows in the inputs of its tasks: they differ as soon as a replay has seen something else.
 */
const INTERPRETER = `
  let memory = 0;
  const remember = () => {
    memory = (memory * 31 + (Date.now() % 86_400_000) + Math.floor(Math.random() * 1e6)) % 1_000_003;
  };
  const run = async (node) => {
    try { return await runOne(node); } finally { remember(); }
  };
  const runOne = async (node) => {
    switch (node.op) {
      case "task": return task("t" + node.n, { n: node.n, memory }, node.options);
      case "delay": return (await delay(node.n + "s")).dueAt;
      case "event": return event("e" + node.n);
      case "signal": return signal("s" + node.n);
      case "message": return message("m" + node.n, "k");
      case "chance": return [Date.now(), Math.random(), uuid(), new Date().toISOString()];
      case "publish": publishSignal("p" + node.n, { n: node.n }); return null;
      case "throw": throw Object.assign(new Error("thrown " + node.n), { code: "T" + node.n });
      case "forget": run(node.of[0]).catch(() => {}); return "forgotten";
      case "seq": { const out = []; for (const part of node.of) out.push(await run(part)); return out; }
      case "try": try { return await run(node.of[0]); } catch (error) { return [error.name, error.code ?? null, await run(node.of[1])]; }
      case "all": return all(scope(() => node.of.map(run)), { onFailure: node.n % 2 ? "leave" : "cancel" });
      case "any": return any(scope(() => node.of.map(run)));
      case "race": return race(Object.fromEntries(node.of.map((part, at) => ["k" + at, scope(() => run(part))])));
      case "late": { const first = run(node.of[0]); const second = await run(node.of[1]); return [await first, second]; }
      case "native": return (await Promise.allSettled(node.of.map(run))).map(({ status }) => status);
      case "wide": return all(Array.from({ length: 12 }, (_, n) => task("wide", { n, memory })));
    }
  };
  return [await run(input.program), memory];`;

type Node = Readonly<{ op: string; n: number; of?: readonly Node[]; options?: object }>;

const number = fc.integer({ min: 1, max: 4 });
const options = fc.oneof(
  fc.constant(undefined),
  fc.constant({ retry: { maxAttempts: 1 } }),
  fc.constant({ retry: { maxAttempts: 3, backoff: "PT1S", jitter: 0.5 }, timeout: "20s" }),
);
/** Half of what a node is made of are nodes with parts, or most programs would end at once. */
const { many: program } = fc.letrec<{ node: Node; many: Node }>((tie) => {
  const leaf = fc.record({
    op: fc.constantFrom(
      "delay",
      "event",
      "signal",
      "message",
      "chance",
      "publish",
      "throw",
      "wide",
    ),
    n: number,
  });
  const task = fc
    .record({ op: fc.constant("task"), n: number, options })
    .map(({ options: given, ...it }) => (given ? { ...it, options: given } : it));
  const many = fc.record({
    op: fc.constantFrom("seq", "seq", "all", "any", "race", "native"),
    n: number,
    of: fc.array(tie("node"), { minLength: 2, maxLength: 4, size: "max" }),
  });
  const two = fc.record({
    op: fc.constantFrom("try", "late"),
    n: number,
    of: fc.tuple(tie("node"), tie("node")),
  });
  const one = fc.record({ op: fc.constant("forget"), n: number, of: fc.tuple(tie("node")) });
  const parts = { arbitrary: many, weight: 3 };
  return { node: fc.oneof({ maxDepth: 4, depthSize: "max" }, task, leaf, parts, two, one), many };
});

describe("D2: a random program", () => {
  test("decides the same with sessions, by replay alone, and when sessions are lost", {
    timeout: TIMEOUT_MS,
  }, async () => {
    let facts = 0;

    await fc.assert(
      fc.asyncProperty(program, fc.integer(), async (given, seed) => {
        const chance = chanceFrom(seed);
        const sticky = await begin(aCode(INTERPRETER), given);
        const others = [
          await begin(aCode(INTERPRETER, NO_ROOM), given),
          await begin(forgetful(chanceFrom(seed + 1)), given),
        ];
        for (let step = 0; step < LONGEST && sticky.status === "live"; step++) {
          // A plan that loses its commit has moved its session.
          const lost = chance() < 0.2 ? nextFact(sticky, chance, step + LONGEST) : undefined;
          const fact = nextFact(sticky, chance, step);
          if (fact === undefined) break;
          for (const run of [sticky, ...others]) {
            run.now = sticky.now;
            if (lost) await run.decide(lost);
            await run.deliver(fact);
          }
          for (const run of others) expect(textOf(run)).toBe(textOf(sticky));
          facts += 1;
        }
      }),
      // The short form is the same every time; the long one looks for more.
      { numRuns: RUNS, ...(IS_LONG ? {} : { seed: 13 }) },
    );

    // A program that ends at once shows nothing.
    expect(facts).toBeGreaterThan(RUNS * 5);
  });
});

const begin = (program: Program, of: Node): Promise<Play> =>
  play(program, { variables: { program: JSON.parse(JSON.stringify(of)) } });

const textOf = ({ instance }: Play): string => JSON.stringify(instance);

/** Numbers from 0 up to 1, the same for the same seed. */
function chanceFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A program that loses all its sessions now and then. */
function forgetful(chance: () => number): Program {
  let { definition, runner } = aCode(INTERPRETER);
  const current = (): Runner => {
    if (chance() < 0.3) ({ definition, runner } = aCode(INTERPRETER));
    return runner;
  };
  return {
    definition,
    runner: {
      ...runner,
      start: (draft, input) => current().start(draft, input),
      resume: (draft, fact, ticket) => current().resume(draft, fact, ticket),
      terminate: (draft) => runner.terminate(draft),
    },
  };
}

/** An outcome for one of the open tickets, or an event that nothing may wait for. */
function nextFact(run: Play, chance: () => number, step: number): Fact | undefined {
  run.now += Math.floor(chance() * 3_000);
  if (chance() < 0.1)
    return { kind: "event-sent", event: anEvent(`e${1 + (step % 4)}`, { id: `x${step}` }) };
  const { tickets } = run.instance;
  const open = tickets.flatMap((it): readonly Ticket[] =>
    it.on === "family" ? itemsOf(it) : [it],
  );
  const ticket = open[Math.floor(chance() * open.length)];
  return ticket && outcomeOf(run, ticket, chance, step);
}

function outcomeOf(run: Play, ticket: Ticket, chance: () => number, step: number): Fact {
  const { id } = ticket;
  switch (ticket.on) {
    case "timer":
      run.now = Math.max(run.now, ticket.dueAt);
      return { kind: "timer-due", ticket: id };
    case "signal":
      return {
        kind: "signal-received",
        ticket: id,
        broadcastId: `b${step}`,
        seq: step,
        payload: { step },
      };
    case "message":
      return { kind: "message-received", ticket: id, messageId: `m${step}`, payload: { step } };
    case "event":
      return { kind: "event-sent", event: anEvent(ticket.name, { id: `e${step}`, payload: step }) };
    case "incident":
      return { kind: "incident-resolved", ticket: id };
    case "task": {
      if (chance() < 0.7)
        return { kind: "task-completed", ticket: id, variables: {}, result: [step] };
      const failed = {
        kind: "task-failed",
        ticket: id,
        attempt: ticket.attempt,
        message: "broke",
      } as const;
      return ticket.member !== undefined || chance() < 0.5
        ? { ...failed, code: "BROKEN", retries: 0 }
        : failed;
    }
    case "family":
    case "child":
    case "continuation":
      return { kind: "cancel-requested" };
  }
}
