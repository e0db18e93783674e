import {
  GetFunctionConfigurationCommand,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from "@aws-sdk/client-lambda";
import { describe, expect, onTestFinished, test } from "vitest";
import { VARIABLES } from "../../functions/settings.ts";
import { end, file, flow, start, xml } from "../support/bpmn-xml.ts";
import {
  aProcess,
  chain,
  client,
  countOf,
  ended,
  eventually,
  fresh,
  task,
  waiting,
} from "../support/deployed.ts";
import {
  depthOf,
  hidingFor,
  lambda,
  output,
  readerOf,
  redrive,
} from "../support/deployed-queues.ts";

describe("a deployed workflow whose function is killed in the middle of a task", () => {
  test("continues when the queue redelivers the task", async () => {
    await hidingFor(3, output("TasksQueueUrl"));
    const id = fresh("killed");
    await client.deploy(chain(id, [task("die-once"), task("ship")]));

    const { instanceId } = await client.start(id);

    expect(await ended(instanceId)).toMatchObject({ variables: { died: true, shipped: true } });
    expect(await countOf(instanceId, "task-completed", "die-once")).toBe(1);
  });

  test("continues when several steps were taken in one invocation", async () => {
    await hidingFor(3, output("TasksQueueUrl"));
    const id = fresh("killed-in-place");
    const steps = [task("reserve"), task("die-once"), task("ship")];
    await client.deploy(chain(id, steps));

    const { instanceId } = await client.start(id);

    expect(await ended(instanceId)).toMatchObject({ variables: { died: true, shipped: true } });
    for (const element of ["reserve", "die-once", "ship"]) {
      expect([element, await countOf(instanceId, "task-completed", element)]).toEqual([element, 1]);
    }
  });

  test("gets an incident when the crashes do not end, and continues when it is resolved", async () => {
    await hidingFor(1, output("TasksQueueUrl"));
    const id = fresh("poison");
    await client.deploy(chain(id, [task("die-always", "die-always", "1"), task("ship")]));

    const { instanceId } = await client.start(id);
    const { incidentId = "" } = await waiting(instanceId, "incident");
    await client.resolveIncident(instanceId, incidentId, { variables: { mayLive: true } });

    expect(await ended(instanceId)).toMatchObject({ variables: { lived: true, shipped: true } });
    expect(await depthOf(output("TasksDeadLettersUrl"))).toBe(0);
  });
});

describe("a function that fails for some time", () => {
  test("leaves its messages in the dead-letter queue, and a redrive processes them", async () => {
    const [steps, dead] = [output("StepsQueueUrl"), output("StepsDeadLettersUrl")];
    expect(await depthOf(dead)).toBe(0); // no other test has left anything there
    await hidingFor(1, steps);
    const id = fresh("redriven");
    await client.deploy(fork(id));
    const repair = await broken(await readerOf(steps));

    const { instanceId } = await client.start(id);
    await eventually("a dead letter", async () => (await depthOf(dead)) === 1);
    const before = await client.get(instanceId);
    await repair();
    const moved = await redrive(dead, steps);

    expect(before.completedElements).not.toContain("reserve");
    expect(moved).toBe(1);
    expect(await ended(instanceId)).toMatchObject({ variables: { reserved: true, shipped: true } });
  });
});

/** Two tasks side by side: their start owes two messages, so it is parked until they are sent. */
function fork(id: string): string {
  return file(
    aProcess(
      id,
      start(),
      xml("parallelGateway", { id: "fork" }),
      task("reserve"),
      task("ship"),
      xml("parallelGateway", { id: "join" }),
      end(),
      flow("f1", "start", "fork"),
      flow("f2", "fork", "reserve"),
      flow("f3", "fork", "ship"),
      flow("f4", "reserve", "join"),
      flow("f5", "ship", "join"),
      flow("f6", "join", "end"),
    ),
  );
}

/** Gives a function a table that does not exist, as a bad deployment might, until it is repaired. */
async function broken(name: string): Promise<() => Promise<void>> {
  const { Environment } = await lambda.send(
    new GetFunctionConfigurationCommand({ FunctionName: name }),
  );
  const usual = Environment?.Variables ?? {};
  const repair = () => configure(name, usual);
  onTestFinished(repair);
  await configure(name, { ...usual, [VARIABLES.table]: "no-such-table" });
  return repair;
}

async function configure(name: string, variables: Record<string, string>): Promise<void> {
  await lambda.send(
    new UpdateFunctionConfigurationCommand({
      FunctionName: name,
      Environment: { Variables: variables },
    }),
  );
  await waitUntilFunctionUpdatedV2({ client: lambda, maxWaitTime: 60 }, { FunctionName: name });
}
