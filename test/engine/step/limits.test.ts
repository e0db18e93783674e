import { describe, expect, test } from "vitest";
import {
  MAX_OPEN_TASKS_BEFORE_PARKING,
  MAX_REMEMBERED_REQUESTS,
  MAX_STEPS_IN_PLACE,
  PART_BYTES,
} from "../../../lib/definition/limits.ts";
import {
  end,
  extensions,
  file,
  flow,
  job,
  process,
  sequence,
  start,
  xml,
} from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const names = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`);
const task = (id: string, type = "step") => xml("serviceTask", { id }, extensions(job(type)));

const chainOf = (length: number) => {
  const ids = names(length);
  const flows = ["start", ...ids].map((id, n) => flow(`f${n}`, id, ids[n] ?? "end"));
  return file(process(start(), ...ids.map((id) => task(id)), end(), ...flows));
};
const forkOf = (width: number) => {
  const ids = names(width);
  return file(
    process(
      start(),
      ...ids.map((id) => task(id)),
      ...ids.map((id) => flow(`f-${id}`, "start", id)),
    ),
  );
};

async function aStarted(source: string) {
  const world = aPlainWorld({ tasks: { step: () => ({}) } });
  await world.engine.deploy({ notation: "bpmn", source });
  const { instanceId } = await world.engine.start("p");
  return { world, instanceId };
}

/** Handles the first queued message alone, and returns what is queued then. */
async function handleFirst(world: ReturnType<typeof aPlainWorld>) {
  const [message] = world.queued.splice(0, 1);
  if (message === undefined) throw new Error("nothing is queued");
  const until = (world.now() + 900_000) as ReturnType<typeof world.now>;
  await world.engine.handle(message, { id: "first", until, mayContinue: true });
  return world.queued.map(({ kind }) => kind);
}

describe("an invocation", () => {
  test("takes as many steps in place as the limit allows", async () => {
    const { world, instanceId } = await aStarted(chainOf(MAX_STEPS_IN_PLACE));

    expect(await handleFirst(world)).toEqual([]);
    expect((await world.engine.get(instanceId)).status).toBe("succeeded");
  });

  test("sends the first step beyond the limit to the queue", async () => {
    const { world, instanceId } = await aStarted(chainOf(MAX_STEPS_IN_PLACE + 1));

    expect(await handleFirst(world)).toEqual(["task"]);
    await world.drain();
    expect((await world.engine.get(instanceId)).status).toBe("succeeded");
  });
});

describe("an outcome", () => {
  test.each([
    [MAX_OPEN_TASKS_BEFORE_PARKING, "committed at once", false],
    [MAX_OPEN_TASKS_BEFORE_PARKING + 1, "parked", true],
  ])("among %d open tasks is %s", async (width, _, isParked) => {
    const { world, instanceId } = await aStarted(forkOf(width));
    await handleFirst(world); // the parked start sends its tasks
    world.commits.length = 0;

    const queued = await handleFirst(world);

    expect(queued.includes("parked")).toBe(isParked);
    expect(world.commits).toHaveLength(isParked ? 0 : 1);
    await world.drain();
    expect((await world.engine.get(instanceId)).status).toBe("succeeded");
  });
});

describe("an instance", () => {
  test("remembers the recent requests, and no more than its limit", async () => {
    const world = aPlainWorld();
    const count = MAX_REMEMBERED_REQUESTS + 1;
    const ids = names(count);
    const flows = ["start", ...ids].map((id, n) => flow(`f${n}`, id, ids[n] ?? "end"));
    const tasks = ids.map((id) => task(id, "outside"));
    const source = file(process(start(), ...tasks, end(), ...flows));
    await world.engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await world.engine.start("p");

    const taskIds: string[] = [];
    for (let n = 0; n < count; n++) {
      const { items } = await world.engine.tasks({ instanceId }, { limit: 1 });
      taskIds.push(items[0]?.taskId ?? "");
      await world.engine.completeTask(items[0]?.taskId ?? "", {}, `key-${n}`);
      await world.drain();
    }

    expect(world.commits.at(-1)?.ring).toHaveLength(MAX_REMEMBERED_REQUESTS);
    const newest = world.engine.completeTask(taskIds.at(-1) ?? "", {}, `key-${count - 1}`);
    await expect(newest).resolves.toEqual({ completed: true });
    const forgotten = world.engine.completeTask(taskIds[0] ?? "", {}, "key-0");
    await expect(forgotten).rejects.toMatchObject({ code: "task/not-found" });
  });
});

describe("a source", () => {
  test.each([
    ["in one part", PART_BYTES],
    ["in two", PART_BYTES + 1],
  ])("is returned as it was sent, stored %s", async (_, bytes) => {
    const world = aPlainWorld();
    const bare = sequence(task("t0"));
    const source = `${bare}<!--${"x".repeat(bytes - bare.length - "<!---->".length)}-->`;

    await world.engine.deploy({ notation: "bpmn", source });

    expect(source).toHaveLength(bytes);
    expect((await world.engine.source("p", 1)).text).toBe(source);
  });
});
