import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { quickjsSandbox } from "../../lib/adapters/quickjs/sandbox.ts";
import { PACKAGE } from "../../lib/adapters/quickjs/wasm.ts";
import { workerSandbox } from "../../lib/adapters/quickjs/worker-sandbox.ts";
import { sandboxContract } from "./sandbox.contract.ts";

sandboxContract("the sandbox in the thread", quickjsSandbox);
sandboxContract("the sandbox in a worker", workerSandbox);

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
