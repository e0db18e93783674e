// A definition whose listing gets more shards while its instances start, end and get new versions.
// What must hold is checked when everything rests: every instance is listed.
import type { Compiled } from "../../../lib/definition/definition.ts";
import { anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { mustStart, start } from "../actors/callers.ts";
import { deploys, talker } from "../actors/messaging.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Call, Caller, Scenario } from "./scenario.ts";

const version = (end: string): Compiled =>
  graph("p", [aStart(), aTask("work"), anEnd(end)], [`start -> work -> ${end}`]);

export const SPREAD_SCENARIOS: readonly Scenario[] = [
  {
    name: "spread",
    definitions: [version("end")],
    later: [version("end2")],
    handlers: { work: does("work") },
    callers: () => [
      ...[0, 1, 2].map(starters),
      { name: "operator", calls: [raises(2, 5), raises(8, 20), raises(8, 25)] },
      // Fewer are refused, and change nothing.
      { name: "miser", calls: [raises(4, 30)] },
      talker("deployer", deploys(version("end2"), { atMs: 30 })),
    ],
  },
];

function starters(number: number): Caller {
  const calls = [0, 1, 2, 3].map((n): Call => {
    const call = start("p", { instanceId: `i${number}-${n}` }, mustStart);
    return { ...call, atMs: n * 12 };
  });
  return { name: `starter ${number}`, calls };
}

function raises(shards: number, atMs: number): Call {
  return {
    name: `spread over ${shards}`,
    atMs,
    make: async ({ engine }) => {
      await engine.setListing("p", { shards });
      return { kind: "done" };
    },
    judge: (answer) =>
      answer.kind === "refused" && answer.code !== "definition/fewer-shards"
        ? answer.code
        : undefined,
  };
}
