// Processes with timer start events, while their definitions are changed or disabled.
import type { Compiled } from "../../../lib/definition/definition.ts";
import { anEnd, aTask, aTriggeredStart } from "../../support/graph-builder.ts";
import { deploys, talker, turns } from "../actors/messaging.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Scenario } from "./scenario.ts";

export const START_SCENARIOS: readonly Scenario[] = [
  {
    name: "timer-start",
    definitions: [starting("R3/PT30S", "a"), starting("R2/PT30S", "b", "other")],
    handlers: { a: does("a"), b: does("b") },
    callers: () => [talker("nobody", turns("other", "enable"))],
  },
  {
    name: "timer-start-far",
    definitions: [starting("R2/PT40M", "a")],
    handlers: { a: does("a") },
    callers: () => [talker("nobody", turns("d", "enable"))],
  },
  {
    name: "timer-start-undeployed",
    definitions: [starting("R3/PT30S", "a")],
    handlers: { a: does("a") },
    callers: () => [talker("undeployer", turns("d", "undeploy", { atMs: 30_002 }))],
  },
  {
    name: "timer-start-switched",
    definitions: [starting("R2/PT30S", "a")],
    handlers: { a: does("a") },
    callers: () => [
      talker(
        "switcher",
        turns("d", "disable", { atMs: 30_002 }),
        turns("d", "enable", { atMs: 31_000 }),
      ),
    ],
  },
  {
    name: "timer-start-redeployed",
    definitions: [starting("R3/PT30S", "a")],
    later: [starting("R2/PT20S", "b")],
    handlers: { a: does("a"), b: does("b") },
    callers: () => [
      talker("deployer", deploys(starting("R2/PT20S", "b"), { atMs: 30_002 })),
      talker("switcher", turns("d", "disable", { atMs: 50_002 })),
    ],
  },
];

function starting(cycle: string, task: string, id = "d"): Compiled {
  const definition = graph(
    id,
    [aTriggeredStart("begin"), aTask(task), anEnd()],
    [`begin -> ${task} -> end`],
  );
  const timer = { as: "cycle", value: { kind: "static", value: cycle } } as const;
  return { ...definition, startEvents: [{ element: "begin", kind: "timer", timer }] };
}
