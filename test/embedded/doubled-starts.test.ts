import { expect, test } from "vitest";
import { sequence, service } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const source = (note: string) =>
  sequence(service("work")).replace("</process>", `<!-- ${note} --></process>`);

test("two copies of a start that race a deployment run each handler once", async () => {
  const ran = new Map<string, number>();
  const engine = await anEngine({
    clock: "real",
    tasks: {
      work: async (_: unknown, { idempotencyKey, attempt }) => {
        const run = `${idempotencyKey} ${attempt}`;
        ran.set(run, (ran.get(run) ?? 0) + 1);
        return {};
      },
    },
  });
  await engine.deploy(source("first"));

  for (let round = 0; round < 60; round++) {
    const copies = [0, 1, 2].flatMap((n) => {
      const request = { instanceId: `${round}-${n}` };
      return [engine.start("p", request), engine.start("p", request)];
    });
    const others = [0, 1].map((n) => engine.start("p", { instanceId: `${round}-${n}` }));
    await Promise.all([...copies, engine.deploy(source(`round ${round}`)), ...others]);
  }
  await engine.idle();

  expect(ran.size).toBe(180);
  expect([...ran].filter(([, times]) => times > 1)).toEqual([]);
});
