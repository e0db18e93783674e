import { beforeEach, describe, expect, test } from "vitest";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { type Installation, openInstallation } from "../../lib/cost/installation.ts";
import { Ledger } from "../../lib/cost/ledger.ts";
import { meteredStore } from "../../lib/cost/metered-store.ts";
import type { Variables } from "../../lib/definition/json.ts";
import type { TaskHandler } from "../../lib/ports/tasks.ts";
import {
  aMessage,
  aSignal,
  catching,
  onMessage,
  onSignal,
  service,
  timer,
} from "../support/bpmn-xml.ts";
import { inARow } from "./workflows.ts";

/** Units of the table (`R`, `W`), of its indexes, and other usage. */
type Units = Readonly<Record<string, number>>;

const FAILS: TaskHandler = {
  timeoutMs: 1_000,
  isolate: false,
  exclusive: false,
  run: async () => ({ kind: "failed", message: "no" }),
};

// What every operation reads and writes, by the rules of the bill. State is within 1 KB, and
// functions have met the definition before. A number that grows is money: change it on purpose only.
describe("an installation is charged for", () => {
  let ledger: Ledger;
  let installation: Installation;
  let counted = 0;

  beforeEach(async () => {
    ledger = new Ledger();
    counted = 0;
    const handlers = new Map([["fails", FAILS]]);
    const store = meteredStore(new SimulatedStore(), ledger);
    installation = openInstallation({ ledger, store, mode: "queued", handlers });
  });

  /**
   * Runs one instance of the process up to its first wait that is not a task, to warm the caches.
   */
  const prepare = async (source: string, id: string, variables: Variables = {}) => {
    const { engine, settle } = installation;
    await engine.deploy({ notation: "bpmn", source });
    await engine.start(id, { instanceId: "earlier", variables });
    await settle(100);
    lap();
  };

  const startOne = (id: string, variables: Variables = {}) =>
    installation.engine.start(id, { variables });

  /** The usage since the last call. */
  const lap = (): Units => {
    const units: Record<string, number> = {};
    const add = (name: string, count: number) => {
      units[name] = (units[name] ?? 0) + count;
    };
    for (const { usage } of ledger.spent.slice(counted)) {
      if (usage.of === "dynamodb-read")
        add(usage.on === "table" ? "R" : `R ${usage.on}`, usage.units);
      else if (usage.of === "dynamodb-write") {
        add(usage.on === "table" ? "W" : `W ${usage.on}`, usage.units);
      } else if ("queue" in usage) add(usage.queue, usage.requests);
      else if (usage.of === "lambda") add(usage.name, usage.invocations);
      else add(usage.of, 1);
    }
    counted = ledger.spent.length;
    return units;
  };

  const tasks = inARow("tasks", [service("a"), service("b"), service("c")]);

  test("a deployment: its parts, and the head that lists it", async () => {
    await installation.engine.deploy({ notation: "bpmn", source: tasks });

    expect(lap()).toEqual({ R: 1, W: 6, "W listing": 2 });
  });

  test("a start: one read, one write and its listing", async () => {
    await prepare(tasks, "tasks");

    await startOne("tasks");

    expect(lap()).toEqual({ R: 1, W: 1, "W listing": 1, tasks: 1 });
  });

  test("a completed task: one read, one write", async () => {
    await prepare(tasks, "tasks");
    await startOne("tasks");
    lap();

    await installation.settle(1);

    expect(lap()).toEqual({ R: 1, W: 1, tasks: 3, "run-task": 1 });
  });

  test("the end: a step, and the move in the listing", async () => {
    await prepare(tasks, "tasks");
    await startOne("tasks");
    await installation.settle(2);
    lap();

    await installation.settle(1);

    expect(lap()).toEqual({ R: 1, W: 1, "W listing": 2, tasks: 2, "run-task": 1 });
  });

  test("tasks in place: one write each, and the rest once", async () => {
    const store = meteredStore(new SimulatedStore(), ledger);
    installation = openInstallation({ ledger, store, mode: "inline", handlers: new Map() });
    await prepare(tasks, "tasks");
    await startOne("tasks");
    lap();

    await installation.settle(1);

    expect(lap()).toEqual({ R: 1, W: 3, "W listing": 2, tasks: 2, "run-task": 1 });
  });

  test("a failed attempt, and an incident after the last one", async () => {
    const failing = service("a").replace('type="work"', 'type="fails" retries="2"');
    await prepare(inARow("failing", [failing]), "failing");
    await startOne("failing");
    lap();

    await installation.settle(1);
    expect(lap()).toEqual({ R: 1, W: 1, tasks: 3, "run-task": 1 });
    await installation.settle(1);
    expect(lap()).toEqual({ R: 1, W: 1, "W listing": 2, tasks: 2, "run-task": 1 });
  });

  test("a timer within the queue's delay: an index row is added and removed", async () => {
    const waits = catching("w", timer("timeDuration", "PT5M"));
    await prepare(inARow("waits", [service("a"), waits, service("b")]), "waits");
    await installation.engine.cancel("earlier");
    installation.passTime();
    await installation.settle(10);
    await startOne("waits");
    lap();

    await installation.settle(1);
    expect(lap()).toEqual({ R: 1, W: 1, "W due": 1, tasks: 2, timers: 1, "run-task": 1 });
    installation.passTime();
    await installation.settle(1);
    expect(lap()).toEqual({ R: 1, W: 1, "W due": 1, timers: 2, tasks: 1, "fire-timer": 1 });
  });

  test("a timer of days: a schedule, and a second message for the remaining time", async () => {
    const waits = catching("w", timer("timeDuration", "P3D"));
    await prepare(inARow("waits", [service("a"), waits, service("b")]), "waits");
    await installation.engine.cancel("earlier");
    await startOne("waits");
    lap();

    await installation.settle(1);
    expect(lap()).toEqual({ R: 1, W: 1, "W due": 1, tasks: 2, "run-task": 1 });
    installation.passTime();
    await installation.settle(1);
    expect(lap()).toEqual({ scheduler: 1, R: 1, timers: 4, "fire-timer": 1 });
    installation.passTime();
    await installation.settle(1);
    expect(lap()).toEqual({ R: 1, W: 1, "W due": 1, timers: 2, tasks: 1, "fire-timer": 1 });
  });

  describe("signals:", () => {
    beforeEach(async () => {
      const waits = catching("w", onSignal("go"));
      await prepare(inARow("waits", [service("a"), waits, service("b")], aSignal("go")), "waits");
      await installation.engine.cancel("earlier");
      await startOne("waits");
      lap();
    });

    test("a wait: head and instance, a transaction with its row, the head again", async () => {
      await installation.settle(1);

      expect(lap()).toEqual({ R: 3, W: 4, tasks: 2, "run-task": 1 });
    });

    test("a broadcast to one wait, and its copy from the bus", async () => {
      await installation.settle(1);
      lap();

      await installation.engine.signal({ name: "go" });
      expect(lap()).toEqual({ R: 5, W: 4, eventbridge: 1, work: 1 });
      await installation.settle(2);
      expect(lap()).toEqual({ R: 9, W: 3, work: 5, tasks: 1, "run-work": 2 });
    });
  });

  describe("messages:", () => {
    beforeEach(async () => {
      const waits = catching("w", onMessage("paid"));
      const source = inARow(
        "waits",
        [service("a"), waits, service("b")],
        aMessage("paid", { key: "=key" }),
      );
      await prepare(source, "waits", { key: "earlier" });
    });

    test("a wait: mailbox and instance, and a transaction of both", async () => {
      await startOne("waits", { key: "k" });
      lap();

      await installation.settle(1);

      expect(lap()).toEqual({ R: 2, W: 4, tasks: 2, "run-task": 1 });
    });

    test("a message with a wait: parked, and a transaction of both", async () => {
      await startOne("waits", { key: "k" });
      await installation.settle(1);
      lap();

      await installation.engine.message({ name: "paid", correlationKey: "k" });
      expect(lap()).toEqual({ R: 2, W: 4, steps: 1 });
      await installation.settle(1);
      expect(lap()).toEqual({ R: 4, steps: 2, tasks: 1, advance: 1 });
    });

    test("a message without a wait: its mailbox", async () => {
      await installation.engine.message({ name: "paid", correlationKey: "early" });

      expect(lap()).toEqual({ R: 2, W: 1 });
    });

    test("a wait that finds a message: a transaction of both, and the next step", async () => {
      await installation.engine.message({ name: "paid", correlationKey: "early" });
      await startOne("waits", { key: "early" });
      lap();

      await installation.settle(1);

      expect(lap()).toEqual({ R: 2, W: 4, tasks: 3, "run-task": 1 });
    });

    test("a cancelled wait: a step, the move in the listing, and its mailbox", async () => {
      await installation.engine.cancel("earlier");

      expect(lap()).toEqual({ R: 2, W: 2, "W listing": 2 });
    });

    test("an event for an instance that does not wait for it", async () => {
      await installation.engine.event({ name: "seen", target: "earlier" });

      expect(lap()).toEqual({ R: 2, W: 1 });
    });
  });
});
