import { describe, expect, test } from "vitest";
import { extensions, inTurn, job, loop, sequence, start, xml } from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

const several = (count: number) => Array.from({ length: count }, (_, n) => n);
const gathers = {
  inputCollection: "=items",
  inputElement: "item",
  outputCollection: "results",
  outputElement: "=result",
};
const each = (marker: string) =>
  sequence(xml("serviceTask", { id: "each" }, extensions(job("each")), marker));

describe("a multi-instance activity on the embedded engine", () => {
  test("F58 runs a thousand tasks at once", async () => {
    const engine = await anEngine({
      source: each(loop(gathers)),
      tasks: { each: ({ item }) => ({ result: Number(item) + 1 }) },
    });

    const { instanceId } = await engine.start("p", { variables: { items: several(1_000) } });
    await engine.idle();

    const { status, result } = await engine.result(instanceId);
    expect(status).toBe("succeeded");
    expect((result as { results: unknown }).results).toEqual(several(1_000).map((n) => n + 1));
  });

  test("F58 runs them one by one, as often as specified", async () => {
    const seen: unknown[] = [];
    const engine = await anEngine({
      source: each(inTurn({}, xml("loopCardinality", {}, "=n"))),
      tasks: { each: ({ loopCounter }) => void seen.push(loopCounter) },
    });

    const { instanceId } = await engine.start("p", { variables: { n: 20 } });
    await engine.idle();

    expect((await engine.result(instanceId)).status).toBe("succeeded");
    expect(seen).toEqual(several(20).map((n) => n + 1));
  });

  test.each([
    ["half a time", 1.5],
    ["a text", "three"],
    ["nothing", null],
  ])("F58 raises an incident when its cardinality is %s", async (_, n) => {
    const engine = await anEngine({
      source: each(inTurn({}, xml("loopCardinality", {}, "=n"))),
      tasks: { each: () => undefined },
    });

    const { instanceId } = await engine.start("p", { variables: { n } });
    await engine.idle();

    const { incidents } = await engine.get(instanceId);
    expect(incidents).toMatchObject([{ type: "EXTRACT_VALUE_ERROR", element: "each" }]);
  });

  test("F58 runs sub-processes, more than may be active at once", async () => {
    const inside = [
      start("in"),
      xml("serviceTask", { id: "work" }, extensions(job("work"))),
      xml("sequenceFlow", { id: "i1", sourceRef: "in", targetRef: "work" }),
    ];
    const engine = await anEngine({
      source: sequence(xml("subProcess", { id: "sub" }, ...inside, loop(gathers))),
      tasks: { work: ({ item }) => ({ result: Number(item) * 3 }) },
    });

    const { instanceId } = await engine.start("p", { variables: { items: several(130) } });
    await engine.idle();

    const { result } = await engine.result(instanceId);
    expect((result as { results: unknown }).results).toEqual(several(130).map((n) => n * 3));
  });

  test("continues after a restart with the remaining items", async () => {
    const dataDir = aDataDir();
    const ran: number[] = [];
    const stuck = await anEngine({
      dataDir,
      source: each(loop(gathers)),
      concurrency: 4,
      tasks: {
        each: async ({ item }) => {
          if (Number(item) >= 15) await new Promise(() => undefined);
          return { result: Number(item) };
        },
      },
    } as Parameters<typeof anEngine>[0]);
    const { instanceId } = await stuck.start("p", { variables: { items: several(40) } });
    await expect
      .poll(async () => (await stuck.waits(instanceId)).items[0]?.members?.open)
      .toBeLessThan(40);
    await stuck.close({ graceMs: 10 });

    const engine = await anEngine({
      dataDir,
      tasks: {
        each: ({ item }) => {
          ran.push(Number(item));
          return { result: Number(item) };
        },
      },
    });
    await engine.idle();

    const { result } = await engine.result(instanceId);
    expect((result as { results: unknown }).results).toEqual(several(40));
    expect(ran.length).toBeLessThan(40);
  });
});
