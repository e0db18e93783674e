import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

const APP = `
import { App, Stack } from "aws-cdk-lib";
import { Fermata } from "fermata-engine/cdk";
const stack = new Stack(new App(), "Shop");
new Fermata(stack, "Workflows", { tasks: { folders: "tasks" } });
`;

const TASK = `
import { greeting } from "greeting";
export default { run: ({ name }) => ({ text: greeting(name) }), timeout: "PT1M", exclusive: true };
`;

// The package as npm packs it, in another project that has the peers and a package of its own.
// Installing would fetch hundreds of megabytes that are here already: they are linked.
describe("the published package in another CDK app", () => {
  const folder = mkdtempSync(join(tmpdir(), "fermata-foreign-"));
  const out = join(folder, "cdk.out");

  beforeAll(async () => {
    await installPacked(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(folder, "app.mjs"), APP);
    mkdirSync(join(folder, "tasks"));
    writeFileSync(join(folder, "tasks", "greet.ts"), TASK);
    write(folder, "node_modules/greeting/package.json", '{"type":"module","main":"index.js"}');
    write(
      folder,
      "node_modules/greeting/index.js",
      "export const greeting = (name) => ['Hello', name].join(' ');",
    );
    await run(process.execPath, ["app.mjs"], {
      cwd: folder,
      env: { ...process.env, CDK_OUTDIR: out },
    });
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("synthesises an installation", () => {
    const { Resources } = JSON.parse(readFileSync(join(out, "Shop.template.json"), "utf8"));

    const types: readonly string[] = Object.values<{ Type: string }>(Resources).map(
      ({ Type }) => Type,
    );
    expect(types.filter((type) => type === "AWS::Lambda::Function")).toHaveLength(9);
  });

  test("deploys the user's tasks with their settings, and what they import", async () => {
    const assets = readdirSync(out).filter((name) => name.startsWith("asset."));
    const withTasks = assets.filter((name) => readdirSync(join(out, name)).includes("tasks.mjs"));

    expect(withTasks).toHaveLength(1);
    const asset = join(out, withTasks[0] ?? "");
    expect(JSON.parse(readFileSync(join(asset, "tasks.json"), "utf8"))).toEqual({
      greet: { timeoutMs: 60_000, isolate: false, exclusive: true },
    });
    const { default: byType } = await import(join(asset, "tasks.mjs"));
    expect(byType.greet.run({ name: "Ada" })).toEqual({ text: "Hello Ada" });
  });

  test("deploys the functions as they were published", () => {
    const published = join(folder, "node_modules/fermata-engine/dist/functions");

    for (const name of ["advance", "compile", "http-api"]) {
      const code = readFileSync(join(published, name, "index.mjs"));
      const deployed = readdirSync(out)
        .filter((asset) => asset.startsWith("asset."))
        .filter((asset) => readdirSync(join(out, asset)).includes("index.mjs"))
        .some((asset) => readFileSync(join(out, asset, "index.mjs")).equals(code));
      expect([name, deployed]).toEqual([name, true]);
    }
  });
});

/** Packs this package, which builds it, and lays it out as an install would. */
async function installPacked(folder: string): Promise<void> {
  const { stdout } = await run(
    "npm",
    ["pack", "--loglevel=error", `--pack-destination=${folder}`],
    {
      cwd: ROOT,
    },
  );
  const tarball = join(folder, stdout.trim().split("\n").at(-1) ?? "");
  const home = join(folder, "node_modules", "fermata-engine");
  mkdirSync(home, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", home]);
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(home, "package.json"), "utf8"),
  );
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link);
  }
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
