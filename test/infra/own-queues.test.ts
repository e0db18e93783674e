import { Key } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { describe, expect, test } from "vitest";
import { VARIABLES } from "../../functions/settings.ts";
import { permissionsOf } from "./support/permissions.ts";
import { inWords, type Synthesised, synthesised } from "./support/synthesised.ts";

const CARDS = "arn:aws:sqs:eu-west-1:111122223333:cards";
const LETTERS = "arn:aws:sqs:eu-west-1:111122223333:letters";

/**
 * Every function that runs steps may open a task, and the sweep moves those that were offered
 * before.
 */
const SENDING = [
  "HttpApi",
  "RunTask",
  "RunLongTask",
  "Advance",
  "FireTimer",
  "FanOutSignal",
  "DeadLetters",
  "Sweep",
].map((name) => `Functions/${name}/Role`);

const without = synthesised({ alarms: "off" });

/** The additional permissions of a role if there are user's own queues. */
function gained(role: string, installation: Synthesised): readonly string[] {
  const before = permissionsOf(role, without);
  return permissionsOf(role, installation).filter((each) => !before.includes(each));
}

const rolesOf = (installation: Synthesised): readonly string[] =>
  installation
    .of("AWS::IAM::Role")
    .map(({ path }) => path.replace(/^Fermata\//, "").replace(/\/Resource$/, ""));

describe("a user's own queues", () => {
  test("can be read and sent to by the functions that open tasks, and by nothing else", () => {
    const installation = synthesised({ alarms: "off", tasks: { queues: [CARDS, LETTERS] } });

    const allowed = [CARDS, LETTERS].flatMap((arn) => [
      `sqs:GetQueueUrl ${arn}`,
      `sqs:SendMessage ${arn}`,
    ]);
    for (const role of rolesOf(installation)) {
      const listing = role.includes("Sweep")
        ? ["dynamodb:Query Instances/Table/index/listing"]
        : [];
      const expected = SENDING.includes(role) ? [...allowed, ...listing].sort() : [];
      expect([role, gained(role, installation)]).toEqual([role, expected]);
    }
    expect(rolesOf(installation)).toEqual(expect.arrayContaining(SENDING));
  });

  test("are configured for those functions, and for no others", () => {
    const installation = synthesised({ alarms: "off", tasks: { queues: [CARDS, LETTERS, CARDS] } });

    for (const { path, props } of installation.of("AWS::Lambda::Function")) {
      const told = props.Environment?.Variables?.[VARIABLES.taskQueues];
      const isTold = !path.includes("Compile");
      expect([path, told]).toEqual([path, isTold ? JSON.stringify([CARDS, LETTERS]) : undefined]);
    }
  });

  test("leave no resource if there are none", () => {
    for (const tasks of [{}, { queues: [] }]) {
      const installation = synthesised({ alarms: "off", tasks });

      for (const role of rolesOf(installation)) expect(gained(role, installation)).toEqual([]);
      const functions = JSON.stringify(installation.of("AWS::Lambda::Function"));
      expect(functions).not.toContain(VARIABLES.taskQueues);
    }
  });

  test("of the same app may be passed as constructs, with their encryption key", () => {
    const installation = synthesised((stack) => ({
      alarms: "off",
      tasks: {
        queues: [
          new Queue(stack, "Plain"),
          new Queue(stack, "Managed", { encryption: QueueEncryption.KMS_MANAGED }),
          new Queue(stack, "Locked", {
            encryption: QueueEncryption.KMS,
            encryptionMasterKey: new Key(stack, "Key"),
          }),
          Queue.fromQueueAttributes(stack, "Known", {
            queueArn: CARDS,
            keyArn: "arn:aws:kms:eu-west-1:111122223333:key/1234",
          }),
        ],
      },
    }));

    const queues = ["Plain", "Managed", "Locked", CARDS];
    const keys = ["Key", "arn:aws:kms:eu-west-1:111122223333:key/1234"];
    const expected = [
      ...queues.flatMap((queue) => [`sqs:GetQueueUrl ${queue}`, `sqs:SendMessage ${queue}`]),
      ...keys.flatMap((key) => [`kms:Decrypt ${key}`, `kms:GenerateDataKey ${key}`]),
    ].sort();
    for (const role of SENDING.filter((name) => !name.includes("Sweep"))) {
      expect([role, gained(role, installation)]).toEqual([role, expected]);
    }
    const { props } = installation.one("AWS::Lambda::Function", "Advance/Function/Resource");
    const told = inWords(props.Environment.Variables[VARIABLES.taskQueues], installation);
    expect(JSON.parse(told)).toEqual(queues);
  });

  test("that cannot be sent to are refused before anything is deployed, all at once", () => {
    const deploy = () =>
      synthesised((stack) => ({
        alarms: "off",
        tasks: {
          queues: [
            "cards",
            "arn:aws:sns:eu-west-1:111122223333:cards",
            `${CARDS}.fifo`,
            new Queue(stack, "InOrder", { fifo: true }),
            CARDS,
          ],
        },
      }));

    expect(deploy).toThrow(
      /queues: cards is not the ARN.*cards is not the ARN.*cards\.fifo is a FIFO.*Test\/InOrder is a FIFO/,
    );
  });

  test("of another region are refused if the installation's region is known", () => {
    const inRegion = (region: string) => () =>
      synthesised({ alarms: "off", tasks: { queues: [CARDS] } }, { region });

    expect(inRegion("eu-central-1")).toThrow(/cards is in another region.*eu-central-1/);
    expect(inRegion("eu-west-1")).not.toThrow();
  });
});
