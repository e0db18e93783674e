import { describe, expect, test } from "vitest";
import { SimulatedClock, SimulatedTime } from "../../lib/adapters/simulated/clock.ts";
import { type OwnQueueFault, SimulatedOwnQueues } from "../../lib/adapters/simulated/own-queues.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { ownQueuesContract } from "./own-queues.contract.ts";

const arnOf = (name: string, region = "us-east-1", account = "000000000000") =>
  `arn:aws:sqs:${region}:${account}:${name}`;

ownQueuesContract("the simulated queues of a user", async () => {
  const { time, clock } = openTime();
  const arns = {
    one: arnOf("one"),
    other: arnOf("other"),
    narrow: arnOf("narrow"),
    untold: arnOf("untold"),
    gone: arnOf("gone"),
    fifo: arnOf("one.fifo"),
    elsewhere: arnOf("one", "eu-central-1"),
    ofStrangers: arnOf("one", "us-east-1", "111111111111"),
  };
  const { one, other, narrow, untold, ...no } = arns;
  const queues = new SimulatedOwnQueues({
    clock,
    region: "us-east-1",
    there: [one, other, narrow, untold, arns.fifo, arns.elsewhere],
    allowed: [one, other, narrow, ...Object.values(no)],
    maxBytes: { [narrow]: 2_048 },
  });
  return {
    queues,
    arns,
    receive: async (arn) => take(queues, arn),
    pass: async (ms) => time.pass(ms),
    close: async () => {},
  };
});

describe("the simulated queues of a user, with faults", () => {
  const ARN = arnOf("one");
  const cases: readonly [OwnQueueFault, string, number][] = [
    [{ fault: "refused" }, "refused", 0],
    [{ fault: "lost" }, "thrown", 0],
    [{ fault: "unanswered" }, "thrown", 1],
    [{ fault: "duplicated" }, "sent", 2],
    [{ fault: "delayed", byMs: 1 }, "sent", 0],
  ];
  test.each(cases)("follow the outcomes of the world: %o", async (fault, answer, received) => {
    const { clock } = openTime();
    const turn = async (point: string) => (point === "send:before" ? fault : undefined);
    const queues = new SimulatedOwnQueues({ clock, region: "us-east-1", there: [ARN], turn });

    const answered = await queues.send(ARN, "text", 0).catch(() => "thrown");

    expect(answered).toBe(answer);
    expect(take(queues, ARN)).toHaveLength(received);
  });
});

function openTime() {
  const time = new SimulatedTime(instantFrom(Date.UTC(2030, 0, 1)));
  return { time, clock: new SimulatedClock({ time, skewMs: 2_000 }) };
}

function take(queues: SimulatedOwnQueues, arn: string): readonly string[] {
  const ready = queues.queue(arn).ready();
  queues.queue(arn).lose(({ id }) => ready.some((queued) => queued.id === id));
  return ready.map(({ message }) => message);
}
