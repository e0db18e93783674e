import { describe, expect, test } from "vitest";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const page = { limit: 50 };

describe("a full recovery", () => {
  test("D19 sends again the tasks that every queue has lost", async () => {
    const { engine, queued, drain } = aPlainWorld({ tasks: { work: () => ({ done: true }) } });
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(bpmn.service("work")) });
    const { instanceId } = await engine.start("p");
    queued.length = 0;

    const report = await engine.recoverAll(page);
    await drain();

    expect(report).toMatchObject({ resumed: 1, resent: 1 });
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("D19 arms timers that are far ahead", async () => {
    const { engine, armed } = aPlainWorld();
    const wait = bpmn.xml(
      "intermediateCatchEvent",
      { id: "wait" },
      bpmn.timer("timeDuration", "P30D"),
    );
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(wait) });
    const { instanceId } = await engine.start("p");
    const before = armed.length;

    const report = await engine.recoverAll(page);

    expect(report).toMatchObject({ rearmed: 1, timersFired: 0 });
    expect(armed.slice(before)).toMatchObject([{ instanceId, ticket: armed[0]?.ticket }]);
  });

  test("sends a large batch page by page, as it was sent first", async () => {
    const { engine, queued, drain } = aPlainWorld({ tasks: { work: () => ({}) } });
    const marker = bpmn.loop({ inputCollection: "=items", inputElement: "item" });
    const each = bpmn.xml("serviceTask", { id: "work" }, bpmn.extensions(bpmn.job()), marker);
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(each) });
    const items = Array.from({ length: 250 }, (_, n) => n);
    const { instanceId } = await engine.start("p", { variables: { items } });
    queued.length = 0;

    const report = await engine.recoverAll(page);
    const kinds = queued.map(({ kind }) => kind);
    await drain();

    // Each page is one message; its items are sent when it is handled.
    expect(report).toMatchObject({ resumed: 1, resent: 3 });
    expect(kinds).toEqual(["members", "members", "members"]);
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("continues page by page, and skips ended instances", async () => {
    const { engine, drain } = aPlainWorld({ tasks: { work: () => ({}) } });
    await engine.deploy({ notation: "bpmn", source: bpmn.sequence(bpmn.service("work")) });
    for (const n of [1, 2, 3]) await engine.start("p", { instanceId: `live-${n}` });
    const first = await engine.recoverAll({ limit: 2 });
    const second = await engine.recoverAll({ limit: 2, cursor: first.nextCursor ?? "" });

    expect([first.resumed, second.resumed]).toEqual([2, 1]);
    expect(second.nextCursor).toBeUndefined();
    await drain();
    expect(await engine.recoverAll(page)).toMatchObject({ resumed: 0, skipped: 0 });
  });
});
