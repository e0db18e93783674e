import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test as plain } from "vitest";
import type { EmbeddedEngine, Reload } from "../../lib/embedded/index.ts";
import { openEngine } from "../../lib/embedded/index.ts";
import { aDataDir } from "../support/embedded.ts";

const ORDER = `
import { step, workflow } from "fermata-engine/workflow";
import { rate } from "../prices/rate.ts";
export const charge = step("charge", async (n: number) => n * rate);
export const order = workflow("order", async (n: number) => ({ total: await charge(n) }));
`;

type Watched = Readonly<{
  engine: EmbeddedEngine;
  save(path: string, text: string): void;
  remove(path: string): void;
  /** The next report of the watch. */
  next(): Promise<Reload>;
  total(): Promise<unknown>;
}>;

const test = (name: string, body: (watched: Watched) => Promise<void>) =>
  plain(name, async () => body(await watched()));

async function watched(): Promise<Watched> {
  const folder = aDataDir();
  const save = (path: string, text: string) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  save("workflows/order.ts", ORDER);
  save("prices/rate.ts", "export const rate = 2;");
  save("tasks/plain.ts", "export default () => ({ plain: 1 });");
  const reloads: Reload[] = [];
  const waiting: ((reload: Reload) => void)[] = [];
  const engine = await openEngine({
    dataDir: join(folder, "data"),
    workflows: join(folder, "workflows"),
    tasks: [join(folder, "tasks")],
    onReload: (reload) => {
      const resolve = waiting.shift();
      if (resolve) resolve(reload);
      else reloads.push(reload);
    },
  });
  onTestFinished(() => engine.close({ graceMs: 100 }));
  return {
    engine,
    save,
    remove: (path) => rmSync(join(folder, path)),
    next: async () => reloads.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    total: async () => {
      const { instanceId } = await engine.start("order", { input: 10 });
      return (await engine.result(instanceId)).result;
    },
  };
}

test("a saved workflow is a new version at once", async ({ save, next, total }) => {
  expect(await total()).toEqual({ total: 20 });
  const savedAt = performance.now();
  save("workflows/order.ts", ORDER.replace("{ total:", "{ version: 2, total:"));

  expect(await next()).toMatchObject({
    kind: "reloaded",
    deployed: [{ id: "order", version: 2 }],
    removed: [],
  });
  expect(performance.now() - savedAt).toBeLessThan(5_000);
  expect(await total()).toEqual({ version: 2, total: 20 });
});

test("a saved file that only a step uses replaces the handler", async ({ save, next, total }) => {
  save("prices/rate.ts", "export const rate = 3;");

  expect(await next()).toMatchObject({ kind: "reloaded", deployed: [], handlers: ["charge"] });
  expect(await total()).toEqual({ total: 30 });
});

test("a broken save keeps everything, and shows all problems until it is fixed", async (it) => {
  it.save("prices/rate.ts", "export const rate = ;");
  it.save("workflows/other.ts", `import "./none.ts";`);

  const refused = await it.next();
  expect(refused).toMatchObject({ kind: "refused" });
  const codes = refused.kind === "refused" ? refused.diagnostics.map(({ code }) => code) : [];
  expect(codes.toSorted()).toEqual(["code/syntax", "code/unresolved-import"]);
  expect(await it.total()).toEqual({ total: 20 });

  it.save("prices/rate.ts", "export const rate = 4;");
  it.save("workflows/none.ts", "export const nothing = 1;");
  let fixed = await it.next();
  while (fixed.kind === "refused") fixed = await it.next();
  expect(fixed).toMatchObject({ kind: "reloaded", handlers: ["charge"] });
  expect(await it.total()).toEqual({ total: 40 });
});

test("a workflow that the engine refuses changes nothing", async ({ save, next, total }) => {
  save("workflows/order.ts", `${ORDER.replace("n * rate", "0")}\nsetTimeout(() => {}, 1);`);

  expect(await next()).toMatchObject({
    kind: "refused",
    diagnostics: [{ code: "code/not-in-workflow", line: 7 }],
  });
  expect(await total()).toEqual({ total: 20 });
});

test("a saved file whose module scope does not end never runs here", async (it) => {
  // On the host it would end, and leave a trace.
  it.save("workflows/order.ts", `${ORDER}\nwhile (!globalThis.process); globalThis.hasRun = true;`);

  const refused = await it.next();
  expect(refused).toMatchObject({ kind: "refused" });
  expect(refused.kind === "refused" && refused.diagnostics).toContainEqual(
    expect.objectContaining({
      code: "code/load-stopped",
      file: expect.stringMatching(/order\.ts$/),
    }),
  );
  expect(globalThis).not.toHaveProperty("hasRun");
  expect(await it.total()).toEqual({ total: 20 });
});

test("a workflow that only the sandbox refuses changes nothing either", async (it) => {
  const text = "import.meta.url === undefined";
  it.save("workflows/order.ts", `${ORDER}\nif (${text}) throw new Error("only there");`);

  expect(await it.next()).toMatchObject({
    kind: "refused",
    diagnostics: expect.arrayContaining([expect.objectContaining({ code: "code/load-threw" })]),
  });
  expect(await it.total()).toEqual({ total: 20 });
});

test("a new file is deployed, and a removed one stays deployed", async ({ engine, ...it }) => {
  it.save("workflows/new.ts", ORDER.replace('"order"', '"new"').replace('"charge"', '"pay"'));
  expect(await it.next()).toMatchObject({
    kind: "reloaded",
    deployed: [{ id: "new", version: 1 }],
    handlers: ["pay"],
  });

  it.remove("workflows/new.ts");
  const removed = await it.next();
  expect(removed).toMatchObject({ kind: "reloaded", deployed: [], handlers: [] });
  expect(removed.kind === "reloaded" && removed.removed).toEqual([
    expect.stringMatching(/workflows.new\.ts$/),
  ]);
  const { instanceId } = await engine.start("new", { input: 1 });
  expect(await engine.result(instanceId)).toMatchObject({ result: { total: 2 } });
});

test("steps in the folder of tasks are reloaded, too", async ({ save, next, total }) => {
  save(
    "tasks/more.ts",
    `import { step } from "fermata-engine/workflow"; export const b = step("b", () => 1);`,
  );
  expect(await next()).toMatchObject({ kind: "reloaded", handlers: ["b"] });

  save(
    "tasks/more.ts",
    `import { step } from "fermata-engine/workflow"; export const b = step("charge", () => 1);`,
  );
  expect(await next()).toMatchObject({
    kind: "refused",
    diagnostics: [
      {
        code: "tasks/handler-unusable",
        message: expect.stringMatching(/"charge" has two handlers.*more\.ts.*order\.ts/),
      },
    ],
  });
  expect(await total()).toEqual({ total: 20 });
});

test("a second file with the id of a workflow is refused, with the reason", async ({
  save,
  next,
}) => {
  save(
    "workflows/twin.ts",
    ORDER.replace("charge = step", "other = step").replaceAll("charge", "other"),
  );

  expect(await next()).toMatchObject({
    kind: "refused",
    diagnostics: [{ message: expect.stringMatching(/Two files export the workflow "order"/) }],
  });
});
