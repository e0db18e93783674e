import { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { Auth } from "./api-access.ts";
import type { FermataProps } from "./fermata.ts";
import type { HttpTaskProps } from "./http-tasks.ts";
import type { TasksProps } from "./tasks.ts";

export type AppSettings = Readonly<{
  stackName: string;
  /** Deploys with the caller's own credentials instead of the roles of the bootstrap stack. */
  usesCliCredentials: boolean;
  fermata: FermataProps;
}>;

type Context = (name: string) => unknown;

/** Parses an installation's settings from the context; throws at the first invalid one. */
export function appSettings(context: Context): AppSettings {
  const text = textOf(context);
  const number = numberOf(text);
  const synthesizer = oneOf(text, "synthesizer", ["default", "cli-credentials"]);
  return {
    stackName: text("name") ?? "Fermata",
    usesCliCredentials: synthesizer === "cli-credentials",
    fermata: {
      auth: authOf(text),
      api: oneOf(text, "api", ["http", "rest"]),
      timers: oneOf(text, "timers", ["scheduler", "wheel"]),
      announce: oneOf(text, "announce", ["no", "yes"]) === "yes",
      paused: oneOf(text, "paused", ["no", "yes"]) === "yes",
      removalPolicy:
        oneOf(text, "removal", ["retain", "destroy"]) === "destroy"
          ? RemovalPolicy.DESTROY
          : RemovalPolicy.RETAIN,
      alarms: oneOf(text, "alarms", ["on", "off"]) === "off" ? "off" : {},
      ...optional("tasks", tasksOf(text)),
      ...optional("http", httpOf(text)),
      ...optional("cors", corsOf(text("corsOrigins"))),
      ...optional("retention", daysOf(number("retentionDays"))),
      ...optional("timerQueueMaxSeconds", number("timerQueueMaxSeconds")),
      ...optional("scheduleLeadSeconds", number("scheduleLeadSeconds")),
      ...optional("taskMemoryMb", number("taskMemoryMb")),
      ...optional("tenant", text("tenant")),
      ...optional("restoredTable", text("restoredTable")),
    },
  };
}

type Text = (name: string) => string | undefined;

function textOf(context: Context): Text {
  return (name) => {
    const value = context(name);
    return value === undefined || value === null || value === "" ? undefined : String(value);
  };
}

function numberOf(text: Text): (name: string) => number | undefined {
  return (name) => {
    const value = text(name);
    if (value === undefined) return undefined;
    if (/^\d+$/.test(value)) return Number(value);
    throw new Error(`"${value}" is no whole number (context ${name}).`);
  };
}

/** The first choice is the default. */
function oneOf<T extends string>(text: Text, name: string, choices: readonly [T, ...T[]]): T {
  const value = text(name) ?? choices[0];
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw new Error(`"${value}" is none of ${choices.join(", ")} (context ${name}).`);
}

function authOf(text: Text): Auth {
  const kind = oneOf(text, "auth", ["iam", "jwt", "none"]);
  if (kind !== "jwt") return { kind };
  const issuer = text("jwtIssuer");
  const audience = text("jwtAudience");
  if (issuer === undefined || audience === undefined) {
    throw new Error("JWT needs its issuer and its audience (context jwtIssuer and jwtAudience).");
  }
  return { kind, issuer, audience: audience.split(",") };
}

function tasksOf(text: Text): TasksProps | undefined {
  const [folders, queues] = [text("tasks"), text("taskQueues")];
  if (folders === undefined && queues === undefined) return undefined;
  return {
    ...optional("folders", folders?.split(",")),
    ...optional("queues", queues?.split(",")),
  };
}

/** The secrets are JSON: `{"NAME":{"secret":"arn:…","hosts":["api.example.com"]}}`. */
function httpOf(text: Text): HttpTaskProps | undefined {
  const [allowHosts, allowPrivate, secrets] = [
    text("httpAllowHosts"),
    text("httpAllowPrivate"),
    text("httpSecrets"),
  ];
  if ([allowHosts, allowPrivate, secrets].every((each) => each === undefined)) return undefined;
  return {
    ...optional("allowHosts", allowHosts?.split(",")),
    ...optional("allowPrivate", allowPrivate?.split(",")),
    ...optional("secrets", secrets === undefined ? undefined : parseSecrets(secrets)),
  };
}

function parseSecrets(text: string): NonNullable<HttpTaskProps["secrets"]> {
  try {
    return JSON.parse(text) as NonNullable<HttpTaskProps["secrets"]>;
  } catch {
    throw new Error(
      'The secrets are no JSON such as {"API_KEY":{"secret":"arn:…","hosts":["api.example.com"]}} (context httpSecrets).',
    );
  }
}

function corsOf(origins: string | undefined) {
  return origins === undefined ? undefined : { origins: origins.split(",") };
}

function daysOf(days: number | undefined): Duration | undefined {
  return days === undefined ? undefined : Duration.days(days);
}

/** A property that is left out where it has no value. */
function optional<N extends string, T>(name: N, value: T | undefined): { [K in N]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [K in N]: T });
}
