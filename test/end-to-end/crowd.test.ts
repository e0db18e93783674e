import { describe, expect, test } from "vitest";
import { aSignal, catching, onSignal } from "../support/bpmn-xml.ts";
import { chain, client, ended, eventually, fresh, receiptOf, task } from "../support/deployed.ts";

const CROWD = 1_000;
/** Starts under way at once. */
const HANDS = 12;

describe("a signal to a crowd", () => {
  test(`F33 reaches ${CROWD} that wait, each once, and its receipt counts them`, async () => {
    const [id, name] = [fresh("crowd"), fresh("opened")];
    const gate = chain(id, [catching("told", onSignal("s")), task("ship")], aSignal("s", name));
    await client.deploy(gate);
    const crowd = await startMany(id, CROWD);
    const all = async (status: "suspended" | "succeeded") =>
      (await count({ definition: id, status })) === CROWD;
    await eventually(
      "all to wait",
      async () => (await none(id, "running")) && all("suspended"),
      300_000,
    );

    const { broadcastId } = await client.signal({ name, payload: { door: 7 } });

    const receipt = await receiptOf(broadcastId);
    expect(receipt).toMatchObject({ matched: CROWD, delivered: CROWD, skipped: 0, failed: [] });
    for (const instanceId of sample(crowd, 20)) {
      expect(await ended(instanceId)).toMatchObject({ variables: { door: 7, shipped: true } });
    }
    await eventually(
      "all to end",
      async () => (await none(id, "suspended", "running")) && all("succeeded"),
      300_000,
    );
  }, 900_000);
});

async function startMany(id: string, count: number): Promise<readonly string[]> {
  const started: string[] = [];
  let begun = 0;
  const hand = async () => {
    while (begun++ < count) {
      const instanceId = fresh("one");
      await eventually("a start", () => client.start(id, { instanceId }));
      started.push(instanceId);
    }
  };
  await Promise.all(Array.from({ length: HANDS }, hand));
  return started;
}

/** Whether none is left like this: the first row tells, and those at work are not held up by the looks. */
async function none(definition: string, ...statuses: readonly ("running" | "suspended")[]) {
  for (const status of statuses) {
    const { items } = await client.list({ definition, status, limit: 1 });
    if (items.length > 0) return false;
  }
  return true;
}

async function count(
  filter: Readonly<{ definition: string; status: "suspended" | "succeeded" }>,
): Promise<number> {
  let counted = 0;
  let cursor: string | undefined;
  do {
    const page = await client.list({ ...filter, limit: 200, ...(cursor && { cursor }) });
    counted += page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined && counted <= CROWD);
  return counted;
}

/** Some of them, spread evenly. */
const sample = (all: readonly string[], count: number): readonly string[] =>
  all.filter((_, n) => n % Math.ceil(all.length / count) === 0);
