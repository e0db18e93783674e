import { describe, expect, test } from "vitest";
import { SimulatedClock, SimulatedTime } from "../../../lib/adapters/simulated/clock.ts";
import { SimulatedTasks } from "../../../lib/adapters/simulated/tasks.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { unsentBy } from "../../../lib/engine/step/owed.ts";
import { aCode } from "../../support/code-workflow.ts";
import { play } from "../../support/play.ts";

const clock = new SimulatedClock({ time: new SimulatedTime(instantFrom(0)) });
const lease = { trigger: "k1.1/1", owner: null, expiresAt: instantFrom(0) };

/** An instance whose one task is at its second attempt, which the first attempt's message owes. */
async function retried() {
  const { instance } = await play(aCode('await task("a");'));
  const tickets = instance.tickets.map((ticket) =>
    ticket.on === "task" ? { ...ticket, attempt: 2, lease } : ticket,
  );
  return { ...instance, tickets };
}

describe("what a trigger that comes again has to send", () => {
  test.each([
    ["nothing, while the queue of this process holds it", true, 2, 0],
    ["the next attempt, while only the message of the last one is there", true, 1, 1],
    ["the task, where a queue cannot tell", false, 2, 1],
  ])("is %s", async (_, knowsWhatItHolds, attempt, count) => {
    const instance = await retried();
    const tasks = new SimulatedTasks({ clock, knowsWhatItHolds });
    for (const { id: ticket } of instance.tickets) {
      const { tenant, id: instanceId } = instance;
      await tasks.send({ kind: "task", tenant, instanceId, ticket, attempt, type: "a" });
    }

    const { tickets } = unsentBy({ tasks }, instance, lease.trigger);

    expect(tickets).toHaveLength(count);
  });
});
