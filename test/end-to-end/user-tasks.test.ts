import { describe, test } from "vitest";
import type { TaskFilter } from "../../lib/client/index.ts";
import {
  assignment,
  boundary,
  end,
  file,
  flow,
  ioMapping,
  person,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { client, countOf, ended, eventually, fresh } from "../support/deployed.ts";

/** A request that a group decides, or after some seconds the boss. */
const request = (id: string, group: string, boss: string, within: string) =>
  file(
    xml(
      "process",
      { id, isExecutable: "true" },
      start(),
      person(
        "approve",
        assignment({ candidateGroups: group }),
        ioMapping(xml("zeebe:output", { source: "=approved", target: "decision" })),
      ),
      boundary("late", "approve", timer("timeDuration", within)),
      person("decide", assignment({ assignee: boss })),
      end(),
      flow("f1", "start", "approve"),
      flow("f2", "approve", "end"),
      flow("f3", "late", "decide"),
      flow("f4", "decide", "end"),
    ),
  );

const taskOf = (filter: TaskFilter) =>
  eventually(`a task ${JSON.stringify(filter)}`, async () => {
    const { items } = await client.tasks(filter);
    return items[0];
  });

describe.concurrent("a deployed user task", () => {
  test("F66: is found by its group, claimed by one user, and completed with its outputs", async ({
    expect,
  }) => {
    const [id, group, boss] = [fresh("people"), fresh("group"), fresh("boss")];
    await client.deploy(request(id, group, boss, "P1D"));
    const { instanceId } = await client.start(id);

    const { taskId, state, requiredOutputs } = await taskOf({ candidateGroup: group });
    await client.claimTask(taskId, { user: "anna" });
    const bert = client.claimTask(taskId, { user: "bert" });
    await expect(bert).rejects.toMatchObject({ status: 409, code: "task/claimed" });
    await client.unclaimTask(taskId, { user: "anna" });
    await client.claimTask(taskId, { user: "bert" });
    const without = client.completeTask(taskId, { user: "bert" });
    await expect(without).rejects.toMatchObject({ status: 409, code: "task/outputs-missing" });
    const done = { user: "bert", variables: { approved: true } };
    await client.completeTask(taskId, done, { idempotencyKey: "once" });
    await client.completeTask(taskId, done, { idempotencyKey: "once" });

    expect({ state, requiredOutputs }).toEqual({ state: "created", requiredOutputs: ["approved"] });
    expect(await ended(instanceId)).toMatchObject({ variables: { decision: true } });
    expect(await countOf(instanceId, "task-assigned", "approve")).toBe(3);
    const gone = client.task(taskId);
    await expect(gone).rejects.toMatchObject({ status: 404, code: "task/not-found" });
    await eventually("the group to have nothing to do", async () => {
      const { items } = await client.tasks({ candidateGroup: group });
      return items.length === 0;
    });
  });

  test("F66: is taken from its assignee by a timer, and then assigned to the boss", async ({
    expect,
  }) => {
    const [id, group, boss] = [fresh("people"), fresh("group"), fresh("boss")];
    await client.deploy(request(id, group, boss, "PT10S"));
    const { instanceId } = await client.start(id);
    const { taskId } = await taskOf({ candidateGroup: group });
    await client.claimTask(taskId, { user: "anna" });

    const hers = await taskOf({ assignee: boss });
    await client.completeTask(hers.taskId, { variables: { decision: false } });

    expect(hers).toMatchObject({ element: "decide", state: "claimed" });
    expect(await ended(instanceId)).toMatchObject({ variables: { decision: false } });
    expect((await client.tasks({ assignee: "anna", instanceId })).items).toEqual([]);
  });
});
