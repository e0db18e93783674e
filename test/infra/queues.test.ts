import { describe, expect, test } from "vitest";
import {
  inWords,
  mappingsOf,
  type Synthesised,
  synthesised,
  WITHOUT_TLS,
} from "./support/synthesised.ts";

const installation = synthesised();

describe("the queues", () => {
  const queues = installation.of("AWS::SQS::Queue");
  const name = (value: unknown) => inWords(value, installation);

  test("have a dead-letter queue each, or are one", () => {
    const dead = queues.filter(({ props }) => props.RedrivePolicy === undefined);

    expect(
      dead.map(({ path }) => path).filter((path) => !/DeadLetters\/Resource$/.test(path)),
    ).toEqual([]);
    const targets = queues
      .filter(({ props }) => props.RedrivePolicy !== undefined)
      .map(({ props }) => name(props.RedrivePolicy.deadLetterTargetArn));
    expect(targets.sort()).toEqual([
      "Queues/LongTasks/DeadLetters",
      "Queues/Pages/DeadLetters",
      "Queues/Steps/DeadLetters",
      "Queues/Tasks/DeadLetters",
      "Queues/Timers/DeadLetters",
    ]);
  });

  test("keep dead letters for 14 days, longer than themselves", () => {
    for (const { path, props } of queues) {
      const days = props.MessageRetentionPeriod / 86_400;
      expect([path, days]).toEqual([path, path.includes("DeadLetters") ? 14 : 10]);
    }
  });

  test("are encrypted and refuse connections without TLS", () => {
    for (const { id, path, props } of queues) {
      expect([path, props.SqsManagedSseEnabled]).toEqual([path, true]);
      const policies = installation
        .of("AWS::SQS::QueuePolicy")
        .filter((policy) => policy.props.Queues.some((queue: { Ref: string }) => queue.Ref === id));
      const statements = policies.flatMap((policy) => policy.props.PolicyDocument.Statement);
      expect(statements).toContainEqual(
        expect.objectContaining({
          Effect: "Deny",
          Action: "sqs:*",
          Principal: { AWS: "*" },
          ...WITHOUT_TLS,
        }),
      );
    }
  });

  test.each([
    ["Tasks", 360, 10, "RunTask", 60],
    ["LongTasks", 5_400, 1, "RunLongTask", 900],
    ["Timers", 180, 10, "FireTimer", 30],
    ["Pages", 180, 5, "FanOutSignal", 30],
    ["Steps", 180, 10, "Advance", 30],
  ])(
    "%s: visible again after %i s, %i at once to %s, which has %i s",
    (queue, visibility, batch, fn, timeout) => {
      const { props } = installation.one("AWS::SQS::Queue", `Queues/${queue}/Queue/Resource`);
      const mapping = mappingsOf(installation).find(
        ({ source }) => source === `Queues/${queue}/Queue`,
      );
      const woken = installation.one("AWS::Lambda::Function", `${fn}/Function/Resource`);

      expect(props.VisibilityTimeout).toBe(visibility);
      expect(props.RedrivePolicy.maxReceiveCount).toBe(10);
      expect(mapping).toMatchObject({
        batch,
        target: `Functions/${fn}/Function`,
        reports: ["ReportBatchItemFailures"],
      });
      expect(woken.props.Timeout).toBe(timeout);
    },
  );

  test("hide a message for six times the timeout of its function", () => {
    for (const { source, target } of mappingsOf(installation)) {
      const queue = installation.one("AWS::SQS::Queue", `${source}/Resource`);
      const woken = installation.one("AWS::Lambda::Function", `${target}/Resource`);
      const times = queue.props.VisibilityTimeout / woken.props.Timeout;
      expect([source, times >= 6]).toEqual([source, true]);
    }
  });

  test("for tasks have a consumer for their dead letters, without a filter: a filter would delete", () => {
    const mappings = mappingsOf(installation);

    expect(mappings.map(({ source, target }) => `${source} -> ${target}`)).toEqual(
      expect.arrayContaining([
        "Queues/Tasks/DeadLetters -> Functions/DeadLetters/Function",
        "Queues/LongTasks/DeadLetters -> Functions/DeadLetters/Function",
      ]),
    );
    expect(mappings).toHaveLength(7);
    for (const { filter } of mappings) expect(filter).toBeUndefined();
  });

  test("keep facts in order for each instance, with high-throughput FIFO", () => {
    for (const part of ["Queue", "DeadLetters"]) {
      const { props } = installation.one("AWS::SQS::Queue", `Steps/${part}/Resource`);
      expect(props).toMatchObject({
        FifoQueue: true,
        DeduplicationScope: "messageGroup",
        FifoThroughputLimit: "perMessageGroupId",
      });
      expect(props.ContentBasedDeduplication).toBeUndefined();
    }
  });
});

describe("rules", () => {
  test("have a target each, with a dead-letter queue that only this rule may send to", () => {
    const rules = installation.of("AWS::Events::Rule");

    expect(rules).toHaveLength(3);
    for (const { id, props } of rules) {
      const [target, ...more] = props.Targets;
      expect(more).toEqual([]);
      const dead = target.DeadLetterConfig.Arn["Fn::GetAtt"][0];
      expect(allowedToSend(installation, dead)).toEqual([id]);
    }
  });

  test("send signals to the work queue, which accepts nothing else from outside", () => {
    const accepted = installation.one("AWS::Events::Rule", "Signals/Accepted/Resource");
    const requested = installation.one("AWS::Events::Rule", "Signals/Requested/Resource");
    const work = installation.one("AWS::SQS::Queue", "Pages/Queue/Resource");

    expect(accepted.props.EventPattern).toEqual({
      source: ["fermata"],
      "detail-type": ["signal-accepted"],
      account: [{ Ref: "AWS::AccountId" }],
      detail: { kind: ["broadcast"] },
    });
    expect(requested.props.EventPattern).toEqual({ "detail-type": ["signal-requested"] });
    for (const { props } of [accepted, requested]) {
      // Whole: a detail alone could look like any internal message of the engine.
      expect(Object.keys(props.Targets[0]).sort()).toEqual(["Arn", "DeadLetterConfig", "Id"]);
      expect(inWords(props.Targets[0].Arn, installation)).toBe("Queues/Pages/Queue");
      expect(inWords(props.EventBusName, installation)).toBe("Signals/Bus");
    }
    expect(allowedToSend(installation, work.id).sort()).toEqual([accepted.id, requested.id].sort());
  });

  test("send whole events only once the function that reads them is deployed", () => {
    const fn = installation.one("AWS::Lambda::Function", "FanOutSignal/Function/Resource");
    const { dependsOn } = installation.one("AWS::Events::Rule", "Signals/Accepted/Resource");

    expect(dependsOn).toContain(fn.id);
  });

  test("invoke the sweep each minute", () => {
    const { props } = installation.one("AWS::Events::Rule", "SweepRule/Rule/Resource");

    expect(props.ScheduleExpression).toBe("rate(1 minute)");
    expect(inWords(props.Targets[0].Arn, installation)).toBe("Functions/Sweep/Function");
  });
});

/** The rules that a queue's policy lets send. */
function allowedToSend(installation: Synthesised, queueId: string): string[] {
  return installation
    .of("AWS::SQS::QueuePolicy")
    .filter(({ props }) => props.Queues.some((queue: { Ref: string }) => queue.Ref === queueId))
    .flatMap(({ props }) => props.PolicyDocument.Statement)
    .filter(({ Effect }) => Effect === "Allow")
    .map((statement) => {
      expect(statement.Principal).toEqual({ Service: "events.amazonaws.com" });
      expect(statement.Action).toBe("sqs:SendMessage");
      expect(statement.Condition.StringEquals).toEqual({
        "aws:SourceAccount": { Ref: "AWS::AccountId" },
      });
      return statement.Condition.ArnEquals["aws:SourceArn"]["Fn::GetAtt"][0];
    });
}
