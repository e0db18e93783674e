import { describe, expect, test } from "vitest";
import { MAX_PAYLOAD_BYTES, MAX_VALUES_BYTES } from "../../lib/definition/limits.ts";
import {
  aMessage,
  aSignal,
  beside,
  catching,
  end,
  file,
  flow,
  ioMapping,
  onMessage,
  onSignal,
  process,
  race,
  service,
  start,
  xml,
} from "../support/bpmn-xml.ts";
import { aCodeEngine } from "../support/code-engine.ts";
import { anEngine } from "../support/embedded.ts";
import { event, type Workflow } from "../support/generator-runner.ts";

const several = (count: number) => Array.from({ length: count }, (_, n) => n);

describe("more work than one commit can hold", () => {
  test("is split when many outcomes open many waits together", async () => {
    const branches = several(10).map((n) => {
      const catches = several(5).map((k) => catching(`c${n}-${k}`, onSignal(`s${n}-${k}`)));
      const flows = [flow(`to${n}`, "fork", `t${n}`), flow(`on${n}`, `t${n}`, `g${n}`)];
      return [service(`t${n}`), race(`g${n}`, ...catches), ...flows].join("\n");
    });
    const fork = [start(), xml("parallelGateway", { id: "fork" }), flow("f", "start", "fork")];
    const signals = several(10).flatMap((n) => several(5).map((k) => aSignal(`s${n}-${k}`)));
    const source = beside(file(process(...fork, ...branches)), ...signals);
    const engine = await anEngine({ source, tasks: { work: async () => ({}) } });

    const { instanceId } = await engine.start("p");
    await engine.idle();

    const { items } = await engine.waits(instanceId);
    expect(items.map(({ kind }) => kind)).toEqual(several(50).map(() => "signal"));
    await expect(engine.signal("s9-4")).resolves.toMatchObject({ deliveredCount: 1 });
  });

  test("is split when a loop finds every message already there", async () => {
    const next = xml(
      "scriptTask",
      { id: "next" },
      xml(
        "extensionElements",
        {},
        xml("zeebe:script", { expression: "=n + 1", resultVariable: "n" }),
      ),
    );
    const loop = [
      start(),
      catching("wait", onMessage("m")),
      next,
      xml("exclusiveGateway", { id: "more" }),
      end(),
      flow("f1", "start", "wait"),
      flow("f2", "wait", "next"),
      flow("f3", "next", "more"),
      flow("f4", "more", "wait", "=n < 95"),
      flow("f5", "more", "end", "=n >= 95"),
    ];
    const source = beside(file(process(...loop)), aMessage("m", { key: "=string(n)" }));
    const engine = await anEngine({ source });
    for (const n of several(95)) await engine.message({ name: "m", correlationKey: n });

    const { instanceId } = await engine.start("p", { variables: { n: 0 } });

    await expect(engine.result(instanceId)).resolves.toMatchObject({ status: "succeeded" });
  });

  test.each([true, false])(
    "is split when a workflow finds many kept events, with one recipient: %s",
    async (consumeOnRead) => {
      const thirty: Workflow = function* () {
        const read = [];
        for (const _ of several(30)) read.push(yield event("paid"));
        return read;
      };
      const engine = await aCodeEngine({ thirty });
      await engine.setEventType("paid", { consumeOnRead, deliveryMode: "All" });
      for (const n of several(30)) await engine.event({ name: "paid", payload: n });
      await engine.idle();

      const { instanceId } = await engine.start("thirty");

      await expect(engine.result(instanceId)).resolves.toMatchObject({ result: several(30) });
    },
  );
});

describe("work that is refused", () => {
  test("is an event under the id of another event or signal", async () => {
    const engine = await anEngine();
    await engine.setEventType("paid", { consumeOnRead: false });
    await engine.event({ name: "shipped", id: "order-17" });
    const reused = { code: "request/key-reused" };
    await expect(engine.event({ name: "paid", id: "order-17" })).rejects.toMatchObject(reused);
    await engine.signal("go", {}, { id: "s" });
    await expect(engine.event({ name: "paid", id: "s" })).rejects.toMatchObject(reused);
  });

  test("is a start that would be too large, and its broadcast names it and completes", async () => {
    const outputs = several(MAX_VALUES_BYTES / MAX_PAYLOAD_BYTES + 1).map((n) =>
      xml("zeebe:output", { source: "=a", target: `a${n}` }),
    );
    const begins = start(
      "start",
      xml("extensionElements", {}, ioMapping(...outputs)),
      onSignal("go"),
    );
    const source = beside(
      file(process(begins, service("t"), flow("f", "start", "t"))),
      aSignal("go"),
    );
    const engine = await anEngine({ source, tasks: { work: async () => ({}) } });
    const payload = { a: "x".repeat(MAX_PAYLOAD_BYTES - 10) };

    const { broadcastId, startedCount } = await engine.signal("go", payload);
    await engine.idle();

    expect(startedCount).toBe(0);
    const receipt = await engine.receipt(broadcastId);
    expect(receipt).toMatchObject({ complete: true, matched: 1, started: 0 });
    expect(receipt.failed).toMatchObject([{ message: expect.stringContaining("limit") }]);
    expect((await engine.list()).items).toEqual([]);
  });
});
