import { describe, expect, test } from "vitest";
import { sequence, service } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const source = sequence(service("work"));
const changed = sequence(service("other"));

describe("a repeated start", () => {
  const ways = [
    ["with its key", { variables: { a: 1 } }, "key-1"],
    ["with its id", { variables: { a: 1 }, instanceId: "one" }, undefined],
  ] as const;

  for (const [how, request, key] of ways) {
    test(`${how} gets its instance when the definition is disabled`, async () => {
      const engine = await anEngine({ source });
      const first = await engine.start("p", request, key);
      await engine.disable("p");

      expect(await engine.start("p", request, key)).toEqual(first);
    });

    test(`${how} gets its instance when the definition is undeployed`, async () => {
      const engine = await anEngine({ source });
      const first = await engine.start("p", request, key);
      await engine.undeploy("p");

      expect(await engine.start("p", request, key)).toEqual(first);
    });

    test(`${how} gets its instance when a new version is deployed`, async () => {
      const engine = await anEngine({ source });
      const first = await engine.start("p", request, key);
      await engine.deploy(changed);

      expect(await engine.start("p", request, key)).toEqual(first);
      await engine.idle();
      expect((await engine.tasks()).items.map(({ type }) => type)).toEqual(["work"]);
    });

    test(`${how} with another body is refused when the definition is disabled`, async () => {
      const engine = await anEngine({ source });
      await engine.start("p", request, key);
      await engine.disable("p");

      await expect(
        engine.start("p", { ...request, variables: { a: 2 } }, key),
      ).rejects.toMatchObject({
        code: key === undefined ? "instance/id-taken" : "request/key-reused",
      });
    });
  }

  test("is the same for any order of its properties", async () => {
    const engine = await anEngine({ source });
    const first = await engine.start(
      "p",
      { businessKey: "B", variables: { a: { x: 1, y: [{ p: 1, q: 2 }] }, b: 2 } },
      "key-1",
    );

    const again = await engine.start(
      "p",
      { variables: { b: 2, a: { y: [{ q: 2, p: 1 }], x: 1 } }, businessKey: "B" },
      "key-1",
    );

    expect(again).toEqual(first);
  });

  test("differs when the items of a list change places", async () => {
    const engine = await anEngine({ source });
    await engine.start("p", { variables: { list: [1, 2] } }, "key-1");

    const other = engine.start("p", { variables: { list: [2, 1] } }, "key-1");

    await expect(other).rejects.toMatchObject({ code: "request/key-reused" });
  });
});

describe("a repeated completion", () => {
  test("is the same for any order of its properties", async () => {
    const engine = await anEngine({ source });
    await engine.start("p");
    const taskId = (await engine.tasks()).items[0]?.taskId ?? "";
    await engine.complete(taskId, { variables: { a: 1, b: 2 } }, "key-1");

    const again = await engine.complete(taskId, { variables: { b: 2, a: 1 } }, "key-1");

    expect(again).toEqual({ completed: true });
    const other = engine.complete(taskId, { variables: { a: 1, b: 3 } }, "key-1");
    await expect(other).rejects.toMatchObject({ code: "request/key-reused" });
  });
});
