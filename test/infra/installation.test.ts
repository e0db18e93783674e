import { Duration, Stack } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import { Fermata, type FermataProps } from "../../cdk/fermata.ts";
import { VARIABLES } from "../../functions/settings.ts";
import {
  anApp,
  inWords,
  mappingsOf,
  observabilityOf,
  read,
  synthesised,
} from "./support/synthesised.ts";

const installation = synthesised();

describe("the functions", () => {
  const functions = installation.of("AWS::Lambda::Function");

  test("are nine, on Node 24 and arm64, with recursive loops allowed", () => {
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

  test("reserve no concurrency by default", () => {
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

  test("receive no more messages at once than their concurrency: a throttled delivery counts", () => {
    const held = synthesised({
      alarms: "off",
      reservedConcurrency: { runTask: 20, advance: 3_000, deadLetters: 5, httpApi: 1 },
    });

    const most = Object.fromEntries(
      mappingsOf(held).map(({ source, most }) => [source.replace("Queues/", ""), most]),
    );
    expect(most).toEqual({
      "Tasks/Queue": 20,
      // The highest limit of an event source.
      "Steps/Queue": 1_000,
      // They share one function.
      "Tasks/DeadLetters": 2,
      "LongTasks/DeadLetters": 2,
      "LongTasks/Queue": 100,
      "Timers/Queue": 100,
      "Pages/Queue": 100,
    });
  });

  test("run at most 100 times at once for their queues by default", () => {
    const most = (props: FermataProps) =>
      mappingsOf(synthesised({ alarms: "off", ...props })).map(
        ({ source, most }) => `${source.replace("Queues/", "")} ${most}`,
      );

    expect(most({}).sort()).toEqual([
      "LongTasks/DeadLetters 50",
      "LongTasks/Queue 100",
      "Pages/Queue 100",
      "Steps/Queue 100",
      "Tasks/DeadLetters 50",
      "Tasks/Queue 100",
      "Timers/Queue 100",
    ]);
    const set = most({
      maxConcurrency: { runTask: 700, advance: 30, fireTimer: 2_000 },
      reservedConcurrency: { advance: 20 },
    });
    expect(set).toEqual(
      expect.arrayContaining(["Tasks/Queue 700", "Steps/Queue 20", "Timers/Queue 1000"]),
    );
  });

  test("refuse a maximum that an event source does not support", () => {
    const one = { alarms: "off", maxConcurrency: { fanOutSignal: 1 } } as const;

    expect(() => synthesised(one)).toThrow(/FanOutSignal.* maxConcurrency is 1.* at least 2/);
  });

  test.each([
    [{ runTask: 1 }, /RunTask.* at least 2/],
    [{ deadLetters: 3 }, /DeadLetters.* at least 4/],
  ])("refuse less concurrency than their queues use: %o", (reservedConcurrency, why) => {
    expect(() => synthesised({ alarms: "off", reservedConcurrency })).toThrow(why);
  });

  test("log their own lines, and of Lambda only errors", () => {
    for (const { props } of functions) {
      expect(props.LoggingConfig).toMatchObject({
        LogFormat: "JSON",
        ApplicationLogLevel: "INFO",
        SystemLogLevel: "WARN",
      });
    }
  });

  test("have a log group each, which is kept for a month", () => {
    const logs = installation.of("AWS::Logs::LogGroup");

    for (const { props } of logs) expect(props.RetentionInDays).toBe(30);
    for (const { props } of functions) {
      expect(inWords(props.LoggingConfig.LogGroup, installation)).toMatch(/^Functions\/\w+\/Log$/);
    }
  });

  test("get the names of all resources, and no unknown setting", () => {
    const known: readonly string[] = Object.values(VARIABLES);

    for (const { path, props } of functions) {
      const told = Object.keys(props.Environment?.Variables ?? {});
      expect([path, told.filter((name) => !known.includes(name))]).toEqual([path, []]);
    }
    const { props } = installation.one("AWS::Lambda::Function", "RunTask/Function/Resource");
    expect(props.Environment.Variables).toMatchObject({
      [VARIABLES.timerBackend]: "scheduler",
      [VARIABLES.timerQueueMaxSeconds]: "900",
      [VARIABLES.scheduleLeadSeconds]: "90",
      [VARIABLES.retentionMs]: String(30 * 86_400_000),
      [VARIABLES.announces]: "false",
      [VARIABLES.tenant]: "default",
    });
  });

  test("get the settings of an installation", () => {
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
      [VARIABLES.timerBackend]: "wheel",
      [VARIABLES.announces]: "true",
      [VARIABLES.retentionMs]: String(15 * 86_400_000),
      [VARIABLES.timerQueueMaxSeconds]: "20",
      [VARIABLES.tenant]: "acme",
    });
    expect(Variables[VARIABLES.scheduleGroup]).toBeUndefined();
  });

  test("keep ended instances long enough for deliveries in progress", () => {
    expect(() => synthesised({ retention: Duration.days(14) })).toThrow(/at least 15 days/);
  });
});

describe("an installation that is paused", () => {
  const paused = synthesised({ alarms: "off", paused: true });

  test("has nothing that invokes its functions by itself", () => {
    for (const { props } of paused.of("AWS::Lambda::EventSourceMapping")) {
      expect(props.Enabled).toBe(false);
    }
    const { props } = paused.one("AWS::Events::Rule", "SweepRule/Rule/Resource");
    expect(props.State).toBe("DISABLED");
  });
});

describe("an installation on a restored table", () => {
  const restored = synthesised({ alarms: "off", restoredTable: "restored" });

  test("uses that table, and keeps its own", () => {
    const { props } = restored.one("AWS::Lambda::Function", "RunTask/Function/Resource");
    expect(props.Environment.Variables[VARIABLES.table]).toBe("restored");
    expect(restored.of("AWS::DynamoDB::Table")).toHaveLength(1);
    const own = restored.one("AWS::DynamoDB::Table", "Table/Resource").id;
    const policies = restored.of("AWS::IAM::Policy").map(({ props }) => JSON.stringify(props));
    expect(policies.join()).not.toContain(own);
    expect(policies.join()).toContain(":table/restored");
  });
});

describe("two installations", () => {
  test("fit into one stack, and into one account, because no name is fixed", () => {
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

  test("is a separate stack, which can be left out", () => {
    expect(installation.of("AWS::CloudWatch::Alarm")).toEqual([]);
    expect(installation.of("AWS::CloudFormation::Stack")).toHaveLength(1);

    expect(synthesised({ alarms: "off" }).of("AWS::CloudFormation::Stack")).toEqual([]);
  });

  test("has an alarm for every failure", () => {
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
        ...["Tasks", "LongTasks", "Timers", "Work", "Steps"].flatMap((queue) => [
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

  test("has an alarm on every dead-letter queue", () => {
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
