import { describe, expect, test } from "vitest";
import { damageChunk } from "../../support/damage.ts";
import { aDataDir } from "../../support/embedded.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

/** Its first outcomes leave the instance long before it waits. */
const BODY = `let sum = 0;
  for (let n = 0; n < 30; n++) sum += (await task("write", n)).length;
  await event("go");
  return sum;`;
const tasks = { write: (n: number) => `${n} `.repeat(60) };

const edited = (from: string, to: string) => (body: Uint8Array) => {
  const text = new TextDecoder().decode(body);
  if (!text.includes(from)) throw new Error(`The chunk has no ${from}.`);
  return new TextEncoder().encode(text.replace(from, to));
};

describe("a workflow in code of which a part of the journal has left the instance", () => {
  test("D2 is replayed with that part after a restart", async () => {
    const dataDir = aDataDir();
    const before = await anEngineWith(BODY, { dataDir, tasks });
    const { instanceId: target } = await run(before);
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(BODY, { dataDir, tasks });
    await engine.event({ name: "go", target });

    const length = (n: number) => `${n} `.repeat(60).length;
    const sum = Array.from({ length: 30 }, (_, n) => length(n)).reduce((a, b) => a + b);
    expect((await engine.get(target)).result).toBe(sum);
  });

  /** Damages that part of one of two instances; both are sent the event that they wait for. */
  async function damaged(change: Parameters<typeof damageChunk>[2]) {
    const dataDir = aDataDir();
    const before = await anEngineWith(BODY, { dataDir, tasks });
    const [{ instanceId: bad }, { instanceId: good }] = [await run(before), await run(before)];
    await before.close({ graceMs: 0 });
    await damageChunk(dataDir, bad, change);
    const engine = await anEngineWith(BODY, { dataDir, tasks });
    const send = (target: string) => engine.event({ name: "go", target });
    const [sent] = await Promise.allSettled([send(bad), send(good)]);
    await engine.idle();
    return { sent, bad: await engine.get(bad), good: await engine.get(good) };
  }

  test.each<[string, Parameters<typeof damageChunk>[2], string, RegExp]>([
    ["is gone", () => undefined, "UNKNOWN", /part of the journal .* is not stored/],
    ["has another outcome", edited("0 0 0", "0 1 0"), "NON_DETERMINISM", /digest/],
    [
      "has the outcome of another operation",
      edited('["write","0', '["erase","0'),
      "NON_DETERMINISM",
      /Entry 1 .* operation 1, erase; the workflow has write there/,
    ],
  ])(
    "D18 R17 gets an incident when that part %s, and the others go on",
    async (_, change, type, message) => {
      const { bad, good } = await damaged(change);

      expect(bad).toMatchObject({
        status: "suspended",
        incidents: [{ type, message: expect.stringMatching(message) }],
      });
      expect(good.status).toBe("succeeded");
    },
  );

  test("R17 is left as it is when that part cannot be read, and the others go on", async () => {
    const { sent, bad, good } = await damaged((body) => body.slice(0, 40));

    expect(sent).toMatchObject({ status: "rejected", reason: { code: "store/corrupt" } });
    expect(bad).toMatchObject({ status: "suspended", incidents: [] });
    expect(good.status).toBe("succeeded");
  });
});
