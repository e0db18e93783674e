import { describe, expect, test } from "vitest";
import { openVirtualClock } from "../../../lib/adapters/local/virtual-clock.ts";
import { DEFAULT_WORK_AT_ONCE } from "../../../lib/adapters/local/work-queue.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { PageMessage, WorkMessage } from "../../../lib/ports/message.ts";
import { openTestQueues } from "../../support/local-queues.ts";
import { ManualTime } from "../../support/manual-time.ts";

describe("the work queue of a process", () => {
  test("works on a few parts at a time by default", async () => {
    expect(await mostAtOnce()).toBe(DEFAULT_WORK_AT_ONCE);
    expect(await mostAtOnce(7)).toBe(7);
  });

  test("gives the slot of a part that fails or is kept to another", async () => {
    const { queues, time } = openTestQueues({ workAtOnce: 1 });
    const released: string[] = [];
    queues.work.consume(async (message) => {
      const page = message.kind === "page" ? message.page : message.kind;
      if (page === "fails") throw new Error("no disk");
      if (page === "kept") return { keepForMs: 1_000 };
      released.push(page);
      return "release";
    });
    for (const page of ["fails", "kept", "0.0"]) await queues.work.send(aPage(page));
    await time.pass(100);

    expect(released).toEqual(["0.0"]);
  });

  test("starts no part in the same tick that sends it", async () => {
    const { queues, time } = openTestQueues();
    const delivered: WorkMessage[] = [];
    queues.work.consume(async (message) => {
      delivered.push(message);
      return "release";
    });
    await queues.work.send(aPage("0.0"));
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(delivered).toEqual([]);

    await time.pass(0);
    expect(delivered).toHaveLength(1);
  });

  test("delays by real time, however the engine's clock jumps", async () => {
    const { queues, time } = openTestQueues();
    let count = 0;
    queues.work.consume(async () => {
      count++;
      return "release";
    });
    await queues.work.send(aPage("0.0"), 1_000);
    time.jump(3_600_000);
    await time.pass(999);
    expect(count).toBe(0);
    time.jump(-7_200_000);
    await time.pass(1);

    expect(count).toBe(1);
  });

  test("delivers a delayed part although a virtual clock stands still", async () => {
    const time = new ManualTime();
    const memory = { load: async () => undefined, save: async () => {} };
    const clock = await openVirtualClock({ real: time, memory });
    const { queues } = openTestQueues({ time, clock });
    let count = 0;
    queues.work.consume(async () => {
      count++;
      return "release";
    });
    await queues.work.send(aPage("0.0"), 1_000);
    await time.pass(1_000);

    expect(count).toBe(1);
    expect(clock.now()).toBe(instantFrom(Date.UTC(2030, 0, 1)));
  });

  test("gives each part its own invocation, in which no task continues", async () => {
    const { queues, time } = openTestQueues();
    const ids: string[] = [];
    queues.work.consume(async (_, { id, mayContinue }) => {
      expect(mayContinue).toBe(false);
      expect(queues.invocations.isDeadOwner(id)).toBe(false);
      ids.push(id);
      return "release";
    });
    for (const page of ["0.0", "0.1"]) await queues.work.send(aPage(page));
    await time.pass(0);

    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => queues.invocations.isDeadOwner(id))).toBe(true);
  });

  test("names every kind of part that is left", async () => {
    const { queues } = openTestQueues();
    const of = { tenant: "default", broadcastId: "b1" };
    await queues.work.send({ kind: "broadcast", ...of });
    await queues.work.send({ kind: "watch", ...of });
    await queues.work.send({ kind: "shard", ...of, epoch: 2, shard: 3, page: 0 });
    await queues.work.send(aPage("2.3.0"));
    await queues.work.send({ kind: "offer", tenant: "default", name: "paid", seq: 7 }, 1_000);

    expect(queues.whatIsLeft()).toEqual([
      "broadcast b1 is queued",
      "watch over broadcast b1 is queued",
      "shard 2.3 of broadcast b1 is queued",
      "page 2.3.0 of broadcast b1 is queued",
      "offer of event paid number 7 waits to be tried again",
    ]);
  });
});

async function mostAtOnce(workAtOnce?: number): Promise<number> {
  const { queues, time } = openTestQueues({ ...(workAtOnce && { workAtOnce }) });
  let [running, most] = [0, 0];
  queues.work.consume(async () => {
    most = Math.max(most, ++running);
    await time.pause(10);
    running--;
    return "release";
  });
  for (let n = 0; n < 20; n++) await queues.work.send(aPage(`0.${n}`));
  await time.pass(1_000);
  expect(queues.whatIsLeft()).toEqual([]);
  return most;
}

function aPage(page: string): PageMessage {
  const of = { tenant: "default", broadcastId: "b1" };
  return { kind: "page", ...of, page, last: false, rows: [] };
}
