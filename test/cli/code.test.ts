import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedEngine, openEngine, serveEngine } from "../../lib/embedded/index.ts";
import { say } from "./recording-terminal.ts";

describe("fermata, with workflows in code,", () => {
  const folder = mkdtempSync(join(tmpdir(), "fermata-cli-code-"));
  let engine: EmbeddedEngine;
  let server: Awaited<ReturnType<typeof serveEngine>>;

  beforeAll(async () => {
    engine = await openEngine({ dataDir: join(folder, "data") });
    server = await serveEngine(engine, { port: 0, acceptCode: true });
  });

  afterAll(async () => {
    await server.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  const ask = (...args: readonly string[]) =>
    say(args, { environment: { FERMATA_URL: server.url } });

  /** A file with this text after an import of the SDK in its first line. */
  function fileWith(name: string, text: string): string {
    const file = join(folder, name);
    const names = "delay, step, task, workflow";
    writeFileSync(file, `import { ${names} } from "fermata-engine/workflow";\n${text}`);
    return file;
  }

  const WRONG = `import { readFileSync } from "node:fs";
export const pack = step("pack", async () => readFileSync("is fine here"));
export const wrong = workflow("wrong", async (name: string) => {
  await fetch("https://example.org");
  setTimeout(() => {}, 5);
  const home = process.env.HOME ?? readFileSync("home");
  await import(name);
  await Promise.all([delay("1h"), pack()]);
  return [home, new Intl.NumberFormat("de").format(1)];
});
`;
  const FOUND = [
    ["code/node-module", 2],
    ["code/not-in-workflow", 5],
    ["code/not-in-workflow", 6],
    ["code/not-in-workflow", 7],
    ["code/dynamic-import", 8],
    ["code/native-promise", 9],
    ["code/not-in-workflow", 10],
    ["code/step-without-handler", 3],
  ];

  test("refuses one with all of its problems at once, by file and line, with hints", async () => {
    const file = fileWith("wrong.ts", WRONG);

    const deployed = await ask("deploy", file);
    const validated = await ask("validate", file);
    const json = JSON.parse((await ask("validate", file, "--json")).out.join(""));

    expect(deployed).toMatchObject({ exitCode: 1, out: [] });
    expect(validated).toMatchObject({ exitCode: 1, out: deployed.errors, errors: [] });
    expect(deployed.errors).toHaveLength(FOUND.length);
    for (const [code, line] of FOUND) {
      expect(deployed.errors.filter((error) => error.startsWith(`${file}:${line} `))).toEqual([
        expect.stringContaining(`[${code}]`),
      ]);
    }
    expect(json.valid).toBe(false);
    for (const { hint } of json.diagnostics) expect(hint).toMatch(/\w/);
    expect(json.diagnostics).toContainEqual(
      expect.objectContaining({ severity: "warning", code: "code/native-promise", file, line: 9 }),
    );
  });

  test("refuses a clock and chance in module scope together with the rest", async () => {
    const file = fileWith(
      "early.ts",
      `import { hostname } from "node:os";
const started = Date.now();
const drawn = Math.random();
export const early = workflow("early", async () => [started, drawn, hostname()]);`,
    );

    const { exitCode, errors } = await ask("deploy", file);

    expect(exitCode).toBe(1);
    expect(errors.map((line) => /\[(.*)\]$/.exec(line)?.[1])).toEqual([
      "code/node-module",
      "code/clock-at-load",
      "code/chance-at-load",
    ]);
  });

  test("names the line where the second of two workflows has the id of the first", async () => {
    const file = fileWith(
      "same.ts",
      `export const one = workflow("same", async () => 1);
export const two = workflow("same", async () => 2);`,
    );

    const { exitCode, errors } = await ask("deploy", file);

    expect(exitCode).toBe(1);
    expect(errors).toEqual([expect.stringContaining('Two workflows have the id "same".')]);
    expect(errors[0]).toMatch(/\[code\/duplicate-id\]$/);
    expect(errors[0]?.startsWith(`${file}:3 `)).toBe(true);
  });

  test("tells warnings once, of the bundler, the analysis and the server", async () => {
    const file = fileWith(
      "warned.ts",
      `export const pack = step("pack", async () => 1);
export const warned = workflow("warned", async () => Promise.all([pack(), import.meta.url]));`,
    );

    const validated = await ask("validate", file);
    const deployed = await ask("deploy", file);

    const codes = (lines: readonly string[]) =>
      lines.flatMap((line) => /\[(code\/.*)\]$/.exec(line)?.[1] ?? []).toSorted();
    const all = ["code/native-promise", "code/step-without-handler", "code/suspicious"];
    expect(codes(validated.out)).toEqual(all);
    expect(codes(deployed.out)).toEqual(all);
    expect([validated.exitCode, deployed.exitCode]).toEqual([0, 0]);
  });

  test("tells what the bundler and the analysis find where no server can be asked", async () => {
    const file = fileWith("wrong.ts", WRONG);

    const { exitCode, errors } = await say(["deploy", file], {
      environment: { FERMATA_URL: "http://127.0.0.1:9" },
    });

    expect(exitCode).toBe(1);
    expect(errors).toHaveLength(FOUND.length - 1);
  });

  test("R1 starts one without an input, which is undefined then", async () => {
    const file = fileWith(
      "bare.ts",
      'export const bare = workflow("bare", async (x) => typeof x);',
    );
    expect(await ask("deploy", file)).toMatchObject({ exitCode: 0 });

    const bare = await ask("start", "bare", "--id", "bare-1", "--wait", "10");
    const shown = await ask("show", "bare-1");
    const given = await ask("start", "bare", "--wait", "10", "--input", "null");

    expect(bare.exitCode).toBe(0);
    expect(bare.out.join("\n")).toMatch(/result +"undefined"/);
    expect(given.out.join("\n")).toMatch(/result +"object"/);
    expect(shown.out.join("\n")).toMatch(/result +"undefined"/);
    expect(shown.out.join("\n")).not.toMatch(/input/);
  });

  test("D21 shows what a workflow failed with, and in which line", async () => {
    const file = fileWith(
      "broken.ts",
      `export const broken = workflow("broken", async () => {
  throw Object.assign(new TypeError("no such plan"), { code: "NO_PLAN" });
});`,
    );
    await ask("deploy", file);

    const started = await ask("start", "broken", "--id", "b-1", "--wait", "10");
    const shown = await ask("show", "b-1");
    const why = await ask("why", "b-1");

    for (const { out } of [started, shown, why]) {
      expect(out.join("\n")).toMatch(/TypeError \[NO_PLAN\]: no such plan/);
      expect(out.join("\n")).toMatch(/at .*broken\.ts:3:\d+/);
    }
    expect(started.exitCode).toBe(1);
  });

  test("R23 says that an instance keeps its code, where its code caused an incident", async () => {
    const file = fileWith(
      "endless.ts",
      'export const endless = workflow("endless", async () => { for (;;); });',
    );
    await ask("deploy", file);
    await ask("start", "endless", "--id", "e-1");

    const { out } = await ask("why", "e-1");

    expect(out.join("\n")).toMatch(/cancel the instance and start another\.\n +When the cause/);
  });
});
