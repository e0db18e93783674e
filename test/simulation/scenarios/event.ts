// Workloads about events: to one instance, to all waits, to one of many, and dead letters.
import type { EventConfig } from "../../../lib/shapes/signals.ts";
import { aWorkflow, event, task, timer, type Workflow } from "../../support/generator-runner.ts";
import { starter } from "../actors/callers.ts";
import { declares, publishes, replays, talker, tells, waits } from "../actors/messaging.ts";
import { does, done } from "../actors/user-code.ts";
import { compiled } from "./definitions.ts";
import type { Caller, Scenario } from "./scenario.ts";

const once: Workflow = function* () {
  const got = yield event("news");
  yield task("after");
  return got;
};

const twice: Workflow = function* () {
  const first = yield event("news");
  const second = yield event("news");
  return [first, second];
};

const busyFirst: Workflow = function* () {
  yield task("work");
  const got = yield event("news");
  return got;
};

const deaf: Workflow = function* () {
  yield timer(10_000);
  return null;
};

/**
 * Each outcome is long enough that history and journal are moved out of the instance repeatedly.
 */
const manyTasks: Workflow = function* () {
  for (let n = 0; n < 9; n += 1) yield task("write", { n });
  return null;
};

export const EVENT_SCENARIOS: readonly Scenario[] = [
  {
    ...programs("journal", { manyTasks }, () => [
      starter("manyTasks", "one"),
      talker("teller", tells("one", "news", "e1"), tells("one", "news", "e2")),
      talker("other teller", tells("one", "news", "e3"), tells("one", "news", "e4")),
    ]),
    handlers: { write: { outcome: (_, { n }) => done({ text: `${n} `.repeat(60) }) } },
  },
  programs("event-targeted", { busyFirst, twice }, () => [
    starter("busyFirst", "one"),
    starter("twice", "two"),
    talker("teller", tells("one", "news", "e1"), tells("one", "news", "e2")),
    talker("other teller", tells("two", "news", "e3"), tells("two", "news", "e4")),
  ]),
  {
    ...programs("event-dead-letter", { deaf, once }, () => [
      talker(
        "teller",
        declares("news", { onTargetTerminated: "deadLetter" }),
        tells("one", "news", "e1"),
      ),
      starter("deaf", "one"),
      starter("once", "two"),
      talker("replayer", replays("news")),
    ]),
    mayWait: true,
  },
  {
    ...programs("event-left-over", { deaf, once }, () => [
      talker(
        "teller",
        declares("news", { onTargetTerminated: "broadcast" }),
        tells("one", "news", "e1"),
      ),
      starter("deaf", "one"),
      starter("once", "two"),
    ]),
    mayWait: true,
  },
  kept("event-once", { deliveryMode: "AfterWait" }),
  kept("event-once-all", { deliveryMode: "All" }),
  kept("event-once-created", { deliveryMode: "AfterCreate" }),
  kept("event-all", { consumeOnRead: false, deliveryMode: "All" }),
  kept("event-created", { consumeOnRead: false, deliveryMode: "AfterCreate" }),
  kept("event-after-wait", { consumeOnRead: false, deliveryMode: "AfterWait" }),
  programs("event-one-of-two", { once }, () => [
    starter("once", "one"),
    starter("once", "two"),
    talker(
      "publisher",
      publishes("news", "e1", { when: waits("event", "news", 2) }),
      publishes("news", "e2"),
    ),
  ]),
];

/** One comes before any wait, others during and after; one subscriber is late. */
function kept(name: string, config: Partial<EventConfig>): Scenario {
  return {
    ...programs(name, { once, twice }, () => [
      talker(
        "publisher",
        declares("news", config),
        publishes("news", "e1"),
        publishes("news", "e2"),
        publishes("news", "e3", { atMs: 10_000 }),
      ),
      starter("once", "one"),
      starter("twice", "two"),
      later(starter("once", "three"), 5_000),
    ]),
    mayWait: true,
  };
}

function later({ name, calls }: Caller, atMs: number): Caller {
  return { name, calls: calls.map((call) => ({ ...call, atMs })) };
}

function programs(
  name: string,
  workflows: Readonly<Record<string, Workflow>>,
  callers: Scenario["callers"],
): Scenario {
  return {
    name,
    definitions: Object.entries(workflows).map(([id, workflow]) =>
      compiled(aWorkflow(workflow, id).definition),
    ),
    workflows: new Map(Object.entries(workflows)),
    handlers: { after: does("after"), work: does("work") },
    callers,
  };
}
