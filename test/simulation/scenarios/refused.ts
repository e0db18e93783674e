// Calls that meet a full disk, and racing copies of one start.
import { EngineError } from "../../../lib/ports/engine-error.ts";
import { anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { mustStart, start } from "../actors/callers.ts";
import { deploys, talker } from "../actors/messaging.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Answer, Call, Caller, Desk, Scenario } from "./scenario.ts";

const NAMES = ["one", "two", "three"];

export const REFUSED_SCENARIOS: readonly Scenario[] = [
  {
    name: "refused",
    definitions: [
      graph(
        "p",
        [aStart(), aTask("a"), aTask("ask"), aTask("b"), anEnd()],
        ["start -> a -> ask -> b -> end"],
      ),
    ],
    handlers: { a: does("a"), b: does("b") },
    callers: () => NAMES.map(askedOnce),
    troubles: ["full"],
    runsOnceInLife: true,
    leavesTasks: true,
  },
  {
    name: "doubled-start",
    definitions: [short("a")],
    later: [short("b")],
    handlers: { a: does("a"), b: does("b") },
    callers: () => [
      ...["first", "second"].map((name) =>
        talker(name, ...NAMES.map((instanceId) => start("p", { instanceId }, mustStart))),
      ),
      talker("deployer", deploys(short("b"))),
    ],
    troubles: ["crash"],
    isTimeless: true,
    runsOnceInLife: true,
  },
];

function short(task: string) {
  return graph("p", [aStart(), aTask(task), anEnd()], [`start -> ${task} -> end`]);
}

/** Starts an instance and completes its task; a definite refusal is never repeated. */
function askedOnce(instanceId: string): Caller {
  const begin = once({
    make: async ({ engine, brings }) => {
      brings(instanceId, { kind: "started", input: { variables: {} } });
      await engine.start("p", { instanceId });
      return undefined;
    },
    onRefused: ({ never }) => never(instanceId),
  });
  let ticket: string | undefined;
  const complete = once({
    make: async ({ engine, brings }) => {
      const { items } = await engine.tasks({ type: "ask" }, { limit: 10 });
      ticket ??= items
        .find((task) => task.instanceId === instanceId)
        ?.taskId.split(".")
        .slice(1)
        .join(".");
      if (ticket === undefined) return "again later";
      brings(instanceId, { kind: "task-completed", ticket, variables: {} });
      await engine.completeTask(`${instanceId}.${ticket}`, {}, `complete ${instanceId}`);
      return undefined;
    },
    onRefused: ({ never }) => never(instanceId, ticket),
  });
  let isBegun = false;
  const calls: readonly Call[] = [
    {
      name: "begin",
      make: async (desk) => {
        const answer = await begin(desk);
        isBegun = answer !== "again later" && answer.kind === "done";
        return answer;
      },
    },
    { name: "complete", make: async (desk) => (isBegun ? complete(desk) : { kind: "done" }) },
  ];
  return { name: `caller of ${instanceId}`, calls };
}

type Once = Readonly<{
  make: (desk: Desk) => Promise<"again later" | undefined>;
  onRefused: (desk: Desk) => void;
}>;

/** Repeats a call while its outcome is unknown. A crashed call does not know its outcome either. */
function once({ make, onRefused }: Once): (desk: Desk) => Promise<Answer | "again later"> {
  let mayHappen = false;
  return async (desk) => {
    const wasSure = !mayHappen;
    mayHappen = true;
    try {
      if ((await make(desk)) !== "again later") return { kind: "done" };
      mayHappen = !wasSure;
      return "again later";
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "store/disk-full") throw error;
      if (!wasSure) return "again later";
      onRefused(desk);
      return { kind: "refused", code: error.code };
    }
  };
}
