import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type EmbeddedEngine, openEngine, serveEngine } from "../../lib/embedded/index.ts";
import { extensions, file, flow, process, start, xml } from "../support/bpmn-xml.ts";
import { processOf } from "./process-of.ts";
import { say } from "./recording-terminal.ts";

const callOf = (id: string, processId: string) =>
  xml("callActivity", { id }, extensions(xml("zeebe:calledElement", { processId })));

/** Calls another process, and that the next: three deep. */
const calling = (id: string, called: string) =>
  file(process(start(), callOf("call", called), flow("f1", "start", "call"))).replace(
    'id="p"',
    `id="${id}"`,
  );

const callingTwice = file(
  process(
    start(),
    callOf("left", "waiting"),
    callOf("right", "waiting"),
    flow("f1", "start", "left"),
    flow("f2", "start", "right"),
  ),
).replace('id="p"', 'id="twice"');

describe("fermata why, for an instance that has called others,", () => {
  let folder: string;
  let engine: EmbeddedEngine;
  let server: Awaited<ReturnType<typeof serveEngine>>;
  const why = async (...args: readonly string[]) => {
    const { out } = await say(["why", ...args], { environment: { FERMATA_URL: server.url } });
    return out;
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "fermata-cli-"));
    engine = await openEngine({ dataDir: folder });
    server = await serveEngine(engine, { port: 0 });
    await engine.deploy(processOf("waiting", "pay-by-hand"));
    await engine.deploy(calling("middle", "waiting"));
    await engine.deploy(calling("top", "middle"));
    await engine.deploy(callingTwice);
  });

  afterEach(async () => {
    await server.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  /** The child of an instance that has one, once it exists. */
  async function childOf(instanceId: string): Promise<string> {
    await engine.idle();
    const [wait] = (await engine.get(instanceId)).waits;
    return wait?.childInstanceId ?? "";
  }

  test("follows its only child to what that waits for, and shows the command that resumes it", async () => {
    await engine.start("top", { instanceId: "t1" });
    const middle = await childOf("t1");
    const bottom = await childOf(middle);

    const out = await why("t1");

    const { items } = await engine.tasks({ instanceId: bottom });
    expect(out[0]).toMatch(/^t1 is /);
    expect(out[1]).toContain(`call waits for the called process "middle" (${middle})`);
    expect(out[2]).toMatch(new RegExp(`^${middle} is `));
    expect(out[3]).toContain(`call waits for the called process "waiting" (${bottom})`);
    expect(out[4]).toMatch(new RegExp(`^${bottom} is `));
    expect(out.join("\n")).toContain(items[0]?.taskId);
  });

  test("lists two children, and follows neither", async () => {
    await engine.start("twice", { instanceId: "t2" });

    const out = await why("t2");

    expect(out.filter((line) => line.includes("the called process"))).toHaveLength(2);
    expect(out.filter((line) => line.includes(" is "))).toHaveLength(1);
  });

  test("prints only the requested instance as JSON", async () => {
    await engine.start("middle", { instanceId: "m1" });
    const child = await childOf("m1");

    const waits: unknown = JSON.parse((await why("m1", "--json")).join("\n"));

    expect(waits).toMatchObject({ items: [{ kind: "child", childInstanceId: child }] });
  });
});
