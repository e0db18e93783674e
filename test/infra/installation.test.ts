import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import { describe, expect, test } from "vitest";
import { Fermata } from "../../cdk/fermata.ts";
import { VARIABLES } from "../../functions/settings.ts";
import { tableDefinition } from "../support/dynamodb-table.ts";
import {
  anApp,
  inWords,
  observabilityOf,
  read,
  type Synthesised,
  synthesised,
} from "./support/synthesised.ts";

const installation = synthesised();

describe("the table", () => {
  const { props, deletionPolicy } = installation.one("AWS::DynamoDB::Table", "Table/Resource");

  test("has the keys and indexes that the store is proved with", () => {
    const { TableName: _, ...wanted } = tableDefinition("any");

    expect({
      KeySchema: props.KeySchema,
      GlobalSecondaryIndexes: props.GlobalSecondaryIndexes.map(withoutLimit),
      AttributeDefinitions: sorted(props.AttributeDefinitions),
      BillingMode: props.BillingMode,
    }).toEqual({ ...wanted, AttributeDefinitions: sorted(wanted.AttributeDefinitions) });
  });

  test("is encrypted, can be restored, and does not go by mistake", () => {
    expect(props.SSESpecification).toEqual({ SSEEnabled: true });
    expect(props.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true });
    expect(props.DeletionProtectionEnabled).toBe(true);
    expect(deletionPolicy).toBe("Retain");
    expect(props.TimeToLiveSpecification).toEqual({ AttributeName: "ttl", Enabled: true });
  });

  test("refuses whoever does not come over TLS", () => {
    expect(props.ResourcePolicy.PolicyDocument.Statement).toEqual([
      expect.objectContaining({ Effect: "Deny", Principal: { AWS: "*" }, ...WITHOUT_TLS }),
    ]);
  });

  test("may go where its owner says so", () => {
    const { one } = synthesised({ alarms: "off", removalPolicy: RemovalPolicy.DESTROY });

    const table = one("AWS::DynamoDB::Table", "Table/Resource");

    expect(table.props.DeletionProtectionEnabled).toBe(false);
    expect(table.deletionPolicy).toBe("Delete");
  });

  test("takes what a new table is ready for and no more, unless its owner says so", () => {
    const limit = { MaxReadRequestUnits: 12_000, MaxWriteRequestUnits: 4_000 };

    for (const part of [props, ...props.GlobalSecondaryIndexes]) {
      expect(part.OnDemandThroughput).toEqual(limit);
      expect(part.WarmThroughput).toBeUndefined();
    }
  });

  test("takes no more than its owner allows, and its indexes no less than itself", () => {
    const throughput = { maxReads: 2_000, maxWrites: 1_000, warmWrites: 500 };
    const { one } = synthesised({ alarms: "off", throughput });

    const { props } = one("AWS::DynamoDB::Table", "Table/Resource");

    const limit = { MaxReadRequestUnits: 2_000, MaxWriteRequestUnits: 1_000 };
    for (const part of [props, ...props.GlobalSecondaryIndexes]) {
      expect(part.OnDemandThroughput).toEqual(limit);
      expect(part.WarmThroughput).toEqual({ WriteUnitsPerSecond: 500 });
    }
  });
});

describe("an installation that is paused", () => {
  const paused = synthesised({ alarms: "off", paused: true });

  test("has nothing that wakes its functions by itself", () => {
    for (const { props } of paused.of("AWS::Lambda::EventSourceMapping")) {
      expect(props.Enabled).toBe(false);
    }
    const { props } = paused.one("AWS::Events::Rule", "SweepRule/Rule/Resource");
    expect(props.State).toBe("DISABLED");
  });
});

describe("an installation on a restored table", () => {
  const restored = synthesised({ alarms: "off", restoredTable: "restored" });

  test("uses that one, and keeps its own", () => {
    const { props } = restored.one("AWS::Lambda::Function", "RunTask/Function/Resource");
    expect(props.Environment.Variables[VARIABLES.table]).toBe("restored");
    expect(restored.of("AWS::DynamoDB::Table")).toHaveLength(1);
    const own = restored.one("AWS::DynamoDB::Table", "Table/Resource").id;
    const policies = restored.of("AWS::IAM::Policy").map(({ props }) => JSON.stringify(props));
    expect(policies.join()).not.toContain(own);
    expect(policies.join()).toContain(":table/restored");
  });
});

describe("the bucket", () => {
  const { props, deletionPolicy } = installation.one("AWS::S3::Bucket", "Bucket/Resource");

  test("is encrypted, closed to the public, and stays", () => {
    expect(props.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
    ]);
    expect(props.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(deletionPolicy).toBe("Retain");
  });

  test("refuses whoever does not come over TLS", () => {
    const policy = installation.one("AWS::S3::BucketPolicy", "Bucket/Policy/Resource");

    expect(policy.props.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({ Effect: "Deny", Principal: { AWS: "*" }, ...WITHOUT_TLS }),
    );
  });

  test("forgets bodies of messages after all queues, and ended values after the retention", () => {
    const { one } = synthesised({ alarms: "off", retention: Duration.days(90) });

    const { Rules } = one("AWS::S3::Bucket", "Bucket/Resource").props.LifecycleConfiguration;

    expect(Rules).toEqual([
      expect.objectContaining({ Prefix: "messages/", ExpirationInDays: 45 }),
      expect.objectContaining({
        TagFilters: [{ Key: "fermata", Value: "ended" }],
        ExpirationInDays: 90,
      }),
      expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }),
    ]);
  });
});

describe("the queues", () => {
  const queues = installation.of("AWS::SQS::Queue");
  const name = (value: unknown) => inWords(value, installation);

  test("have dead letters each, or are dead letters", () => {
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

  test("are encrypted and refuse whoever does not come over TLS", () => {
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
    ["Tasks", 90, 10, "RunTask", 60],
    ["LongTasks", 960, 1, "RunLongTask", 900],
    ["Timers", 90, 10, "FireTimer", 30],
    ["Pages", 90, 5, "FanOutSignal", 30],
    ["Steps", 90, 10, "Advance", 30],
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
      expect(visibility).toBeGreaterThan(timeout);
    },
  );

  test("of tasks have their dead letters seen to, and none is filtered: what does not match is deleted", () => {
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

  test("keep steps in order for each instance, and as fast as FIFO goes", () => {
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

describe("the functions", () => {
  const functions = installation.of("AWS::Lambda::Function");

  test("are nine, on Node 24 and arm64, and may call themselves through a queue", () => {
    expect(functions).toHaveLength(9);
    for (const { props } of functions) {
      expect(props).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "index.handler",
        RecursiveLoop: "Allow",
      });
    }
  });

  test("hold no concurrency back unless they are told to", () => {
    for (const { props } of functions) expect(props.ReservedConcurrentExecutions).toBeUndefined();

    const { one, of } = synthesised({ alarms: "off", reservedConcurrency: { runTask: 20 } });
    const held = of("AWS::Lambda::Function").filter(
      ({ props }) => props.ReservedConcurrentExecutions !== undefined,
    );
    expect(held).toHaveLength(1);
    expect(
      one("AWS::Lambda::Function", "RunTask/Function/Resource").props.ReservedConcurrentExecutions,
    ).toBe(20);
  });

  test("are given no more messages at once than they have concurrency for: a throttled delivery counts", () => {
    const held = synthesised({
      alarms: "off",
      reservedConcurrency: { runTask: 20, advance: 3_000, deadLetters: 5, httpApi: 1 },
    });

    const most = Object.fromEntries(
      mappingsOf(held).map(({ source, most }) => [source.replace("Queues/", ""), most]),
    );
    expect(most).toEqual({
      "Tasks/Queue": 20,
      // The most that an event source can be held to.
      "Steps/Queue": 1_000,
      // They share one function.
      "Tasks/DeadLetters": 2,
      "LongTasks/DeadLetters": 2,
      "LongTasks/Queue": undefined,
      "Timers/Queue": undefined,
      "Pages/Queue": undefined,
    });
  });

  test.each([
    [{ runTask: 1 }, /RunTask.* at least 2/],
    [{ deadLetters: 3 }, /DeadLetters.* at least 4/],
  ])("refuse less concurrency than their queues take: %o", (reservedConcurrency, why) => {
    expect(() => synthesised({ alarms: "off", reservedConcurrency })).toThrow(why);
  });

  test("log what they say themselves, and of Lambda only what went wrong", () => {
    for (const { props } of functions) {
      expect(props.LoggingConfig).toMatchObject({
        LogFormat: "JSON",
        ApplicationLogLevel: "INFO",
        SystemLogLevel: "WARN",
      });
    }
  });

  test("have a log each, which is kept for a month", () => {
    const logs = installation.of("AWS::Logs::LogGroup");

    for (const { props } of logs) expect(props.RetentionInDays).toBe(30);
    for (const { props } of functions) {
      expect(inWords(props.LoggingConfig.LogGroup, installation)).toMatch(/^Functions\/\w+\/Log$/);
    }
  });

  test("are told where everything is, and nothing that they have no name for", () => {
    const known: readonly string[] = Object.values(VARIABLES);

    for (const { path, props } of functions) {
      const told = Object.keys(props.Environment?.Variables ?? {});
      expect([path, told.filter((name) => !known.includes(name))]).toEqual([path, []]);
    }
    const { props } = installation.one("AWS::Lambda::Function", "RunTask/Function/Resource");
    expect(props.Environment.Variables).toMatchObject({
      [VARIABLES.timerRoad]: "scheduler",
      [VARIABLES.timerQueueMaxSeconds]: "900",
      [VARIABLES.scheduleLeadSeconds]: "90",
      [VARIABLES.retentionMs]: String(30 * 86_400_000),
      [VARIABLES.announces]: "false",
      [VARIABLES.tenant]: "default",
    });
  });

  test("are told what an installation is set to", () => {
    const { one } = synthesised({
      alarms: "off",
      timers: "wheel",
      announce: true,
      retention: Duration.days(15),
      timerQueueMaxSeconds: 20,
      tenant: "acme",
    });

    const { Variables } = one("AWS::Lambda::Function", "Sweep/Function/Resource").props.Environment;

    expect(Variables).toMatchObject({
      [VARIABLES.timerRoad]: "wheel",
      [VARIABLES.announces]: "true",
      [VARIABLES.retentionMs]: String(15 * 86_400_000),
      [VARIABLES.timerQueueMaxSeconds]: "20",
      [VARIABLES.tenant]: "acme",
    });
    expect(Variables[VARIABLES.scheduleGroup]).toBeUndefined();
  });

  test("keep ended instances long enough for what is still under way", () => {
    expect(() => synthesised({ retention: Duration.days(14) })).toThrow(/at least 15 days/);
  });
});

describe("rules", () => {
  test("have a target each, with dead letters that only this rule may fill", () => {
    const rules = installation.of("AWS::Events::Rule");

    expect(rules).toHaveLength(3);
    for (const { id, props } of rules) {
      const [target, ...more] = props.Targets;
      expect(more).toEqual([]);
      const dead = target.DeadLetterConfig.Arn["Fn::GetAtt"][0];
      expect(allowedToSend(installation, dead)).toEqual([id]);
    }
  });

  test("bring signals to the pages, which they alone may fill from outside", () => {
    const accepted = installation.one("AWS::Events::Rule", "Signals/Accepted/Resource");
    const requested = installation.one("AWS::Events::Rule", "Signals/Requested/Resource");
    const pages = installation.one("AWS::SQS::Queue", "Pages/Queue/Resource");

    expect(accepted.props.EventPattern).toEqual({
      source: ["fermata"],
      "detail-type": ["signal-accepted"],
    });
    expect(accepted.props.Targets[0].InputPath).toBe("$.detail");
    expect(requested.props.EventPattern).toEqual({ "detail-type": ["signal-requested"] });
    for (const { props } of [accepted, requested]) {
      expect(inWords(props.Targets[0].Arn, installation)).toBe("Queues/Pages/Queue");
      expect(inWords(props.EventBusName, installation)).toBe("Signals/Bus");
    }
    expect(allowedToSend(installation, pages.id).sort()).toEqual(
      [accepted.id, requested.id].sort(),
    );
  });

  test("wake the sweep each minute", () => {
    const { props } = installation.one("AWS::Events::Rule", "SweepRule/Rule/Resource");

    expect(props.ScheduleExpression).toBe("rate(1 minute)");
    expect(inWords(props.Targets[0].Arn, installation)).toBe("Functions/Sweep/Function");
  });
});

describe("a key of the user's own", () => {
  const own = synthesised((stack) => ({
    alarms: "off",
    encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }),
  }));
  const isKey = (value: unknown) => inWords(value, own) === "Key";

  test("encrypts the table, the bucket, every queue, the bus and every log", () => {
    const { props: table } = own.one("AWS::DynamoDB::Table", "Table/Resource");
    const { props: bucket } = own.one("AWS::S3::Bucket", "Bucket/Resource");
    const [rule] = bucket.BucketEncryption.ServerSideEncryptionConfiguration;

    expect(isKey(table.SSESpecification.KMSMasterKeyId)).toBe(true);
    expect(isKey(rule.ServerSideEncryptionByDefault.KMSMasterKeyID)).toBe(true);
    for (const { props } of own.of("AWS::SQS::Queue"))
      expect(isKey(props.KmsMasterKeyId)).toBe(true);
    for (const { props } of own.of("AWS::Events::EventBus"))
      expect(isKey(props.KmsKeyIdentifier)).toBe(true);
    for (const { props } of own.of("AWS::Logs::LogGroup")) expect(isKey(props.KmsKeyId)).toBe(true);
  });

  test("may be used by EventBridge and the logs for this account only", () => {
    const { Statement } = own.one("AWS::KMS::Key", "Key/Resource").props.KeyPolicy;

    const services = Statement.filter(
      ({ Principal }: { Principal: { Service?: unknown } }) => Principal.Service,
    );
    expect(services.length).toBeGreaterThanOrEqual(2);
    for (const { Condition } of services)
      expect(JSON.stringify(Condition)).toContain("AWS::AccountId");
  });

  test("may be used by every role that meets what it encrypts, and by no other", () => {
    const withKey = own
      .of("AWS::IAM::Policy")
      .filter(({ props }) => JSON.stringify(props).includes("kms:Decrypt"))
      .map(({ props }) => inWords(props.Roles[0], own));

    const roles = own.of("AWS::IAM::Role").map(({ id }) => inWords({ Ref: id }, own));
    expect(withKey.sort()).toEqual(
      roles.filter((role) => role !== "Functions/Compile/Role").sort(),
    );
  });
});

describe("two installations", () => {
  test("fit into one stack, and into one account, since nothing has a name that both could claim", () => {
    const app = anApp();
    const stack = new Stack(app, "Test");
    new Fermata(stack, "One", { alarms: "off" });
    new Fermata(stack, "Two", { alarms: "off" });

    const both = read(app, stack);

    const names = both.resources.flatMap(({ type, props }) =>
      NAMES.flatMap((name) => (typeof props[name] === "string" ? [`${type} ${props[name]}`] : [])),
    );
    expect(
      names.filter(
        (name, n) =>
          names.indexOf(name) !== n &&
          !name.includes("HttpApi") &&
          !/ApiGatewayV2::(Api|Stage)/.test(name),
      ),
    ).toEqual([]);
    expect(both.of("AWS::DynamoDB::Table").map(({ props }) => props.TableName)).toEqual([
      undefined,
      undefined,
    ]);
    const namespaces = both
      .of("AWS::Lambda::Function")
      .flatMap(({ props }) => props.Environment?.Variables[VARIABLES.metricsNamespace] ?? []);
    expect(new Set(namespaces).size).toBe(2);
  });
});

describe("observability", () => {
  const watching = observabilityOf(installation);
  const alarms = watching.of("AWS::CloudWatch::Alarm");

  test("stands in a stack of its own, which can be left out", () => {
    expect(installation.of("AWS::CloudWatch::Alarm")).toEqual([]);
    expect(installation.of("AWS::CloudFormation::Stack")).toHaveLength(1);

    expect(synthesised({ alarms: "off" }).of("AWS::CloudFormation::Stack")).toEqual([]);
  });

  test("has an alarm for all that can go wrong", () => {
    const paths = alarms.map(({ path }) =>
      path.replace(/^.*Observability\//, "").replace("/Resource", ""),
    );

    const functions = [
      "HttpApi",
      "Compile",
      "RunTask",
      "RunLongTask",
      "Advance",
      "FireTimer",
      "FanOutSignal",
      "Sweep",
      "DeadLetters",
    ];
    expect(paths.sort()).toEqual(
      [
        ...functions.flatMap((fn) =>
          ["Errors", "Throttles", "Duration"].map((what) => `Functions/${fn}/${what}`),
        ),
        ...["Tasks", "LongTasks", "Timers", "Pages", "Steps"].flatMap((queue) => [
          `OldestMessage/${queue}`,
          `DeadLetters/${queue}`,
        ]),
        ...["AcceptedSignals", "RequestedSignals", "Sweep", "Schedules"].map(
          (what) => `DeadLetters/${what}`,
        ),
        ...["Table", "Due", "Listing"].map((what) => `Throttled/${what}`),
        ...["AcceptedSignals", "RequestedSignals", "Sweep"].map((rule) => `Rules/${rule}`),
        ...["Dropped", "Lost"].map((what) => `Schedules/${what}`),
        "SweepRecovered",
        "Incidents",
      ].sort(),
    );
  });

  test("has an alarm on every queue of dead letters that there is", () => {
    const dead = installation
      .of("AWS::SQS::Queue")
      .filter(({ path }) => path.includes("DeadLetters"));

    expect(alarms.filter(({ path }) => path.includes("Observability/DeadLetters/"))).toHaveLength(
      dead.length,
    );
  });
});

const NAMES = [
  "Name",
  "QueueName",
  "TableName",
  "BucketName",
  "FunctionName",
  "RoleName",
  "LogGroupName",
  "PolicyName",
];

const withoutLimit = ({ OnDemandThroughput: _, ...index }: Readonly<Record<string, unknown>>) =>
  index;

const WITHOUT_TLS = { Condition: { Bool: { "aws:SecureTransport": "false" } } };

function sorted(definitions: readonly { AttributeName?: string | undefined }[] | undefined) {
  return [...(definitions ?? [])].sort((a, b) =>
    (a.AttributeName ?? "").localeCompare(b.AttributeName ?? ""),
  );
}

function mappingsOf(installation: Synthesised) {
  return installation.of("AWS::Lambda::EventSourceMapping").map(({ props }) => ({
    source: inWords(props.EventSourceArn, installation),
    target: inWords(props.FunctionName, installation),
    batch: props.BatchSize,
    reports: props.FunctionResponseTypes,
    filter: props.FilterCriteria,
    most: props.ScalingConfig?.MaximumConcurrency,
  }));
}

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
