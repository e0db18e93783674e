// Everything that queues and schedules held is lost at one moment, and a recovery goes through all
// live instances, page by page, while they continue. One of each kind of debt is open.
import {
  aFork,
  anEnd,
  aSignalCatch,
  aSignalThrow,
  aStart,
  aTask,
  aTimer,
} from "../../support/graph-builder.ts";
import { mustStart, start, starter } from "../actors/callers.ts";
import { signals, talker, waits } from "../actors/messaging.ts";
import { does, unlessMended } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Call, Caller, Scenario } from "./scenario.ts";

/** None ends before the loss: what an end owes is not recovered. */
const definitions = [
  graph(
    "p",
    [
      aStart(),
      aFork("fork"),
      aTask("work"),
      aTask("more"),
      aTask("last"),
      aSignalThrow("tell", "told"),
      aSignalCatch("wait", "news"),
      aFork("join"),
      aTimer("pause", { duration: "P1D" }),
      anEnd(),
    ],
    [
      "start -> fork -> work -> tell -> more -> last -> join -> pause -> end",
      "fork -> wait -> join",
    ],
  ),
  graph(
    "q",
    [
      aStart(),
      aFork("fork"),
      aSignalCatch("hear", "told"),
      aTask("fragile", { retries: "1" }),
      aFork("join"),
      aTimer("pause", { duration: "P1D" }),
      anEnd(),
    ],
    ["start -> fork -> hear -> join -> pause -> end", "fork -> fragile -> join"],
  ),
];

/** The loss at this moment; a run without faults is busy for a quarter of a second. */
export const restoredAt = (restoredAtMs: number, name = "restored"): Scenario => ({
  name,
  definitions,
  handlers: {
    work: does("work"),
    more: does("more"),
    last: does("last"),
    fragile: unlessMended("fragile"),
  },
  callers: () => [
    starter("q", "hears"),
    throwing("one"),
    throwing("two"),
    talker("speaker", signals("news", "n1", { when: waits("signal", "news", 2) })),
    mender("hears"),
    recoverer(),
  ],
  announces: true,
  endsOwe: true,
  restoredAtMs,
});

export const RESTORE_SCENARIOS: readonly Scenario[] = [
  restoredAt(90),
  restoredAt(160, "restored-later"),
  {
    name: "restored-timers",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aTimer("near", { duration: "PT10M" }),
          aTimer("far", { duration: "PT2H" }),
          anEnd(),
        ],
        ["start -> fork -> near -> end", "fork -> far -> end"],
      ),
      graph("q", [aStart(), aTimer("far", { duration: "P30D" }), anEnd()], ["start -> far -> end"]),
    ],
    handlers: {},
    callers: () => [starter("p", "one"), starter("p", "two"), starter("q", "three"), recoverer()],
    restoredAtMs: 60_000,
    troubles: ["timers", "jump"],
    punctual: true,
  },
  {
    name: "restored-waits",
    definitions: [
      graph(
        "p",
        [aStart(), aSignalCatch("wait", "news"), aTimer("pause", { duration: "P1D" }), anEnd()],
        ["start -> wait -> pause -> end"],
      ),
    ],
    handlers: {},
    callers: () => [
      ...everyMs(20, 100).map(waitingAt),
      ...everyMs(25, 100).map((atMs) =>
        talker(`speaker ${atMs}`, signals("news", `n${atMs}`, { atMs })),
      ),
      recoverer(),
    ],
    restoredAtMs: 110,
    endsOwe: true,
    mayWait: true,
  },
  {
    // Each has an incident that is resolved while a recovery looks for what else they owe.
    name: "restored-on-the-move",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aTask("slow"),
          aTask("fragile", { retries: "1" }),
          aFork("join"),
          anEnd(),
        ],
        ["start -> fork -> slow -> join -> end", "fork -> fragile -> join"],
      ),
    ],
    handlers: {
      slow: { ...does("slow"), takesMs: 60_000 },
      fragile: unlessMended("fragile"),
    },
    callers: () => [
      ...["one", "two", "three", "four", "five", "six"].flatMap((id) => [
        starter("p", id),
        afterLoss(mender(id)),
      ]),
      afterLoss(recoverer(10)),
    ],
    announces: true,
    restoredAtMs: 10_000,
    troubles: [],
  },
];

/** All of them at once, right after the loss. */
const afterLoss = ({ name, calls }: Caller): Caller => ({
  name,
  calls: calls.map((call) => ({ ...call, atMs: 10_001 })),
});

/** The thrower of a signal starts once an instance waits for it. */
function throwing(instanceId: string): Caller {
  const begin = start("p", { instanceId }, mustStart);
  const make: Call["make"] = async (desk) =>
    desk.committedEntries("hears") > 0 ? begin.make(desk) : "again later";
  return { name: `starter of ${instanceId}`, calls: [{ ...begin, make }] };
}

/** Resolves the one incident that is raised, and no more. */
function mender(instanceId: string): Caller {
  let hasMended = false;
  const make: Call["make"] = async ({ engine, brings, committedEntries }) => {
    if (committedEntries(instanceId) === 0) return "again later";
    const { incidents } = await engine.get(instanceId);
    for (const { incidentId: ticket } of incidents) {
      const request = { retries: 1, variables: { mended: true } };
      brings(instanceId, { kind: "incident-resolved", ticket, ...request });
      hasMended = true;
      await engine.resolveIncident(instanceId, ticket, request, `resolve-${ticket}`);
    }
    return hasMended && incidents.length === 0 ? { kind: "done" } : "again later";
  };
  return { name: `mender of ${instanceId}`, calls: [{ name: "mend", make }] };
}

/** Recovers everything that is live, an instance at a time, once the store was restored. */
export function recoverer(limit = 1): Caller {
  let cursor: string | undefined;
  let failed = 0;
  return {
    name: "recoverer",
    calls: [
      {
        name: "recover all",
        make: async ({ engine, restore }) => {
          if (restore.state() === "not yet") return "again later";
          const page = await engine.recoverAll({ limit, ...(cursor && { cursor }) });
          cursor = page.nextCursor;
          failed += page.failed;
          if (cursor !== undefined) return "again later";
          // What could not be sent is for the next round.
          if (failed > 0) {
            failed = 0;
            return "again later";
          }
          restore.over();
          return { kind: "done" };
        },
      },
    ],
  };
}

/**
 * Waits that open while signals are delivered: they find what they missed by a second read of the
 * head.
 */
function waitingAt(ms: number): Caller {
  const instanceId = `at-${ms}`;
  return {
    name: `starter of ${instanceId}`,
    calls: [{ ...start("p", { instanceId }, mustStart), atMs: ms }],
  };
}

const everyMs = (step: number, last: number): readonly number[] =>
  Array.from({ length: last / step }, (_, n) => n * step);
