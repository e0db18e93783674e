// Instances that are found by a business key and by tags; incidents that are resolved, and ended
// instances that are purged, in bulk, while everything else continues.
import type { Engine } from "../../../lib/engine/engine.ts";
import type { ResolveReport } from "../../../lib/shapes/bulk.ts";
import { aBoundaryTimer, anEnd, aStart, aTask, aTimer } from "../../support/graph-builder.ts";
import { maybeTaken, mustStart, start } from "../actors/callers.ts";
import { does, done } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Answer, Call, Caller, Desk, Scenario } from "./scenario.ts";
import { SPREAD_SCENARIOS } from "./spread.ts";

const KEYED = { businessKey: "k", tags: ["t", "u"] };

export const LISTING_SCENARIOS: readonly Scenario[] = [
  {
    name: "keyed",
    definitions: [
      graph("p", [aStart(), aTask("work"), anEnd()], ["start -> work -> end"]),
      // Its start owes nothing but a timer, so no message carries it.
      graph(
        "q",
        [aStart(), aTimer("pause", { duration: "PT10S" }), anEnd()],
        ["start -> pause -> end"],
      ),
    ],
    handlers: { work: does("work") },
    callers: () => [
      { name: "starter of one", calls: [start("p", { instanceId: "one", ...KEYED }, mustStart)] },
      {
        name: "starter of two",
        calls: [start("q", { instanceId: "two", ...KEYED }, mustStart), finds("two")],
      },
      lister(1),
      lister(2),
    ],
    confluent: true,
  },
  {
    name: "bulk-resolve",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("broken"),
          aBoundaryTimer("late", { on: "broken", duration: "PT5M" }),
          aTask("hopeless"),
          anEnd(),
          anEnd("end2"),
        ],
        ["start -> broken -> hopeless -> end", "late -> end2"],
      ),
    ],
    handlers: {
      broken: {
        outcome: (_, { mended }) =>
          mended ? done({ broken: "mended" }) : { kind: "failed", message: "no", retries: 0 },
      },
      hopeless: { outcome: () => ({ kind: "failed", message: "never", retries: 0 }) },
    },
    callers: () => [
      ...["one", "two", "three"].map(
        (instanceId): Caller => ({
          name: `starter of ${instanceId}`,
          calls: [start("p", { instanceId, tags: ["all"] }, mustStart)],
        }),
      ),
      operator(1),
      operator(2),
      onlyBroken("one", "two", "three"),
    ],
    mayStandStill: true,
  },
  {
    name: "purge",
    definitions: [graph("p", [aStart(), aTask("work"), anEnd()], ["start -> work -> end"])],
    handlers: {
      work: { outcome: () => done({ large: "value ".repeat(200) }) },
    },
    settings: { wholeBytes: 300, blobBytes: 800 },
    callers: () => [
      {
        name: "starter of one",
        calls: [start("p", { instanceId: "one", ...KEYED }, maybeTaken), purges("one")],
      },
      { name: "other", calls: [purges("one")] },
    ],
    confluent: true,
  },
  ...SPREAD_SCENARIOS,
];

/** An acknowledged start can be found at once. */
function finds(instanceId: string): Call {
  return {
    name: "find",
    make: async ({ engine }) => {
      const { items } = await engine.list({ businessKey: KEYED.businessKey }, { limit: 10 });
      const isThere = items.some((item) => item.instanceId === instanceId);
      return { kind: "done", note: isThere ? "found" : "missing" };
    },
    judge: (answer) =>
      answer.kind === "done" && answer.note === "found"
        ? undefined
        : `${instanceId} was started and not found: ${JSON.stringify(answer)}`,
  };
}

/** Lists repeatedly, and so removes rows that point to nothing. */
function lister(number: number): Caller {
  const list = (engine: Engine) =>
    engine.list(number === 1 ? { businessKey: "k" } : { tag: "t" }, { limit: 10 });
  const call: Call = {
    name: "list",
    make: async ({ engine }) => {
      await list(engine);
      return { kind: "done" };
    },
  };
  return { name: `lister ${number}`, calls: Array.from({ length: 6 }, () => call) };
}

/** Resolves, repeatedly, every incident of the one element that can be fixed. */
function operator(number: number): Caller {
  const request = { variables: { mended: true }, retries: 1 };
  const call: Call = {
    name: "resolve all",
    make: async (desk) => {
      bringsAll(desk, request);
      const filter = { element: "broken", ...(number === 2 && { tag: "all" }) };
      const report = await desk.engine.resolveIncidents({ filter, dryRun: false, ...request });
      return { kind: "done", note: sumOf(report) };
    },
    judge: (answer) =>
      answer.kind === "done" && answer.note !== "adds up"
        ? `the report is ${answer.note}`
        : undefined,
  };
  const calls = Array.from({ length: 8 }, (_, n): Call => ({ ...call, atMs: n * 2_000 }));
  return { name: `operator ${number}`, calls };
}

function sumOf({ matched, resolved, gone, refused, items }: ResolveReport): string {
  const isRight = matched === items.length && matched === resolved + gone + refused;
  return isRight ? "adds up" : JSON.stringify({ matched, resolved, gone, refused });
}

/** Any incident that exists by then: which one is not known before. */
function bringsAll({ brings }: Desk, request: Readonly<{ variables: { mended: boolean } }>): void {
  for (const instanceId of ["one", "two", "three"]) {
    for (let version = 1; version <= 30; version++) {
      for (const n of [1, 2]) {
        const ticket = `i${version}.${n}`;
        brings(instanceId, { kind: "incident-resolved", ticket, ...request });
      }
    }
  }
}

/** The incidents of the other element were not selected: they are still there. */
function onlyBroken(...instanceIds: readonly string[]): Caller {
  return {
    name: "auditor",
    calls: instanceIds.map(
      (instanceId): Call => ({
        name: `audit ${instanceId}`,
        atMs: 3_600_000,
        make: async ({ engine, committedEntries }) => {
          if (committedEntries(instanceId) === 0) return "again later";
          const { items } = await engine.history(instanceId, { limit: 200 });
          const wrong = items.filter(
            ({ type, element }) => type === "incident-resolved" && element !== "broken",
          );
          return { kind: "done", note: wrong.length === 0 ? "right" : JSON.stringify(wrong) };
        },
        judge: (answer) =>
          answer.kind === "done" && answer.note !== "right"
            ? `an incident was resolved that was not selected: ${answer.note}`
            : undefined,
      }),
    ),
  };
}

/** Purges by key until it is gone for good. */
function purges(instanceId: string): Call {
  return {
    name: "purge",
    make: async ({ engine, committedEntries }): Promise<Answer | "again later"> => {
      if (committedEntries(instanceId) === 0) return "again later";
      const { purged, gone } = await engine.purge({ dryRun: false, filter: { definition: "p" } });
      const left = await engine.list({ businessKey: "k" }, { limit: 10 });
      const isOver = purged + gone > 0 || (left.items.length === 0 && !(await isThere(engine)));
      return isOver ? { kind: "done" } : "again later";
    },
  };
}

async function isThere(engine: Engine): Promise<boolean> {
  const { items } = await engine.list({}, { limit: 10 });
  const { matched } = await engine.purge({});
  return items.length > 0 || matched > 0;
}
