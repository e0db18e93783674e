import { type App, Stack, Validations } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { AwsSolutionsChecks } from "cdk-nag";
import { describe, expect, test } from "vitest";
import { Fermata, type FermataProps } from "../../cdk/fermata.ts";
import { anApp } from "./support/synthesised.ts";

const VARIANTS: Readonly<Record<string, (stack: Stack) => FermataProps>> = {
  "as it comes": () => ({}),
  "with JWT, CORS and the wheel": () => ({
    auth: { kind: "jwt", issuer: "https://id.example.com", audience: ["fermata"] },
    cors: { origins: ["https://console.example.com"] },
    timers: "wheel",
  }),
  "with a key of its own": (stack) => ({
    encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }),
  }),
  "with secrets of its HTTP tasks": (stack) => ({
    http: {
      secrets: {
        BY_ARN: { secret: "arn:aws:secretsmanager:::secret:a-AbCdEf", hosts: ["a.example.com"] },
        BY_NAME: {
          secret: Secret.fromSecretNameV2(stack, "Secret", "b"),
          hosts: ["b.example.com"],
        },
      },
    },
  }),
  "with a queue of the user's": () => ({
    tasks: { queues: ["arn:aws:sqs:eu-west-1:111122223333:cards"] },
  }),
  "with a REST API": () => ({ api: "rest" }),
};

describe.each(Object.entries(VARIANTS))("an installation %s", (_, propsOf) => {
  const app = anApp();
  const stack = new Stack(app, "Test");
  new Fermata(stack, "Fermata", propsOf(stack));

  test("breaks no rule of AWS Solutions", () => {
    const { violations } = new AwsSolutionsChecks(app).validateScope(app);

    expect(
      violations.map(({ ruleName, violatingResources }) => [ruleName, violatingResources]),
    ).toEqual([]);
  });

  test("gives a reason for every suppressed rule, for one resource each", () => {
    const acknowledged = acknowledgements(app);

    expect(acknowledged.length).toBeGreaterThan(0);
    for (const { path, resources, rule, reason } of acknowledged) {
      expect([path, rule, resources]).toEqual([path, rule, 1]);
      expect(reason.length).toBeGreaterThan(40);
    }
  });
});

/** Every acknowledgement, with how many resources of the template it covers. */
function acknowledgements(app: App) {
  return app.node.findAll().flatMap((construct) =>
    construct.node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) =>
        Object.entries(data as Readonly<Record<string, string>>).map(([rule, reason]) => ({
          path: construct.node.path,
          resources: construct.node.findAll().filter((child) => "cfnResourceType" in child).length,
          rule,
          reason,
        })),
      ),
  );
}
