// What every sandbox must contain, and what the code inside it can rely on. An adapter's test calls
// sandboxContract with a way to open one.

import { afterAll, beforeAll, describe } from "vitest";
import type { Sandbox } from "../../lib/definition/sandbox.ts";
import { determinismContract } from "./sandbox-determinism.contract.ts";
import { escapesContract } from "./sandbox-escapes.contract.ts";
import { lifecycleContract } from "./sandbox-lifecycle.contract.ts";
import { limitsContract } from "./sandbox-limits.contract.ts";
import { pollutionContract } from "./sandbox-pollution.contract.ts";
import { protocolContract } from "./sandbox-protocol.contract.ts";

/** Declares the suite for one adapter; all of it runs in one sandbox, whatever was stopped in it. */
export function sandboxContract(name: string, open: () => Sandbox): void {
  describe(name, () => {
    let opened: Sandbox | undefined;
    beforeAll(() => {
      opened = open();
    });
    afterAll(() => opened?.close());
    const sandbox = (): Sandbox => {
      if (opened === undefined) throw new Error("The sandbox is not open yet.");
      return opened;
    };

    escapesContract(sandbox);
    limitsContract(sandbox);
    pollutionContract(sandbox);
    protocolContract(sandbox);
    determinismContract(sandbox);
    lifecycleContract(sandbox);
  });
}
