import { describe, expect, test } from "vitest";
import * as bpmn from "../../support/bpmn-xml.ts";
import { assigned, race, task, timer, type Workflow } from "../../support/generator-runner.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

/** An instance that waits at a task inside of a sub-process, and at two of another element. */
async function aWaiting() {
  const world = aPlainWorld();
  const job = (id: string) => bpmn.xml("serviceTask", { id }, bpmn.extensions(bpmn.job("work")));
  const source = bpmn.file(
    bpmn.process(
      bpmn.start(),
      bpmn.flow("f1", "start", "sub"),
      bpmn.flow("f2", "start", "twice"),
      bpmn.flow("f3", "start", "twice"),
      bpmn.xml(
        "subProcess",
        { id: "sub" },
        bpmn.start("in"),
        bpmn.flow("f4", "in", "inner"),
        job("inner"),
      ),
      job("twice"),
    ),
  );
  await world.engine.deploy({ notation: "bpmn", source });
  await world.engine.start("p", { instanceId: "i1", variables: { rate: 1 } });
  await world.drain();
  return world;
}

describe("setting variables of an instance", () => {
  test("sets those of the process, with one write, and lists their names in the history", async () => {
    const { engine, commits, queued } = await aWaiting();
    const before = commits.length;

    const answer = await engine.patchVariables("i1", { variables: { rate: 2, note: "x" } });

    expect(answer).toEqual({ patched: true });
    expect((await engine.get("i1")).variables).toEqual({ rate: 2, note: "x" });
    expect([commits.length - before, queued.length]).toEqual([1, 0]);
    const { items } = await engine.history("i1", { limit: 200 });
    expect(items.at(-1)).toMatchObject({
      type: "variables-patched",
      data: { names: ["rate", "note"] },
    });
  });

  test("sets those of an open element, and of the process by its own id", async () => {
    const { engine } = await aWaiting();

    await engine.patchVariables("i1", { variables: { rate: 5 }, scope: "sub" });
    await engine.patchVariables("i1", { variables: { rate: 3 }, scope: "p" });

    const { items } = await engine.tasks({ instanceId: "i1" }, { limit: 10 });
    const rates = items.map(({ element, variables }) => `${element} ${variables.rate}`);
    expect(rates.toSorted()).toEqual(["inner 5", "twice 3", "twice 3"]);
  });

  test("is done once per idempotency key, whatever was set since", async () => {
    const { engine } = await aWaiting();

    await engine.patchVariables("i1", { variables: { rate: 2 } }, "k1");
    await engine.patchVariables("i1", { variables: { rate: 3 } }, "k2");
    await engine.patchVariables("i1", { variables: { rate: 2 } }, "k1");

    expect((await engine.get("i1")).variables).toEqual({ rate: 3 });
    await expect(
      engine.patchVariables("i1", { variables: { rate: 4 } }, "k1"),
    ).rejects.toMatchObject({ code: "request/key-reused" });
  });

  test.each([
    ["an element that is not open", { variables: {}, scope: "start" }, "instance/scope-not-found"],
    ["an element that is none", { variables: {}, scope: "x" }, "instance/scope-not-found"],
    ["one that is open twice", { variables: {}, scope: "twice" }, "instance/scope-ambiguous"],
    ["too much", { variables: { a: "x".repeat(3_000_000) } }, "request/body-too-large"],
  ])("refuses %s, and changes nothing", async (_, request, code) => {
    const { engine, commits } = await aWaiting();
    const before = commits.length;

    await expect(engine.patchVariables("i1", request)).rejects.toMatchObject({ code });

    expect(commits.length).toBe(before);
  });

  test("refuses an instance that has ended or does not exist", async () => {
    const { engine } = await aWaiting();
    await engine.cancel("i1");

    const request = { variables: { rate: 2 } };
    await expect(engine.patchVariables("i1", request)).rejects.toMatchObject({
      code: "instance/not-live",
    });
    await expect(engine.patchVariables("nobody", request)).rejects.toMatchObject({
      code: "instance/not-found",
    });
  });

  test("resumes what waits for them, and sends the next task", async () => {
    const code: Workflow = function* () {
      yield race({ rate: assigned("rate"), late: timer(3_600_000) });
      return yield task("after");
    };
    const ran: string[] = [];
    const { engine, drain } = aPlainWorld({
      workflows: new Map([["w", code]]),
      tasks: {
        after: () => {
          ran.push("after");
          return {};
        },
      },
    });
    await engine.deploy({ notation: "code", source: "w" });
    await engine.start("w", { instanceId: "i1" });
    await drain();

    await engine.patchVariables("i1", { variables: { rate: 2 } });
    await drain();

    expect(ran).toEqual(["after"]);
    expect(await engine.get("i1")).toMatchObject({ status: "succeeded" });
  });

  test("succeeds also when what they resume raises an incident", async () => {
    let type = "work";
    const code: Workflow = function* () {
      yield task(type);
      return yield race({ rate: assigned("rate"), late: timer(3_600_000) });
    };
    const workflows = new Map([["w", code]]);
    const { engine, drain } = aPlainWorld({ workflows, tasks: { work: () => ({}) } });
    await engine.deploy({ notation: "code", source: "w" });
    await engine.start("w", { instanceId: "i1" });
    await drain();
    type = "other";

    const answer = await engine.patchVariables("i1", { variables: { rate: 2 } });

    expect(answer).toEqual({ patched: true });
    const { items } = await engine.history("i1", { limit: 200 });
    expect(items.at(-1)).toMatchObject({ type: "incident-raised" });
  });

  test("refuses a workflow in code, whose replay would diverge", async () => {
    const code: Workflow = function* () {
      yield task("work");
      return {};
    };
    const workflows = new Map([["w", code]]);
    const { engine, commits } = aPlainWorld({ workflows });
    await engine.deploy({ notation: "code", source: "w" });
    await engine.start("w", { instanceId: "i1" });
    const before = commits.length;

    await expect(engine.patchVariables("i1", { variables: { rate: 2 } })).rejects.toMatchObject({
      code: "request/invalid",
    });

    expect(commits.length).toBe(before);
  });
});
