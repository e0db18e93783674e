import { type Computed, isVariableName } from "../../definition/expression.ts";
import type { Behaviour } from "../../definition/graph.ts";
import { isKeyName, KEY_NAME_RULE } from "../../definition/key-name.ts";
import { quoted } from "../../definition/parsed.ts";
import { parseDuration } from "../../definition/time/duration.ts";
import { type Context, computed } from "./context.ts";
import type { Report } from "./report.ts";
import { called, childrenOf, extensionsOf } from "./source.ts";
import type { XmlElement } from "./xml.ts";

/** Tasks for workers: service and send tasks, business rules and scripts with a job, messages. */
export function jobTask(task: XmlElement, context: Context): Behaviour | undefined {
  const { report } = context;
  const [definition] = extensionsOf(task, "zeebe:taskDefinition");
  const written = definition?.attributes.get("type") ?? "";
  // Headers are read first, so that their problems are reported together with the others.
  const headers = headersOf(task, report);
  if (definition === undefined || written.trim() === "") {
    return report.refuse({
      code: "bpmn/task-without-type",
      at: task,
      message: `${called(task)} does not say which worker does it.`,
      hint: `${SENDING.has(task.name) ? "A message is sent by a worker. " : ""}Add <zeebe:taskDefinition type="charge-card" /> to its extension elements; the type names the handler.`,
    });
  }
  const type = typeOf(task, written, context);
  const retries = retriesOf(task, definition, context);
  if (type === undefined || retries === undefined || headers === undefined) return undefined;
  return { kind: "task", type, retries, ...headers };
}

function typeOf(task: XmlElement, text: string, context: Context): Computed | undefined {
  const type = computed({ at: task, text, as: "task type" }, context);
  if (type?.kind !== "static" || isKeyName(text)) return type;
  return context.report.refuse({
    code: "bpmn/name-too-long",
    at: task,
    message: `${called(task)}: the task type ${quoted(text)} ${KEY_NAME_RULE}.`,
    hint: "Choose a shorter one; the type names the handler or the worker.",
  });
}

/** Their names do not say that they need a worker. */
const SENDING: ReadonlySet<string> = new Set([
  "bpmn:sendTask",
  "bpmn:intermediateThrowEvent",
  "bpmn:endEvent",
]);

/** A script task: a FEEL script that is evaluated in place, or else a job. */
export function scriptTask(task: XmlElement, context: Context): Behaviour | undefined {
  const { report } = context;
  const [script] = extensionsOf(task, "zeebe:script");
  const isJob = extensionsOf(task, "zeebe:taskDefinition").length > 0;
  if (script === undefined && isJob) return jobTask(task, context);
  if (isJob) {
    return report.refuse({
      code: "bpmn/ambiguous-task",
      at: task,
      message: `${called(task)} has both a script and a task definition.`,
      hint: "Keep <zeebe:script> to evaluate it in place, or <zeebe:taskDefinition> to have a worker do it.",
    });
  }
  const text = script?.attributes.get("expression") ?? "";
  const result = resultVariable(task, script, report);
  if (text.trim() === "") {
    return report.refuse({
      code: "bpmn/script-without-expression",
      at: task,
      message: `${called(task)} has no script that can run.`,
      hint: 'Add <zeebe:script expression="=total * 1.2" resultVariable="gross" />, or a <zeebe:taskDefinition>. The plain BPMN script element is not run.',
    });
  }
  if (!text.startsWith("=")) {
    return report.refuse({
      code: "bpmn/script-not-feel",
      at: task,
      message: `${called(task)}: the script ${quoted(text)} is not a FEEL expression.`,
      hint: `Begin it with an equals sign: =${text.trim()}.`,
    });
  }
  const expression = computed({ at: task, text, as: "script" }, context);
  if (expression === undefined || result === undefined) return undefined;
  return { kind: "script", expression, result };
}

function resultVariable(
  task: XmlElement,
  script: XmlElement | undefined,
  report: Report,
): string | undefined {
  const name = script?.attributes.get("resultVariable") ?? "";
  if (script === undefined || isVariableName(name)) return name;
  return report.refuse({
    code: "bpmn/invalid-result-variable",
    at: task,
    message:
      name === ""
        ? `${called(task)} does not name the variable that takes its result.`
        : `${called(task)}: ${quoted(name)} is not a variable name.`,
    hint: "Write resultVariable with letters, digits and _, not beginning with a digit and no FEEL keyword.",
  });
}

/** Without retries there are three, as the zeebe extension says. */
function retriesOf(task: XmlElement, definition: XmlElement, context: Context) {
  const text = definition.attributes.get("retries") ?? "3";
  if (text.startsWith("=") || /^\d{1,9}$/.test(text)) {
    return computed({ at: task, text, as: "number of retries" }, context, "typed");
  }
  return context.report.refuse({
    code: "bpmn/invalid-retries",
    at: task,
    message: `${called(task)}: ${quoted(text)} is not a number of retries.`,
    hint: 'Write a whole number from 0 on, for example retries="3", or an expression that begins with =.',
  });
}

type Headers = Pick<Extract<Behaviour, { kind: "task" }>, "headers" | "backoff">;

/** Entries without a key or a value, which modelers write while editing, are left out. */
export function headersOf(task: XmlElement, report: Report): Headers | undefined {
  const [holder] = extensionsOf(task, "zeebe:taskHeaders");
  const headers = new Map<string, string>();
  let sound = true;
  for (const header of holder === undefined ? [] : childrenOf(holder, "zeebe:header")) {
    const key = header.attributes.get("key") ?? "";
    const value = header.attributes.get("value") ?? "";
    if (key === "" || value === "") continue;
    sound = isSoundHeader(key, headers.has(key), task, report) && sound;
    headers.set(key, value);
  }
  const backoff = headers.get("retryBackoff");
  if (backoff !== undefined) sound = isSoundBackoff(backoff, task, report) && sound;
  if (!sound) return undefined;
  return {
    ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
    ...(backoff !== undefined && { backoff }),
  };
}

function isSoundHeader(key: string, isTaken: boolean, task: XmlElement, report: Report): boolean {
  if (isTaken) {
    report.refuse({
      code: "bpmn/duplicate-header",
      at: task,
      message: `${called(task)} has two headers with the key ${quoted(key)}.`,
      hint: "Keep one of them, or give the other another key.",
    });
  }
  const isReserved = key.startsWith(RESERVED_PREFIX);
  if (isReserved) {
    report.refuse({
      code: "bpmn/reserved-header",
      at: task,
      message: `${called(task)}: the header key ${quoted(key)} is reserved.`,
      hint: `Choose a key that does not begin with ${RESERVED_PREFIX}.`,
    });
  }
  return !isTaken && !isReserved;
}

const RESERVED_PREFIX = "io.camunda.zeebe:";

function isSoundBackoff(text: string, task: XmlElement, report: Report): boolean {
  const parsed = parseDuration(text);
  const isForward =
    parsed.ok && parsed.value.months >= 0 && parsed.value.days >= 0 && parsed.value.timeMs >= 0;
  if (isForward) return true;
  const problem = parsed.ok ? `${quoted(text)} goes backwards.` : parsed.problem;
  report.refuse({
    code: "bpmn/invalid-retry-backoff",
    at: task,
    message: `${called(task)}: the header retryBackoff: ${problem}`,
    hint: parsed.ok ? "Write a duration without a minus sign, for example PT10S." : parsed.hint,
  });
  return false;
}
