/**
 * User tasks. With the marker `zeebe:userTask` only users complete them; without it, as older
 * modelers write them, they are jobs of a reserved type that users may complete as well.
 */
import { type Computed, isVariableName } from "../../definition/expression.ts";
import type { Behaviour } from "../../definition/graph.ts";
import type { Json } from "../../definition/json.ts";
import { MAX_CANDIDATES, MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { parseZonedInstant } from "../../definition/time/instant.ts";
import {
  EMBEDDED_FORM,
  type Form,
  MAX_PRIORITY,
  USER_TASK_TYPE,
  type UserTaskSpec,
} from "../../definition/user-task.ts";
import { type Context, computed } from "./context.ts";
import { fits } from "./named.ts";
import { called, childrenOf, extensionsOf, idOf } from "./source.ts";
import { headersOf } from "./tasks.ts";
import type { XmlElement } from "./xml.ts";

/** Reads a user task; everything that is wrong with it is reported. */
export function userTask(task: XmlElement, context: Context): Behaviour | undefined {
  const headers = headersOf(task, context.report);
  const person = userTaskSpecOf(task, context);
  if (headers === undefined || person === undefined) return undefined;
  return { kind: "task", type: TYPE, retries: ONCE, ...headers, person };
}

const TYPE: Computed = { kind: "static", value: USER_TASK_TYPE };
/** A user task has a single attempt. */
const ONCE: Computed = { kind: "static", value: 1 };

function userTaskSpecOf(task: XmlElement, context: Context): UserTaskSpec | undefined {
  const asJob = extensionsOf(task, "zeebe:userTask").length === 0;
  const [assignment] = extensionsOf(task, "zeebe:assignmentDefinition");
  const [schedule] = extensionsOf(task, "zeebe:taskSchedule");
  const assignee = assigneeOf(task, attribute(assignment, "assignee"), context);
  const users = candidatesOf(task, attribute(assignment, "candidateUsers"), context);
  const groups = candidatesOf(task, attribute(assignment, "candidateGroups"), context);
  const due = dateOf(task, { as: "due date", text: attribute(schedule, "dueDate") }, context);
  const later = { as: "follow-up date", text: attribute(schedule, "followUpDate") };
  const followUp = dateOf(task, later, context);
  const priority = priorityOf(task, context);
  const form = formOf(task, { asJob }, context);
  const requires = requiredOf(task, context);
  const isSound = isRead(assignee) && isRead(users) && isRead(groups) && isRead(due);
  if (!isSound || !isRead(followUp) || !isRead(priority) || !isRead(form) || !isRead(requires)) {
    return undefined;
  }
  return {
    ...(asJob && { asJob }),
    ...(assignee !== NOT_SAID && { assignee }),
    ...(users !== NOT_SAID && { candidateUsers: users }),
    ...(groups !== NOT_SAID && { candidateGroups: groups }),
    ...(due !== NOT_SAID && { dueDate: due }),
    ...(followUp !== NOT_SAID && { followUpDate: followUp }),
    ...(priority !== NOT_SAID && { priority }),
    ...(form !== NOT_SAID && { form }),
    ...(requires !== NOT_SAID && { requires }),
  };
}

/** Stands for an absent attribute; undefined means refused. */
const NOT_SAID: unique symbol = Symbol("not said");
type Read<T> = T | typeof NOT_SAID | undefined;

const isRead = <T>(read: Read<T>): read is T | typeof NOT_SAID => read !== undefined;

/** Modelers leave empty attributes behind; they count as absent. */
function attribute(element: XmlElement | undefined, name: string): string | undefined {
  const text = element?.attributes.get(name);
  return text === "" ? undefined : text;
}

function assigneeOf(task: XmlElement, text: string | undefined, context: Context): Read<Computed> {
  if (text === undefined) return NOT_SAID;
  const value = computed({ at: task, text, as: "assignee" }, context);
  if (value?.kind !== "static" || isName(text)) return value;
  return context.report.refuse({
    code: "bpmn/invalid-candidates",
    at: task,
    message: `${called(task)}: ${quoted(text)} cannot be the name of a user.`,
    hint: NAMES,
  });
}

/** A comma-separated list, or an expression that gives a list of texts. */
function candidatesOf(
  task: XmlElement,
  text: string | undefined,
  context: Context,
): Read<Computed> {
  if (text === undefined) return NOT_SAID;
  if (text.startsWith("=")) return computed({ at: task, text, as: "list of candidates" }, context);
  const names = text.split(",").map((name) => name.trim());
  const value = [...new Set(names)];
  if (names.every(isName) && value.length <= MAX_CANDIDATES) return { kind: "static", value };
  return context.report.refuse({
    code: "bpmn/invalid-candidates",
    at: task,
    message:
      value.length > MAX_CANDIDATES
        ? `${called(task)} has ${value.length} candidates in one list; the limit is ${MAX_CANDIDATES}.`
        : `${called(task)}: ${quoted(text)} is not a list of names.`,
    hint: `Write names with commas between them, for example sales, support, at most ${MAX_CANDIDATES}. ${NAMES}`,
  });
}

const NAMES = `A name has 1 to ${MAX_NAME_LENGTH} characters.`;

const isName = (name: string): boolean =>
  name.trim() !== "" && name.length <= MAX_NAME_LENGTH && name.isWellFormed();

function dateOf(
  task: XmlElement,
  { as, text }: Readonly<{ as: string; text: string | undefined }>,
  context: Context,
): Read<Computed> {
  if (text === undefined) return NOT_SAID;
  const value = computed({ at: task, text, as }, context);
  const parsed = value?.kind === "static" ? parseZonedInstant(text) : undefined;
  if (parsed?.ok !== false) return value;
  const message = `${called(task)}: the ${as}: ${parsed.problem}`;
  return context.report.refuse({ code: "bpmn/invalid-date", at: task, message, hint: parsed.hint });
}

function priorityOf(task: XmlElement, context: Context): Read<Computed> {
  const [definition] = extensionsOf(task, "zeebe:priorityDefinition");
  const text = attribute(definition, "priority");
  if (text === undefined) return NOT_SAID;
  const isInRange = /^\d{1,3}$/.test(text) && Number(text) <= MAX_PRIORITY;
  if (text.startsWith("=") || isInRange) {
    return computed({ at: task, text, as: "priority" }, context, "typed");
  }
  return context.report.refuse({
    code: "bpmn/invalid-priority",
    at: task,
    message: `${called(task)}: ${quoted(text)} is not a priority.`,
    hint: `Write a whole number from 0 to ${MAX_PRIORITY}, or an expression that begins with =.`,
  });
}

/**
 * By its id, or by a reference or key that only the user interface understands; exactly one of
 * them.
 */
function formOf(
  task: XmlElement,
  { asJob }: Readonly<{ asJob: boolean }>,
  context: Context,
): Read<Form> {
  const [definition] = extensionsOf(task, "zeebe:formDefinition");
  if (definition === undefined) return NOT_SAID;
  const other = asJob ? "formKey" : "externalReference";
  const formId = attribute(definition, "formId");
  const reference = attribute(definition, other);
  const stray = attribute(definition, asJob ? "externalReference" : "formKey");
  if ((formId === undefined) === (reference === undefined) || stray !== undefined) {
    return refuseForm(task, `needs either formId or ${other}`, FORM_HINT, context);
  }
  for (const name of ["formId", other, "versionTag"]) {
    const text = attribute(definition, name) ?? "";
    if (!fits({ at: task, text, as: name }, context, MAX_LABEL_LENGTH)) return undefined;
  }
  const binding = bindingOf(task, definition, context);
  if (formId !== undefined) return binding && { formId, ...binding };
  if (reference === undefined || binding === undefined) return undefined;
  if (!asJob) return { externalReference: reference };
  warnWithoutForm(task, reference, context);
  return { formKey: reference };
}

const FORM_HINT =
  "Write one of them: formId for a form that is deployed elsewhere; with <zeebe:userTask /> externalReference, without it formKey.";

type Binding = Pick<Extract<Form, { formId: string }>, "binding" | "versionTag">;

function bindingOf(
  task: XmlElement,
  definition: XmlElement,
  context: Context,
): Binding | undefined {
  const type = attribute(definition, "bindingType");
  const versionTag = attribute(definition, "versionTag");
  const binding = BINDINGS.find((known) => known === type);
  if (type !== undefined && binding === undefined) {
    return refuseForm(
      task,
      `has the binding type ${quoted(type)}`,
      `Write ${BINDINGS.join(", ")}, or leave it out.`,
      context,
    );
  }
  if ((binding === "versionTag") !== (versionTag !== undefined)) {
    return refuseForm(
      task,
      "has a version tag without that binding type, or the other way round",
      'Write bindingType="versionTag" together with versionTag, or none of them.',
      context,
    );
  }
  return { ...(binding && { binding }), ...(versionTag !== undefined && { versionTag }) };
}

const BINDINGS = ["latest", "deployment", "versionTag"] as const;

function refuseForm(task: XmlElement, what: string, hint: string, { report }: Context): undefined {
  const message = `${called(task)}: its form ${what}.`;
  return report.refuse({ code: "bpmn/invalid-form", at: task, message, hint });
}

/** The user interface will not find the form; the task itself runs. */
function warnWithoutForm(task: XmlElement, formKey: string, { forms, report }: Context): void {
  if (!formKey.startsWith(EMBEDDED_FORM)) return;
  const id = formKey.slice(EMBEDDED_FORM.length);
  if (forms?.has(id)) return;
  report.warn({
    code: "bpmn/form-not-found",
    at: task,
    message: `${called(task)}: the process has no form ${quoted(id)}.`,
    hint: `Add <zeebe:userTaskForm id="${id}"> to the extension elements of the process.`,
  });
}

/** Outputs that the user has to provide, named by a property of the task. */
function requiredOf(task: XmlElement, { report }: Context): Read<readonly string[]> {
  const property = extensionsOf(task, "zeebe:properties")
    .flatMap((all) => childrenOf(all, "zeebe:property"))
    .find((one) => one.attributes.get("name") === "requiredOutputs");
  const text = attribute(property, "value");
  if (text === undefined) return NOT_SAID;
  const names = text.split(",").map((name) => name.trim());
  if (names.every(isVariableName)) return [...new Set(names)];
  return report.refuse({
    code: "bpmn/invalid-required-output",
    at: task,
    message: `${called(task)}: ${quoted(text)} is not a list of variables.`,
    hint: "Write the names of variables with commas between them, for example approved, comment.",
  });
}

/** The ids of the forms in a process. */
export const formIdsOf = (process: XmlElement): ReadonlySet<string> =>
  new Set(extensionsOf(process, "zeebe:userTaskForm").map(idOf));

/** Forms in the process itself, unchanged. */
export function formsOf(
  process: XmlElement,
  { report }: Context,
): Pick<Extract<Behaviour, { kind: "process" }>, "forms"> {
  const forms = new Map<string, Json>();
  for (const form of extensionsOf(process, "zeebe:userTaskForm")) {
    const id = idOf(form);
    const body = parseForm(form.text);
    if (id !== "" && !forms.has(id) && body !== undefined) forms.set(id, body);
    else {
      report.refuse({
        code: "bpmn/invalid-form",
        at: process,
        message: `${called(process)}: the form ${quoted(id)} cannot be used.`,
        hint: "Give every <zeebe:userTaskForm> an id of its own, and JSON as its text.",
      });
    }
  }
  return forms.size === 0 ? {} : { forms: Object.fromEntries(forms) };
}

function parseForm(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
