/**
 * The same as every-kind.ts for the additions of format 4: user tasks, tasks under a worker's lock,
 * children, half finished batches, exclusive items, and timer starts.
 */
import { variablesIn } from "../../lib/definition/json.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { TaskHandler } from "../../lib/ports/tasks.ts";
import {
  assignment,
  end,
  extensions,
  file,
  flow,
  job,
  loop,
  person,
  process,
  sequence,
  start,
  timer,
  xml,
} from "./bpmn-xml.ts";
import { GUARD } from "./every-wait.ts";
import type { PlainWorld } from "./plain-world.ts";

/** Ids of the instances, each named after what it waits for. */
export const NEWER = {
  person: "at-person",
  shared: "at-shared",
  locked: "at-locked",
  call: "at-call",
  family: "at-family",
  sealed: "at-sealed",
  large: "with-large-value",
} as const;

export const MEMBERS = 12;

/** Long enough to be externalized. */
export const LARGE = "0123456789".repeat(8_000);

/** Exclusive items are claimed; the last one fails until a variable is set. */
export const HANDLERS: Readonly<Record<string, TaskHandler>> = {
  guard: GUARD,
  seal: {
    timeoutMs: 1_000,
    isolate: false,
    exclusive: true,
    run: async (input) => {
      const { item, mended } = variablesIn(input);
      return item === MEMBERS && mended !== true
        ? { kind: "failed", message: "the seal is broken", retries: 0 }
        : { kind: "completed", variables: { done: `sealed ${item}` } };
    },
  },
};

/** Leaves an item of each of the newer kinds in the world's store. */
export async function storeNewerKinds({ engine, drain }: PlainWorld): Promise<void> {
  for (const [id, source] of SOURCES) {
    await engine.deploy({ notation: "bpmn", source: source.replace('id="p"', `id="${id}"`) });
  }
  await engine.start("approving", { instanceId: NEWER.person, variables: { boss: "dora" } });
  await engine.start("sharing", { instanceId: NEWER.shared });
  await engine.start("carrying", { instanceId: NEWER.locked });
  await engine.start("calling", { instanceId: NEWER.call, variables: { n: 7 } });
  await engine.start("packing", { instanceId: NEWER.family });
  await engine.start("sealing", { instanceId: NEWER.sealed });
  await engine.start("carrying", { instanceId: NEWER.large, variables: { large: LARGE } });
  await drain();
  await claimAndLock(engine);
  await doSomeMembers(engine);
  await drain();
}

async function claimAndLock(engine: Engine): Promise<void> {
  const { items } = await engine.tasks({ instanceId: NEWER.person }, { limit: 1 });
  await engine.claimTask(items[0]?.taskId ?? "", { user: "anna" });
  const lock = { type: "carry", max: 1, lockSeconds: 600, worker: "w" };
  await engine.activate(lock);
}

/** Three are done, and one has failed and waits for its second attempt under its own ticket. */
async function doSomeMembers(engine: Engine): Promise<void> {
  const { items } = await engine.tasks({ instanceId: NEWER.family }, { limit: 4 });
  const [failed, ...done] = items.map(({ taskId }) => taskId);
  for (const taskId of done) await engine.completeTask(taskId, { variables: { done: taskId } });
  await engine.failTask(failed ?? "", { message: "no box" });
}

const looped = (type: string): string =>
  sequence(
    xml(
      "serviceTask",
      { id: "each" },
      extensions(job(type)),
      loop({
        inputCollection: `=for n in 1..${MEMBERS} return n`,
        inputElement: "item",
        outputCollection: "results",
        outputElement: "=done",
      }),
    ),
  );

const SOURCES: readonly (readonly [string, string])[] = [
  [
    "approving",
    sequence(
      person(
        "approve",
        assignment({ candidateGroups: "sales", candidateUsers: "anna, bert" }),
        xml("zeebe:taskSchedule", { dueDate: "2030-01-31T10:00:00Z" }),
        xml("zeebe:priorityDefinition", { priority: "80" }),
        xml("zeebe:formDefinition", { formId: "leave" }),
      ),
    ),
  ],
  [
    "sharing",
    sequence(xml("userTask", { id: "approve" }, extensions(assignment({ assignee: "carl" })))),
  ],
  ["carrying", sequence(xml("serviceTask", { id: "carry" }, extensions(job("carry"))))],
  ["called", sequence(xml("serviceTask", { id: "pay" }, extensions(job("pay-child"))))],
  [
    "calling",
    sequence(
      xml(
        "callActivity",
        { id: "call" },
        extensions(xml("zeebe:calledElement", { processId: "called" })),
      ),
    ),
  ],
  ["packing", looped("pack")],
  ["sealing", looped("seal")],
  [
    "by-timer",
    file(
      process(
        start("start", timer("timeCycle", "R3/PT10M")),
        xml("serviceTask", { id: "tick" }, extensions(job("tick"))),
        end(),
        flow("a", "start", "tick"),
        flow("b", "tick", "end"),
      ),
    ),
  ],
];
