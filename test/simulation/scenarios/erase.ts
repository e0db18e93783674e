// Instances that are erased as soon as they have ended, while their end still owes something.
import { EngineError } from "../../../lib/ports/engine-error.ts";
import { anEnd, aSignalCatch, aSignalEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { maybeTaken, start, starter } from "../actors/callers.ts";
import { declares, talker, tells, waits } from "../actors/messaging.ts";
import { done } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Answer, Call, Caller, Scenario } from "./scenario.ts";

/** Several, so that values and history are moved out of the instance. */
const NAMES = Array.from({ length: 14 }, (_, n) => `an-element-with-a-long-name-${n}`);

const definitions = [
  graph(
    "p",
    [
      aStart(),
      ...NAMES.map((id) => aTask(id, { type: "work" })),
      aTask("approve"),
      aSignalEnd("end", "over"),
    ],
    [`start -> ${NAMES.join(" -> ")} -> approve -> end`],
  ),
  graph("q", [aStart(), aSignalCatch("wait", "over"), anEnd()], ["start -> wait -> end"]),
];

/** Its first value is externalized, and the second is a blob. */
const work = {
  outcome: ({ element }: { element: string }) => {
    const length = { [`${NAMES[0]}`]: 600, [`${NAMES[1]}`]: 900 }[element] ?? 60;
    return done({ [`by-${element}`]: `${element} `.repeat(length).slice(0, length) });
  },
};

/** Its end throws a signal that another waits for, and leaves an unread event. */
const about: Omit<Scenario, "name" | "callers"> = {
  definitions,
  handlers: { work },
  settings: { wholeBytes: 300, blobBytes: 800 },
  announces: true,
  endsOwe: true,
  confluent: true,
};

export const ERASE_SCENARIOS: readonly Scenario[] = [
  {
    ...about,
    name: "erase",
    callers: () => [...closed(erases("one"), erases("one")), talker("other eraser", erases("one"))],
  },
];

/** The same, without the erasure. */
export const UNERASED: Scenario = { ...about, name: "unerased", callers: () => closed() };

function closed(...afterwards: readonly Call[]): readonly Caller[] {
  return [
    starter("q", "two"),
    // A repeated start after a lost response may find the id erased.
    { name: "starter of one", calls: [start("p", { instanceId: "one" }, maybeTaken)] },
    talker(
      "closer",
      declares("news", { onTargetTerminated: "deadLetter" }),
      tells("one", "news", "e1"),
      closes("approve"),
      ...afterwards,
    ),
  ];
}

/** Completes the last task, so that the call itself ends the instance. */
function closes(type: string): Call {
  let taskId = "";
  return {
    name: "close",
    make: async (desk) => {
      if (!waits("signal", "over", 1)(desk) && taskId === "") return "again later";
      const { items } = await desk.engine.tasks({ type }, { limit: 10 });
      taskId ||= items[0]?.taskId ?? "";
      if (taskId === "") return "again later";
      const [instanceId = "", ...ticket] = taskId.split(".");
      const variables = { ok: true };
      desk.brings(instanceId, { kind: "task-completed", ticket: ticket.join("."), variables });
      await desk.engine.completeTask(taskId, { variables }, "close");
      return { kind: "done" };
    },
    // A repeat after a lost response may find it erased.
    judge: (answer) => (isRefused(answer, "task/not-found") ? undefined : mustBeDone(answer)),
  };
}

/** Erases an instance as soon as it has ended. */
function erases(instanceId: string): Call {
  return {
    name: "erase",
    make: async ({ engine, committedEntries }) => {
      if (committedEntries(instanceId) === 0) return "again later";
      try {
        await engine.erase(instanceId);
      } catch (error) {
        if (error instanceof EngineError && error.code === "instance/not-ended") {
          return "again later";
        }
        throw error;
      }
      return { kind: "done" };
    },
    judge: mustBeDone,
  };
}

const isRefused = (answer: Answer, code: string): boolean =>
  answer.kind === "refused" && answer.code === code;

const mustBeDone = (answer: Answer): string | undefined =>
  answer.kind === "done" ? undefined : `it was answered ${JSON.stringify(answer)}`;
