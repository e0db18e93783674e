import { describe, expect, test } from "vitest";
import {
  end,
  file,
  flow,
  process,
  sequence,
  service,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const source = sequence(service("work"));

describe("deploying", () => {
  test("F1 creates version 1, a changed source version 2, an identical one the same version again", async () => {
    const engine = await anEngine();

    const first = await engine.deploy(source);
    const again = await engine.deploy(source);
    const changed = await engine.deploy(source.replaceAll("work", "labour"));

    expect(first).toMatchObject({ created: true, definitions: [{ id: "p", version: 1 }] });
    expect(again).toEqual({ ...first, created: false });
    expect(changed).toMatchObject({ created: true, definitions: [{ id: "p", version: 2 }] });
  });

  test.each([
    ["malformed XML", "<definitions", undefined],
    ["a missing id", sequence(service("work")).replace('id="work"', 'id=""'), undefined],
    ["a dangling flow", sequence(service("work"), flow("f9", "work", "nowhere")), "f9"],
    ["an unsupported element", sequence(xml("callActivity", { id: "call" })), "call"],
    [
      "bad timer text",
      sequence(xml("intermediateCatchEvent", { id: "wait" }, timer("timeDuration", "PT1.5H"))),
      "wait",
    ],
  ])("F1 refuses %s by name and stores nothing", async (_, broken, element) => {
    const engine = await anEngine();

    const deployed = engine.deploy(broken);

    await expect(deployed).rejects.toMatchObject({
      code: "definition/invalid",
      details: expect.arrayContaining([
        expect.objectContaining({
          severity: "error",
          hint: expect.any(String),
          ...(element !== undefined && { element }),
        }),
      ]),
    });
    expect(await engine.definitions()).toEqual({ items: [] });
  });

  test("F1 reports every problem of a file at once", async () => {
    const engine = await anEngine();
    const broken = file(
      process(
        start(),
        xml("serviceTask", { id: "typeless" }),
        xml("intermediateCatchEvent", { id: "wait" }, timer("timeDuration", "soon")),
        end(),
        flow("f1", "start", "typeless"),
        flow("f2", "typeless", "wait"),
        flow("f3", "wait", "end"),
        flow("f4", "end", "ghost"),
      ),
    );

    const { diagnostics, valid } = await engine.validate({ notation: "bpmn", source: broken });

    expect(valid).toBe(false);
    expect(diagnostics.map(({ element }) => element)).toEqual(
      expect.arrayContaining(["typeless", "wait", "f4"]),
    );
  });

  test("keeps the source as it was sent, per version", async () => {
    const engine = await anEngine({ source });

    expect(await engine.source("p", 1)).toEqual({ notation: "bpmn", text: source });
    await expect(engine.source("p", 2)).rejects.toMatchObject({ code: "definition/not-found" });
  });
});

describe("a disabled definition", () => {
  test("F2 F4 refuses starts, lets running instances continue, and can be enabled again", async () => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");

    await engine.disable("p");
    const refused = engine.start("p");

    await expect(refused).rejects.toMatchObject({ code: "definition/disabled" });
    const [task] = (await engine.tasks({ instanceId })).items;
    await engine.complete(task?.taskId ?? "");
    expect((await engine.get(instanceId)).status).toBe("succeeded");
    expect((await engine.enable("p")).enabled).toBe(true);
    expect((await engine.enable("p")).enabled).toBe(true);
    expect((await engine.start("p")).status).toBe("suspended");
  });

  test("F4 stays disabled when a changed source is deployed", async () => {
    const engine = await anEngine({ source });
    await engine.disable("p");

    await engine.deploy(source.replaceAll("work", "labour"));

    expect(await engine.definition("p")).toMatchObject({ version: 2, enabled: false });
  });
});

describe("undeploying", () => {
  test("hides the definition and lets running instances finish on their version", async () => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");

    expect(await engine.undeploy("p")).toEqual({ undeployed: true });

    await expect(engine.start("p")).rejects.toMatchObject({ code: "definition/not-found" });
    await expect(engine.undeploy("p")).rejects.toMatchObject({ code: "definition/not-found" });
    expect(await engine.definitions()).toEqual({ items: [] });
    expect((await engine.list()).items).toHaveLength(1);
    const [task] = (await engine.tasks()).items;
    await engine.complete(task?.taskId ?? "");
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("and deploying the same source again restores the same version", async () => {
    const engine = await anEngine({ source });
    await engine.undeploy("p");

    const again = await engine.deploy(source);

    expect(again).toMatchObject({ created: true, definitions: [{ version: 1 }] });
    expect((await engine.start("p")).definition.version).toBe(1);
  });
});

describe("a redeploy", () => {
  test("F5 leaves running instances on their version, and new ones start on the latest", async () => {
    const engine = await anEngine({ source });
    const old = await engine.start("p");

    await engine.deploy(source.replaceAll("work", "labour"));
    const fresh = await engine.start("p");
    const pinned = await engine.start("p", { version: 1 });

    expect((await engine.get(old.instanceId)).definition.version).toBe(1);
    expect(fresh.definition.version).toBe(2);
    expect(pinned.definition.version).toBe(1);
  });
});
