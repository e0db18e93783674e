/**
 * The same as every-newer-kind.ts for waits of format 4 that no other file covers: a batch of
 * calls, a long step that continues later, waits that stay open, a race, a task that backs off, a
 * claimed exclusive task, and an incident that keeps its fact.
 */
import type { TaskHandler } from "../../lib/ports/tasks.ts";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  loop,
  onMessage,
  onSignal,
  process,
  race,
  sequence,
  start,
  timer,
  xml,
} from "./bpmn-xml.ts";
import { event, message, type Workflow } from "./generator-runner.ts";
import type { PlainWorld } from "./plain-world.ts";

/** Ids of the instances, each named after what it waits for. */
export const ALSO = {
  callFamily: "at-call-family",
  continuation: "at-continuation",
  staying: "at-cycle-and-message",
  race: "at-race",
  backoff: "at-backoff",
  claimed: "at-claimed",
  keptFact: "at-kept-fact",
} as const;

export const CALLS = 12;

/** Rounds of a loop without a wait: more than one step makes. */
export const ROUNDS = 600;

/** The host of the first run crashes during the task; its outcome is unknown. */
export const GUARD: TaskHandler = {
  timeoutMs: 1_000,
  isolate: false,
  exclusive: true,
  run: async () => {
    throw new Error("the host died");
  },
};

/** Two of these wait for the same message: the second wait is an incident, which keeps its fact. */
export const KEEPER: Workflow = function* () {
  yield event("go");
  return yield message("held", "k");
};

/** Leaves an instance at each of these waits in the world's store. */
export async function storeOtherWaits(world: PlainWorld): Promise<void> {
  const { engine, drain, queued } = world;
  for (const [id, source] of SOURCES) {
    await engine.deploy({ notation: "bpmn", source: source.replace('id="p"', `id="${id}"`) });
  }
  await engine.deploy({ notation: "code", source: "keeper" });
  await engine.start("calling-many", { instanceId: ALSO.callFamily });
  await engine.start("reminding", { instanceId: ALSO.staying });
  await engine.start("racing", { instanceId: ALSO.race });
  await engine.start("retrying", { instanceId: ALSO.backoff });
  await engine.start("keeper", { instanceId: "holds-the-pair" });
  await engine.start("keeper", { instanceId: ALSO.keptFact });
  await drain();
  for (const target of ["holds-the-pair", ALSO.keptFact]) {
    await engine.event({ name: "go", target, id: `go-${target}` });
  }
  await backOff(world);
  await drain();
  await engine.start("guarding", { instanceId: ALSO.claimed });
  await drain().catch(() => {});
  // The queues are lost with the host.
  await engine.start("rounds", { instanceId: ALSO.continuation, variables: { n: 0 } });
  queued.length = 0;
}

async function backOff({ engine }: PlainWorld): Promise<void> {
  const { items } = await engine.tasks({ instanceId: ALSO.backoff }, { limit: 1 });
  await engine.failTask(items[0]?.taskId ?? "", { message: "not now", retryAfter: "PT1H" });
}

const task = (id: string, type: string) => xml("serviceTask", { id }, extensions(job(type)));

const SOURCES: readonly (readonly [string, string])[] = [
  ["called-by-many", sequence(task("weigh", "weigh-child"))],
  [
    "calling-many",
    sequence(
      xml(
        "callActivity",
        { id: "each" },
        extensions(xml("zeebe:calledElement", { processId: "called-by-many" })),
        loop({ inputCollection: `=for n in 1..${CALLS} return n`, inputElement: "item" }),
      ),
    ),
  ],
  [
    "reminding",
    beside(
      file(
        process(
          start(),
          task("answer", "answer"),
          end(),
          boundary("again", "answer", timer("timeCycle", "R3/PT10M"), { cancelActivity: "false" }),
          boundary("question", "answer", onMessage("asked"), { cancelActivity: "false" }),
          end("reminded"),
          flow("a", "start", "answer"),
          flow("b", "answer", "end"),
          flow("c", "again", "reminded"),
          flow("d", "question", "reminded"),
        ),
      ),
      aMessage("asked", { key: '="case-1"' }),
    ),
  ],
  [
    "racing",
    beside(
      file(
        process(
          start(),
          race(
            "first",
            catching("late", timer("timeDuration", "PT1H")),
            catching("won", onSignal("finish")),
          ),
          flow("a", "start", "first"),
        ),
      ),
      aSignal("finish"),
    ),
  ],
  ["retrying", sequence(task("knock", "knock"))],
  ["guarding", sequence(task("guard", "guard"))],
  [
    "rounds",
    file(
      process(
        start(),
        xml("exclusiveGateway", { id: "again" }),
        xml(
          "scriptTask",
          { id: "count" },
          extensions(xml("zeebe:script", { expression: "=n + 1", resultVariable: "n" })),
        ),
        xml("exclusiveGateway", { id: "enough", default: "back" }),
        end(),
        flow("a", "start", "again"),
        flow("b", "again", "count"),
        flow("c", "count", "enough"),
        flow("d", "enough", "end", `=n >= ${ROUNDS}`),
        flow("back", "enough", "again"),
      ),
    ),
  ],
];
