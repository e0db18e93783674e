import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { sequence, service } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

describe("a list of versions", () => {
  test("counts live instances once, however many versions it shows", async () => {
    const store = new SimulatedStore({});
    const { engine } = aPlainWorld({ store });
    for (const task of ["a", "b", "c"]) {
      await engine.deploy({ notation: "bpmn", source: sequence(service(task)) });
    }
    await engine.start("p", { instanceId: "one" });
    const list = store.list.bind(store);
    let asked = 0;
    store.list = (view, range) => {
      asked += 1;
      return list(view, range);
    };

    const { items } = await engine.versions("p", { limit: 10 });

    const live = { count: 1, more: false };
    expect(items).toMatchObject([3, 2, 1].map((version) => ({ version, live })));
    // The live ones, and those that an incident holds up.
    expect(asked).toBe(2);
  });
});
