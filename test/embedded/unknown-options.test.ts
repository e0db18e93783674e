import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { awsSigner } from "../../lib/client/aws/index.ts";
import { createClient, worker } from "../../lib/client/index.ts";
import { openEngine, serveEngine } from "../../lib/embedded/index.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

/** Plain JavaScript may pass anything, whatever the types say. */
const misspelt = (options: object, name: string) => ({ ...options, [name]: 1 });

describe("an unknown option", () => {
  test("is refused by openEngine with its name, before anything is opened", async () => {
    const dataDir = join(aDataDir(), "new");

    await expect(openEngine(misspelt({ dataDir }, "concurency") as never)).rejects.toMatchObject({
      code: "engine/misconfigured",
      message: expect.stringMatching(/"concurency" is not known.*there are dataDir, clock/),
    });
    const http = misspelt({}, "allowHost");
    await expect(openEngine({ dataDir, http } as never)).rejects.toMatchObject({
      code: "engine/misconfigured",
      message: expect.stringMatching(/"allowHost" is not known.*allowHosts/),
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  test.each([
    5,
    null,
    [null],
    {},
    new URL("https://example.com/workflows"),
    "file://host/workflows",
  ])("is refused by openEngine as a folder: %s", async (workflows) => {
    const dataDir = join(aDataDir(), "new");

    await expect(openEngine({ dataDir, workflows } as never)).rejects.toMatchObject({
      code: "engine/misconfigured",
      message: expect.stringMatching(/A folder or file was expected/),
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  test.each([5, null, true])("is refused by openEngine as handlers: %j", async (tasks) => {
    const dataDir = join(aDataDir(), "new");

    await expect(openEngine({ dataDir, tasks } as never)).rejects.toMatchObject({
      code: "engine/misconfigured",
      message: expect.stringMatching(/Task handlers were expected, and this is (a \w+|null)/),
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  test("is refused by serveEngine", async () => {
    const engine = await anEngine();

    expect(() => serveEngine(engine, misspelt({ port: 0 }, "tokn") as never)).toThrow(/"tokn"/);
  });

  test("is refused by the client, the worker and the signer", () => {
    const client = createClient({ baseUrl: "http://127.0.0.1:1" });

    expect(() =>
      createClient(misspelt({ baseUrl: "http://127.0.0.1:1" }, "tokn") as never),
    ).toThrow('createClient has no option "tokn"; there are baseUrl, token, sign, fetch.');
    expect(() => worker("t", () => ({}), misspelt({ client }, "lockSecs") as never)).toThrow(
      'worker has no option "lockSecs"',
    );
    expect(() => awsSigner(misspelt({}, "regoin") as never)).toThrow(
      'awsSigner has no option "regoin"',
    );
  });

  test("that is undefined is ignored", async () => {
    const engine = await anEngine({ ["concurency" as "concurrency"]: undefined as never });

    expect((await engine.definitions()).items).toEqual([]);
  });
});
