import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PRELUDE, PROTOCOL } from "../../lib/adapters/quickjs/prelude.ts";
import { quickjsSandbox } from "../../lib/adapters/quickjs/sandbox.ts";
import { PACKAGE } from "../../lib/adapters/quickjs/wasm.ts";
import { workerSandbox } from "../../lib/adapters/quickjs/worker-sandbox.ts";
import { sandboxContract } from "./sandbox.contract.ts";

sandboxContract("the sandbox in the thread", quickjsSandbox);
// Budgets must strike, not the deadline, however busy the machine is.
sandboxContract("the sandbox in a worker", () => workerSandbox({ deadlineMs: 120_000 }));

describe("the code of the engine inside a machine", () => {
  /**
   * Workflows are pinned to the name of the sandbox. A change here that makes a replay differ needs
   * another PROTOCOL; one that does not needs another digest here.
   */
  test("changes only on purpose", () => {
    const digest = createHash("sha256").update(PRELUDE).digest("hex").slice(0, 16);

    expect([PROTOCOL, digest]).toEqual([1, "2c870c9d95c3cc4d"]);
  });
});

describe("the engine's name", () => {
  test("has the package that is installed, its build and the protocol", () => {
    const manifest = new URL("../../node_modules/quickjs-wasi/package.json", import.meta.url);
    const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));

    expect(PACKAGE).toBe(`${name}@${version}`);
    expect(quickjsSandbox().engine).toMatch(/^quickjs-wasi@\d+\.\d+\.\d+#[0-9a-f]{16}\/1$/);
    expect(quickjsSandbox().engine.startsWith(`${PACKAGE}#`)).toBe(true);
    expect(workerSandbox().engine).toBe(quickjsSandbox().engine);
  });
});
