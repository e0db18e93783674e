import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FermataProcess } from "./fermata-process.ts";

const SDK = 'import { delay, step, workflow } from "fermata-engine/workflow";\n';
const ORDER = `${SDK}export const order = workflow("order", async () => 1);\n`;

/** `fermata dev` with workflow files, and a way to save others; gone when the test ends. */
function devWith(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "fermata-cli-"));
  const save = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries(files)) save(name, text);
  const data = ["--data", join(folder, "data")];
  const server = new FermataProcess(
    "dev",
    "--port",
    "0",
    "--no-examples",
    ...data,
    "--workflows",
    folder,
  );
  onTestFinished(async () => {
    await server.end("SIGKILL");
    rmSync(folder, { recursive: true });
  });
  return { server, save };
}

describe("fermata dev --workflows", () => {
  test("names a file whose module scope does not end, and goes on where it is saved", async () => {
    const { server, save } = devWith({ "order.ts": ORDER });
    await server.url();

    save("order.ts", `${ORDER}for (;;) {}\n`);
    expect(await server.line(/code\/load-stopped/)).toMatch(/^order\.ts .*endless loop/);

    save("order.ts", ORDER.replace("=> 1", "=> 2"));
    await server.line(/^order version 2 deployed/);
    expect(await server.end()).toBe(0);
  });

  test("does not start with such a file", async () => {
    const { server } = devWith({ "order.ts": `${ORDER}for (;;) {}\n` });

    expect(await server.exitCode()).toBe(1);
    expect(server.errors.join("\n")).toMatch(/order\.ts.*endless loop/);
  });

  test("says that a broken file works again, and warns of no file that has not changed", async () => {
    const warned = `${SDK}export const slow = workflow("slow", () => Promise.race([delay("1s")]));`;
    const { server, save } = devWith({ "order.ts": ORDER, "warned.ts": warned });
    await server.url();
    const isWarning = (line: string) => line.includes("code/native-promise");
    expect(server.lines.filter(isWarning)).toHaveLength(1);

    save("order.ts", "export const = 1;");
    await server.line(/^The saved files cannot be used/);
    save("order.ts", ORDER);
    await server.line(/^The saved files can be used again\.$/);
    save("order.ts", ORDER.replace("=> 1", "=> 2"));
    await server.line(/^order version 2 deployed/);
    expect(server.lines.filter(isWarning)).toHaveLength(1);

    save("warned.ts", warned.replace("1s", "2s"));
    await server.line(/^slow version 2 deployed/);
    expect(await server.end()).toBe(0);
    expect(server.lines.filter(isWarning)).toHaveLength(2);
  });

  test("names the file of what only the engine finds", async () => {
    const many = Array.from(
      { length: 21 },
      (_, n) => `export const w${n} = workflow("w${n}", () => 1);`,
    );
    const { server, save } = devWith({ "order.ts": ORDER });
    await server.url();

    save("many.ts", SDK + many.join("\n"));
    expect(await server.line(/code\/too-many-workflows/)).toMatch(/^many\.ts /);

    save("many.ts", `${SDK}if (!globalThis.console.table) throw new Error("no");\n${many[0]}`);
    expect(await server.line(/code\/load-threw/)).toMatch(/^many\.ts:2 /);
  });
});
