import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import { appSettings } from "../../cdk/app-settings.ts";
import { EngineStack } from "../../cdk/engine-stack.ts";
import cdkJson from "../../cdk.json" with { type: "json" };
import { parseSettings, VARIABLES } from "../../functions/settings.ts";
import { anApp, synthesised } from "./support/synthesised.ts";

const given = (context: Readonly<Record<string, string>>) => appSettings((name) => context[name]);

describe("the app", () => {
  test("has the feature flags that this release of the CDK recommends, and no others", () => {
    const path = createRequire(import.meta.url).resolve(
      "aws-cdk-lib/recommended-feature-flags.json",
    );

    expect(cdkJson.context).toEqual(JSON.parse(readFileSync(path, "utf8")));
  });

  test("has safe defaults", () => {
    expect(given({})).toEqual({
      stackName: "Fermata",
      usesCliCredentials: false,
      fermata: {
        auth: { kind: "iam" },
        api: "http",
        timers: "scheduler",
        announce: false,
        paused: false,
        removalPolicy: RemovalPolicy.RETAIN,
        alarms: {},
      },
    });
  });

  test("is configured by context", () => {
    const { stackName, fermata } = given({
      name: "Staging",
      auth: "jwt",
      jwtIssuer: "https://id.example.com",
      jwtAudience: "one,two",
      tasks: "a,b",
      taskQueues: "arn:1,arn:2",
      alarms: "off",
      retentionDays: "60",
      corsOrigins: "https://console.example.com",
      removal: "destroy",
    });

    expect(stackName).toBe("Staging");
    expect(fermata).toMatchObject({
      auth: { kind: "jwt", issuer: "https://id.example.com", audience: ["one", "two"] },
      tasks: { folders: ["a", "b"], queues: ["arn:1", "arn:2"] },
      alarms: "off",
      retention: Duration.days(60),
      cors: { origins: ["https://console.example.com"] },
      removalPolicy: RemovalPolicy.DESTROY,
    });
  });

  test.each([
    [{ auth: "open" }, /"open" is none of iam, jwt, none/],
    [{ auth: "jwt" }, /needs its issuer and its audience/],
    [{ retentionDays: "many" }, /"many" is no whole number/],
  ])("refuses invalid context: %o", (context, why) => {
    expect(() => given(context)).toThrow(why);
  });

  test("gives the allowed hosts of HTTP tasks only to the functions that run tasks", () => {
    const secrets = { KEY: { secret: "arn:aws:secretsmanager:::secret:k", hosts: ["a.example"] } };
    const { fermata } = given({
      httpAllowHosts: "a.example,*.b.example",
      httpAllowPrivate: "http://127.0.0.1:*",
      httpSecrets: JSON.stringify(secrets),
    });
    const functions = synthesised({ ...fermata, alarms: "off" }).of("AWS::Lambda::Function");
    const told = functions.filter(
      ({ props }) => props.Environment?.Variables[VARIABLES.httpSecrets],
    );

    expect(told.map(({ path }) => path.split("/")[2]).sort()).toEqual(["RunLongTask", "RunTask"]);
    for (const { props } of told) {
      const { Variables: variables } = props.Environment;
      expect(parseSettings(variables, "httpAllowHosts", "httpAllowPrivate", "httpSecrets")).toEqual(
        {
          httpAllowHosts: ["a.example", "*.b.example"],
          httpAllowPrivate: ["http://127.0.0.1:*"],
          httpSecrets: {
            KEY: { arn: "arn:aws:secretsmanager:::secret:k", hosts: ["a.example"] },
          },
        },
      );
    }
  });

  test("refuses invalid hosts before anything is deployed", () => {
    expect(() => synthesised({ http: { allowHosts: ["https://a/b"] } })).toThrow(/allowHosts: /);
    expect(() => given({ httpSecrets: "KEY=arn" })).toThrow(/no JSON such as/);
  });

  test("has outputs for operators", () => {
    const stack = new EngineStack(anApp(), "Fermata", { fermata: { alarms: "off" } });

    const outputs = stack.node.children.map(({ node }) => node.id).filter((id) => id !== "Fermata");

    expect(outputs).toEqual(
      expect.arrayContaining(["ApiUrl", "TableName", "TasksQueueUrl", "TasksDeadLettersUrl"]),
    );
    expect(outputs.filter((id) => id.endsWith("QueueUrl"))).toHaveLength(5);
    expect(outputs.filter((id) => id.endsWith("DeadLettersUrl"))).toHaveLength(9);
  });
});

describe("tasks that run as Lambda functions", () => {
  test("are in the environment if only the deployment knows their ARN", () => {
    const { one } = synthesised((stack) => ({
      alarms: "off",
      tasks: {
        functions: { charge: { arn: stack.formatArn({ service: "lambda", resource: "f" }) } },
      },
    }));

    const told = (role: string) =>
      one("AWS::Lambda::Function", `${role}/Function/Resource`).props.Environment.Variables[
        VARIABLES.taskArns
      ];

    expect(JSON.stringify(told("RunTask"))).toContain("charge");
    expect(told("RunLongTask")).toEqual(told("RunTask"));
    expect(told("Advance")).toBeUndefined();
  });

  test("have a shorter timeout than the function that waits for them", () => {
    const arn = "arn:aws:lambda:eu-west-1:111122223333:function:slow";
    const timeout = Duration.minutes(15);

    expect(() => synthesised({ tasks: { functions: { slow: { arn, timeout } } } })).toThrow(
      /cannot be waited for that long/,
    );
  });

  test("cannot also have a handler in a folder", () => {
    const arn = "arn:aws:lambda:eu-west-1:111122223333:function:pack";

    expect(() =>
      synthesised({ tasks: { folders: "examples/order/tasks", functions: { pack: { arn } } } }),
    ).toThrow(/a handler in a folder and a function, too: pack/);
  });
});

describe("task folders", () => {
  test("are refused when two of them have a handler for one type", () => {
    const folders = ["examples/order/tasks", "examples/order/tasks"];

    expect(() => synthesised({ tasks: { folders } })).toThrow(/has two handlers/);
  });
});
