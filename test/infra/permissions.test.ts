import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { describe, expect, test } from "vitest";
import { permissionsOf } from "./support/permissions.ts";
import { inWords, synthesised } from "./support/synthesised.ts";

// What each function may do, and why. The lists are written here first and by hand: a function that
// gains a permission fails this test until its reason is added.

type Reasons = Readonly<Record<string, string>>;

const TABLE = "Instances/Table";
const BUCKET = "Blobs/Bucket";
const SCHEDULES = "Timers/Group/*";

/** Of every function. */
const logging = (role: string): Reasons => ({
  [`logs:CreateLogStream ${role}/Log`]: "each instance of a function writes a stream of its own",
  [`logs:PutLogEvents ${role}/Log`]: "its lines, and the metrics in them",
});

/** Of every function that runs steps: any step may need all of these. */
const STEPS: Reasons = {
  [`dynamodb:GetItem ${TABLE}`]: "the instance, strongly",
  [`dynamodb:BatchGetItem ${TABLE}`]: "the subscribers of a page; mailboxes and heads of waits",
  [`dynamodb:Query ${TABLE}`]: "rows of a signal, chunks of a history",
  [`dynamodb:PutItem ${TABLE}`]: "every commit puts whole items",
  [`dynamodb:DeleteItem ${TABLE}`]: "a commit that uses something up",
  [`dynamodb:ConditionCheckItem ${TABLE}`]: "a transaction that only looks at one of its items",
  [`dynamodb:BatchWriteItem ${TABLE}`]: "tidying dead hints",
  "sqs:SendMessage Queues/Tasks/Queue": "tasks of the next step",
  "sqs:SendMessage Queues/LongTasks/Queue": "tasks that take longer",
  "sqs:SendMessage Queues/Timers/Queue": "timers that are near",
  "sqs:SendMessage Queues/Pages/Queue": "pages of a broadcast, offers of an event",
  "sqs:SendMessage Queues/Steps/Queue": "facts that are parked",
  "events:PutEvents Signals/Bus": "signals, events and announcements",
  [`s3:GetObject ${BUCKET}/*`]: "large values; which, the hash of their content says",
  [`s3:PutObject ${BUCKET}/*`]: "large values; copying one onto itself ends it",
  [`s3:PutObjectTagging ${BUCKET}/*`]: "the tag for objects that are no longer needed",
  [`s3:ListBucket ${BUCKET}`]: "without it an absent object is called forbidden",
  [`scheduler:CreateSchedule ${SCHEDULES}`]: "a timer that is far away; of this group only",
  [`scheduler:DeleteSchedule ${SCHEDULES}`]: "a timer that was cancelled; of this group only",
  "iam:PassRole Timers/Caller when iam:PassedToService is scheduler.amazonaws.com":
    "the role with which Scheduler sends to the timer queue",
};

const consuming = (queue: string): Reasons => ({
  [`sqs:ReceiveMessage ${queue}`]: "Lambda polls with the function's role",
  [`sqs:DeleteMessage ${queue}`]: "Lambda removes what was done",
  [`sqs:GetQueueAttributes ${queue}`]: "Lambda scales by the queue's length",
  [`sqs:ChangeMessageVisibility ${queue}`]: "a message that has to come back says when",
});

const working = (queue: string): Reasons => ({
  ...consuming(`${queue}/Queue`),
  [`sqs:SendMessage ${queue}/DeadLetters`]: "an unreadable message is set aside at once",
});

const EXPECTED: Readonly<Record<string, Reasons>> = {
  "Functions/HttpApi": {
    ...logging("Functions/HttpApi"),
    ...STEPS,
    [`dynamodb:Query ${TABLE}/index/listing`]: "lists of instances and definitions",
    [`dynamodb:Query ${TABLE}/index/due`]: "POST /v1/recover sends again what is owed",
    [`s3:DeleteObject ${BUCKET}/*`]: "erasing an instance, with its large values",
    "lambda:InvokeFunction Functions/Compile/Function": "deploying and validating a definition",
  },
  "Functions/Compile": logging("Functions/Compile"),
  "Functions/RunTask": {
    ...logging("Functions/RunTask"),
    ...STEPS,
    ...working("Queues/Tasks"),
  },
  "Functions/RunLongTask": {
    ...logging("Functions/RunLongTask"),
    ...STEPS,
    ...working("Queues/LongTasks"),
  },
  "Functions/Advance": {
    ...logging("Functions/Advance"),
    ...STEPS,
    ...working("Queues/Steps"),
  },
  "Functions/FireTimer": {
    ...logging("Functions/FireTimer"),
    ...STEPS,
    ...working("Queues/Timers"),
  },
  "Functions/FanOutSignal": {
    ...logging("Functions/FanOutSignal"),
    ...STEPS,
    ...working("Queues/Pages"),
  },
  "Functions/DeadLetters": {
    ...logging("Functions/DeadLetters"),
    ...STEPS,
    ...consuming("Queues/Tasks/DeadLetters"),
    ...consuming("Queues/LongTasks/DeadLetters"),
  },
  "Functions/Sweep": {
    ...logging("Functions/Sweep"),
    [`dynamodb:Query ${TABLE}/index/due`]: "what is overdue",
    [`dynamodb:GetItem ${TABLE}`]: "what was found, and how far the last sweep got",
    [`dynamodb:BatchGetItem ${TABLE}`]: "many that were found",
    [`dynamodb:Query ${TABLE}`]: "tasks that a handler has come for since they were offered",
    [`dynamodb:PutItem ${TABLE}`]: "how far this sweep got; that a broadcast is out",
    [`dynamodb:DeleteItem ${TABLE}`]: "offers of tasks that were sent to their handler",
    "sqs:SendMessage Queues/Tasks/Queue": "tasks that a handler has come for",
    "sqs:SendMessage Queues/LongTasks/Queue": "the same, of those that take long",
    "sqs:SendMessage Queues/Timers/Queue": "timers that were not delivered",
    "sqs:SendMessage Queues/Pages/Queue": "events that were not offered",
    "sqs:SendMessage Queues/Steps/Queue": "mailboxes with undelivered messages",
    "events:PutEvents Signals/Bus": "broadcasts that did not get out",
    [`s3:GetObject ${BUCKET}/*`]: "an instance is read whole, large values too",
    [`s3:ListBucket ${BUCKET}`]: "without it an absent object is called forbidden",
  },
  "Timers/Caller": {
    "sqs:SendMessage Queues/Timers/Queue": "a timer that falls due soon",
    "sqs:SendMessage Timers/DeadLetters": "one that Scheduler could not deliver in a day",
  },
};

describe("the permissions of an installation", () => {
  const installation = synthesised({ alarms: "off" });

  test.each(Object.keys(EXPECTED))("of %s are those with a listed reason", (name) => {
    const role = name.startsWith("Functions/") ? `${name}/Role` : name;

    const permissions = permissionsOf(role, installation);

    expect(permissions).toEqual(Object.keys(EXPECTED[name] ?? {}).sort());
  });

  test("are all of a role listed here: there is no other role", () => {
    const roles = installation.of("AWS::IAM::Role").map(({ path }) => path);

    const known = Object.keys(EXPECTED).map((name) =>
      name.startsWith("Functions/") ? `Fermata/${name}/Role/Resource` : `Fermata/${name}/Resource`,
    );
    expect(roles.sort()).toEqual(known.sort());
  });

  test("are in no managed policy and no inline policy of a role", () => {
    for (const { props } of installation.of("AWS::IAM::Role")) {
      expect(props.ManagedPolicyArns).toBeUndefined();
      expect(props.Policies).toBeUndefined();
    }
  });

  test("have no action with a wildcard, and no resource with one except objects and schedules", () => {
    for (const { props } of installation.of("AWS::IAM::Policy")) {
      for (const { Action, Resource } of props.PolicyDocument.Statement) {
        expect([Action].flat().filter((action) => action.includes("*"))).toEqual([]);
        const wide = [Resource].flat().map((resource) => inWords(resource, installation));
        for (const resource of wide.filter((name) => name.includes("*"))) {
          expect([`${BUCKET}/*`, SCHEDULES]).toContain(resource);
        }
      }
    }
  });

  test("can be assumed only by Lambda, and those of the timers only by this schedule group", () => {
    const trust = Object.fromEntries(
      installation
        .of("AWS::IAM::Role")
        .map(({ path, props }) => [path, props.AssumeRolePolicyDocument.Statement]),
    );

    const { "Fermata/Timers/Caller/Resource": timers, ...functions } = trust;
    for (const [statement, ...more] of Object.values(functions)) {
      expect(more).toEqual([]);
      expect(statement.Principal).toEqual({ Service: "lambda.amazonaws.com" });
    }
    expect(timers).toEqual([
      {
        Action: "sts:AssumeRole",
        Effect: "Allow",
        Principal: { Service: "scheduler.amazonaws.com" },
        Condition: {
          StringEquals: {
            "aws:SourceAccount": { Ref: "AWS::AccountId" },
            "aws:SourceArn": { "Fn::GetAtt": [expect.stringMatching(/TimersGroup/), "Arn"] },
          },
        },
      },
    ]);
  });

  test("to invoke other functions are those of exactly these functions", () => {
    const arn = "arn:aws:lambda:eu-west-1:111122223333:function:charge";
    const elsewhere = synthesised({
      alarms: "off",
      tasks: { functions: { charge: { arn } } },
    });

    for (const role of ["Functions/RunTask/Role", "Functions/RunLongTask/Role"]) {
      expect(permissionsOf(role, elsewhere)).toContain(`lambda:InvokeFunction ${arn}`);
    }
    expect(permissionsOf("Functions/Advance/Role", elsewhere).join()).not.toContain("lambda:");
  });

  test("to read secrets are those of exactly these secrets, in the functions that run tasks", () => {
    const arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:stripe-AbCdEf";
    const installation = synthesised((stack) => ({
      alarms: "off",
      http: {
        secrets: {
          STRIPE_KEY: { secret: arn, hosts: ["api.stripe.com"] },
          CRM_KEY: {
            secret: Secret.fromSecretNameV2(stack, "Crm", "crm"),
            field: "key",
            hosts: ["crm.example.com"],
          },
        },
      },
    }));

    for (const role of ["Functions/RunTask/Role", "Functions/RunLongTask/Role"]) {
      const reading = permissionsOf(role, installation).filter((each) => /secret|kms/.test(each));
      expect(reading).toEqual([
        expect.stringMatching(/^secretsmanager:GetSecretValue .*:secret:crm-\?{6}$/),
        `secretsmanager:GetSecretValue ${arn}`,
      ]);
    }
    const others = installation
      .of("AWS::IAM::Policy")
      .filter(({ path }) => !/Run(Long)?Task/.test(path));
    expect(JSON.stringify(others)).not.toContain("secretsmanager");
  });

  test("include no schedules if the wheel holds the timers", () => {
    const wheel = synthesised({ alarms: "off", timers: "wheel" });

    const all = wheel.of("AWS::IAM::Policy").map(({ props }) => JSON.stringify(props));

    expect(all.join()).not.toMatch(/scheduler:|iam:PassRole/);
    expect(wheel.of("AWS::Scheduler::ScheduleGroup")).toEqual([]);
  });
});
