/**
 * User tasks in a graph.
 *
 * 1. Assignee, candidates, dates and priority are computed when the task is reached, and stay so;
 *    only an assignment changes the assignee.
 * 2. An output mapping whose source is only a variable makes that variable required at completion,
 *    unless it has a value already. An optional one is written as an expression that works without.
 */
import { type Computed, FEEL, isVariableName } from "../../definition/expression.ts";
import type { Variables } from "../../definition/json.ts";
import { MAX_CANDIDATES, MAX_NAME_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { formatInstant, type Instant, parseInstant } from "../../definition/time/instant.ts";
import {
  DEFAULT_PRIORITY,
  EMBEDDED_FORM,
  type Form,
  MAX_PRIORITY,
  type UserTaskSpec,
} from "../../definition/user-task.ts";
import type { Assignment, TaskTicket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import type { TaskInput } from "../runner.ts";
import { demand, valueFrom } from "./evaluate.ts";
import { type Plan, spotOf } from "./plan.ts";
import type { Run } from "./run.ts";
import type { Token } from "./state.ts";
import { expected } from "./timer.ts";
import { lookupFrom } from "./variables.ts";

/** Computes the assignment of the user task that a token has reached. */
export async function assignmentFor(
  run: Run,
  token: Token,
  spec: UserTaskSpec,
): Promise<Assignment> {
  const about = { run, token };
  const assignee = await nameFrom(about, spec.assignee);
  const users = await namesFrom(about, spec.candidateUsers, "users");
  const groups = await namesFrom(about, spec.candidateGroups, "groups");
  const dueAt = await dateFrom(about, spec.dueDate);
  const followUpAt = await dateFrom(about, spec.followUpDate);
  const priority = await priorityFrom(about, spec.priority);
  return {
    ...(spec.asJob && { asJob: true as const }),
    ...(assignee !== "" && { assignee }),
    ...(users.length > 0 && { users }),
    ...(groups.length > 0 && { groups }),
    ...(dueAt !== undefined && { dueAt }),
    ...(followUpAt !== undefined && { followUpAt }),
    ...(priority !== DEFAULT_PRIORITY && { priority }),
  };
}

type Asked = Readonly<{
  ticket: TaskTicket;
  spec: UserTaskSpec;
  variables: Variables;
  headers: TaskInput["headers"];
}>;

/** The input of a user task, and the variables that its completion must set. */
export function userTaskInput(plan: Plan, { ticket, spec, variables, headers }: Asked): TaskInput {
  const { requires = [], form } = spec;
  const expects = spotOf(plan, ticket.element)
    .outputs.flatMap(({ source }) => variableIn(source))
    .filter((name) => !Object.hasOwn(variables, name));
  const needs = [...new Set([...requires, ...expects])];
  const formBody = form && bodyOf(plan, form);
  return {
    variables,
    headers: spec.asJob ? { ...headers, ...jobHeaders(ticket, form) } : headers,
    ...(needs.length > 0 && { needs }),
    ...(form && { form }),
    ...(formBody !== undefined && { formBody }),
  };
}

type About = Readonly<{ run: Run; token: Token }>;

/** Empty: none. */
async function nameFrom({ run, token }: About, of: Computed | undefined): Promise<string> {
  if (of === undefined) return "";
  const name = await demand(run, { kind: "string", of, lookup: lookupFrom(run, token) });
  return name === "" ? "" : checked(name);
}

async function namesFrom(
  { run, token }: About,
  of: Computed | undefined,
  what: string,
): Promise<readonly string[]> {
  if (of === undefined) return [];
  const names = await demand(run, { kind: "strings", of, lookup: lookupFrom(run, token) });
  const distinct = [...new Set(names)];
  if (distinct.length <= MAX_CANDIDATES) return distinct.map(checked);
  const message = `The task has ${distinct.length} candidate ${what}, ${MAX_CANDIDATES} is the limit. Name a group of them.`;
  throw new Refusal("EXTRACT_VALUE_ERROR", message);
}

/** Users and groups are parts of keys. */
function checked(name: string): string {
  const isFine = name !== "" && name.length <= MAX_NAME_LENGTH && !/[\0]/.test(name);
  if (isFine && name.isWellFormed()) return name;
  throw new Refusal(
    "EXTRACT_VALUE_ERROR",
    `${quoted(name)} cannot be the name of a user or group: it must have 1 to ${MAX_NAME_LENGTH} characters of text.`,
  );
}

/** A date is optional: null and the empty text are none. */
async function dateFrom(
  { run, token }: About,
  of: Computed | undefined,
): Promise<Instant | undefined> {
  if (of === undefined) return undefined;
  const lookup = lookupFrom(run, token);
  const value = await valueFrom(run, of, lookup);
  if (value === null || value === "") return undefined;
  const text = await demand(run, { kind: "string", of: { kind: "static", value }, lookup });
  return expected(parseInstant(text));
}

async function priorityFrom({ run, token }: About, of: Computed | undefined): Promise<number> {
  if (of === undefined) return DEFAULT_PRIORITY;
  const priority = await demand(run, { kind: "integer", of, lookup: lookupFrom(run, token) });
  if (priority >= 0 && priority <= MAX_PRIORITY) return priority;
  const message = `The priority of a task lies between 0 and ${MAX_PRIORITY}, and ${priority} does not.`;
  throw new Refusal("EXTRACT_VALUE_ERROR", message);
}

/** The variable of an expression that consists of nothing else. */
function variableIn(source: Computed): readonly string[] {
  const isFeel = source.kind === "feel" && (source.language ?? FEEL) === FEEL;
  const path = isFeel ? source.text.split(".") : [];
  return path.every(isVariableName) ? path.slice(0, 1) : [];
}

function bodyOf(plan: Plan, form: Form): TaskInput["formBody"] {
  if (!("formKey" in form) || !form.formKey.startsWith(EMBEDDED_FORM)) return undefined;
  return plan.forms.get(form.formKey.slice(EMBEDDED_FORM.length));
}

/** The job headers about the assignment, as Camunda workers read them. */
function jobHeaders({ person }: TaskTicket, form: Form | undefined): TaskInput["headers"] {
  const { assignee, users, groups, dueAt, followUpAt } = { ...person };
  const told = {
    assignee,
    candidateUsers: users && JSON.stringify(users),
    candidateGroups: groups && JSON.stringify(groups),
    dueDate: dateText(dueAt),
    followUpDate: dateText(followUpAt),
    formKey: form && "formKey" in form ? form.formKey : undefined,
  };
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, value]) =>
      value === undefined ? [] : [[`io.camunda.zeebe:${name}`, value]],
    ),
  );
}

const dateText = (date: Instant | undefined): string | undefined =>
  date === undefined ? undefined : formatInstant(date);
