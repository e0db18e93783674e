import { expect, test } from "vitest";
import { anEngineWith, run } from "../../support/workflow-files.ts";

const GOT = "const got = async (name: string) => event(name);";

/** What a workflow still waits for after the timer of its race has won. */
async function openAfter(race: string): Promise<readonly string[]> {
  const engine = await anEngineWith(`${GOT} ${race} await event("go");`);
  const { instanceId } = await run(engine);
  await engine.advanceClock("PT1S");
  const { waits } = await engine.get(instanceId);
  return waits.map(({ element = "" }) => element);
}

test.each([
  'await race({ x: got("x"), late: delay("1s") });',
  'await race([...["x", "y"].map(got), delay("1s")]);',
  'await race([event("x").then(() => 1), delay("1s")]);',
  'const x = event("x"); x.catch(() => {}); await race([x, delay("1s")]);',
])("what loses is disarmed in %s", async (race) => {
  expect(await openAfter(race)).toEqual(["event:go"]);
});

test.each([
  'const x = got("x"); await race({ x, late: delay("1s") });',
  'const members = { x: got("x"), late: delay("1s") }; await race(members);',
  'const x = event("x").then(() => 1); await race([x, delay("1s")]);',
  'await Promise.race([event("x"), delay("1s")]);',
])("what loses goes on in %s", async (race) => {
  expect(await openAfter(race)).toEqual(["event:x", "event:go"]);
});

test("the error of an async function that is not awaited is discarded", async () => {
  const engine = await anEngineWith(
    `void (async () => { await delay("1s"); throw new Error("lost"); })();
     await delay("2s");
     return "undisturbed";`,
  );
  const { instanceId } = await run(engine);

  await engine.advanceClock("PT2S");

  expect(await engine.get(instanceId)).toMatchObject({
    status: "succeeded",
    result: "undisturbed",
  });
});
