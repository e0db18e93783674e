import { describe, test } from "vitest";
import { client, eventually, fresh, pause } from "../support/deployed.ts";
import { startsItself } from "../support/timer-starts.ts";

/** The instances of timer starts, the earliest first. */
async function begun(definition: string) {
  const { items } = await client.list({ definition, limit: 50 });
  return items.toReversed();
}

const scheduleOf = async (definition: string) => {
  const { items } = await client.schedules({ limit: 200 });
  return items.find((it) => it.definition.id === definition);
};

describe.concurrent("a deployed timer start event", () => {
  test("F16 within the queue's delay fires once, when it is due", async ({ expect }) => {
    const id = fresh("soon");
    await client.deploy(startsItself(id, { timeDuration: "PT4S" }, { type: "ship" }));
    const { nextDue } = (await scheduleOf(id)) ?? {};

    const [only] = await eventually("an instance", async () => {
      const items = await begun(id);
      return items.length > 0 && items;
    });

    expect(only?.startedAt).toBe(nextDue);
    const { variables } = await eventually("its end", async () => {
      const instance = await client.get(only?.instanceId ?? "");
      return instance.endedAt !== undefined && instance;
    });
    expect(variables).toMatchObject({ shipped: true });
    expect(await scheduleOf(id)).toMatchObject({ fired: 1, remaining: 0 });
  });

  test("F16 beyond the queue's delay fires once, by a schedule", async ({ expect }) => {
    const id = fresh("later");
    await client.deploy(startsItself(id, { timeDuration: "PT28S" }, { type: "ship" }));
    const { nextDue } = (await scheduleOf(id)) ?? {};

    const items = await eventually("an instance", async () => {
      const found = await begun(id);
      return found.length > 0 && found;
    });

    expect(items.map(({ startedAt }) => startedAt)).toEqual([nextDue]);
  });

  test("F16 with R2 starts two, and two again after enabling", async ({ expect }) => {
    const id = fresh("twice");
    await client.deploy(startsItself(id, { timeCycle: "R2/PT3S" }, { type: "ship" }));
    const two = await eventually("two instances", async () => {
      const found = await begun(id);
      return found.length >= 2 && found;
    });

    await client.disable(id);
    await client.enable(id);
    const four = await eventually("four instances", async () => {
      const found = await begun(id);
      return found.length >= 4 && found;
    });

    const [first, second] = two.map(({ startedAt }) => Date.parse(startedAt));
    expect((second ?? 0) - (first ?? 0)).toBe(3_000);
    expect(four).toHaveLength(4);
    expect(await scheduleOf(id)).toMatchObject({ fired: 2, remaining: 0 });
  });

  test("F6, F16 stops with its definition", async ({ expect }) => {
    const id = fresh("stopped");
    await client.deploy(startsItself(id, { timeCycle: "R/PT3S" }, { type: "ship" }));
    await eventually("an instance", async () => (await begun(id)).length > 0);

    await client.undeploy(id);
    const before = (await begun(id)).length;
    for (let n = 0; n < 28; n++) await pause();

    expect(await begun(id)).toHaveLength(before);
    expect(await scheduleOf(id)).toBeUndefined();
  });
});
