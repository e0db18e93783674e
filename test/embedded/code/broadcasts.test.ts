import { describe, expect, test } from "vitest";
import { aDataDir } from "../../support/embedded.ts";
import { leftBy } from "../../support/left-in-store.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

describe("a broadcast that a workflow in code waits for", () => {
  test("D6 R10 is taken by its wait, whatever its payload", async () => {
    const engine = await anEngineWith("return [await event('news'), await event('news')];");
    const { instanceId } = await run(engine);

    const sent = [
      await engine.event({ name: "news", payload: null }),
      await engine.event({ name: "news", payload: [1] }),
    ];
    await engine.idle();

    expect(sent).toMatchObject([{ deliveredCount: 1 }, { deliveredCount: 1 }]);
    expect((await engine.get(instanceId)).result).toEqual([null, [1]]);
  });

  test.each([
    ["AfterWait", "dropped", { key: "late" }],
    ["AfterCreate", "queued", { key: "news", value: "early" }],
    ["All", "queued", { key: "news", value: "early" }],
  ] as const)(
    "D6 that came before the wait is kept only if its type says so: %s",
    async (deliveryMode, outcome, first) => {
      const engine = await anEngineWith(
        "await event('go'); return race({ news: event('news'), late: delay('1h') });",
      );
      await engine.setEventType("news", { deliveryMode });
      const { instanceId: target } = await run(engine);

      const sent = await engine.event({ name: "news", payload: "early" });
      await engine.event({ name: "go", target });
      await engine.advanceClock("PT1H");

      expect(sent).toMatchObject({ outcome });
      expect((await engine.get(target)).result).toMatchObject(first);
    },
  );

  test("D6 does not reach a wait that takes events of the inbox only", async () => {
    const engine = await anEngineWith("return event('news', { from: 'inbox' });");
    const { instanceId: target } = await run(engine);

    const broadcast = await engine.event({ name: "news", payload: "to all" });
    const before = await engine.get(target);
    await engine.event({ name: "news", target, payload: "to this one" });

    expect(broadcast).toMatchObject({ outcome: "dropped" });
    expect(before.status).toBe("suspended");
    expect((await engine.get(target)).result).toBe("to this one");
  });

  test("costs a row for each wait, and none for one of the inbox only", async () => {
    const dataDir = aDataDir();
    const engine = await anEngineWith(
      "await all([event('a'), event('b', { from: 'inbox' }), signal('c')]);",
      { dataDir },
    );
    const { instanceId } = await run(engine);

    const { rows } = await leftBy(engine, dataDir);

    expect(rows.toSorted()).toEqual([`a ${instanceId}`, `c ${instanceId}`]);
  });
});

describe("a signal and a message that come before their wait", () => {
  const both = `await event("go");
    return all([signal("opened"), message("paid", "k")].map((one) => race([one, delay("1h")])));`;

  test("a signal is not kept, and a message is, for its time to live", async () => {
    const engine = await anEngineWith(both);
    const { instanceId: target } = await run(engine);

    const signalled = await engine.signal("opened", { door: 1 });
    const paid = { name: "paid", correlationKey: "k", payload: { by: "card" } };
    const buffered = await engine.message({ ...paid, timeToLive: "PT1H" });
    await engine.event({ name: "go", target });
    const { waits } = await engine.get(target);
    await engine.signal("opened", { door: 2 });

    expect(signalled).toMatchObject({ deliveredCount: 0 });
    expect(buffered).toMatchObject({ outcome: "buffered" });
    expect(waits.map(({ element }) => element)).toEqual(["signal:opened", "timer"]);
    expect((await engine.get(target)).result).toEqual([{ door: 2 }, { by: "card" }]);
  });
});
