// What can be wrong with a user task, for each code the smallest files that earn it.
import { MAX_CANDIDATES, MAX_NAME_LENGTH } from "../../../lib/definition/limits.ts";
import type { BpmnCode } from "../../../lib/frontends/bpmn/codes.ts";
import {
  assignment,
  extensions,
  file,
  flow,
  person,
  process,
  properties,
  sequence,
  start,
  xml,
} from "../../support/bpmn-xml.ts";
import { type Case, one } from "./refusal-cases.ts";

const task = (why: string, ...more: readonly string[]): Case =>
  one(why, sequence(person("u", ...more)), "u", 4);
const asJob = (why: string, ...more: readonly string[]): Case =>
  one(why, sequence(xml("userTask", { id: "u" }, extensions(...more))), "u", 4);
const priority = (value: string) => xml("zeebe:priorityDefinition", { priority: value });
const schedule = (attributes: Readonly<Record<string, string>>) =>
  xml("zeebe:taskSchedule", attributes);
const form = (attributes: Readonly<Record<string, string>>) =>
  xml("zeebe:formDefinition", attributes);
const embedded = (attributes: Readonly<Record<string, string>>, text: string) =>
  xml("zeebe:userTaskForm", attributes, text);
const withForms = (why: string, ...forms: readonly string[]): Case =>
  one(
    why,
    file(process(extensions(...forms), start(), person("u"), flow("f1", "start", "u"))),
    "p",
    3,
  );

const tooMany = Array.from({ length: MAX_CANDIDATES + 1 }, (_, n) => `u${n}`).join(",");
const tooLong = "x".repeat(MAX_NAME_LENGTH + 1);

/** Files that earn one error each. */
export const PERSON_ERRORS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/invalid-candidates": [
    task("an assignee of blanks", assignment({ assignee: "  " })),
    task("an assignee of too many characters", assignment({ assignee: tooLong })),
    task("a list with a gap", assignment({ candidateUsers: "anna,,bert" })),
    task("a list of nothing", assignment({ candidateGroups: " " })),
    task("one candidate too many", assignment({ candidateGroups: tooMany })),
  ],
  "bpmn/invalid-date": [
    task("a due date in words", schedule({ dueDate: "tomorrow" })),
    task("a due date without an offset", schedule({ dueDate: "2030-01-31T10:00:00" })),
    task("a follow-up date that is a day", schedule({ followUpDate: "2030-01-31" })),
  ],
  "bpmn/invalid-priority": [
    task("one below the range", priority("-1")),
    task("one above it", priority("101")),
    task("half of one", priority("1.5")),
    task("a word", priority("high")),
  ],
  "bpmn/invalid-form": [
    task("a form without a name", form({})),
    task("a form with two names", form({ formId: "a", externalReference: "b" })),
    task("a form key beside the marker", form({ formKey: "a" })),
    asJob("an external reference without the marker", form({ externalReference: "a" })),
    task("an unknown binding", form({ formId: "a", bindingType: "newest" })),
    task("a version tag alone", form({ formId: "a", versionTag: "v1" })),
    task("a binding by version tag without one", form({ formId: "a", bindingType: "versionTag" })),
    withForms("a form of the process that is no JSON", embedded({ id: "f" }, "nope")),
    withForms("a form of the process without an id", embedded({}, "{}")),
    withForms("two with one id", embedded({ id: "f" }, "{}"), embedded({ id: "f" }, "{}")),
  ],
  "bpmn/invalid-required-output": [
    task("an output that FEEL cannot name", properties({ requiredOutputs: "approved, in" })),
    task("a gap between outputs", properties({ requiredOutputs: "approved,,comment" })),
  ],
};

/** Files that compile with a warning. */
export const PERSON_WARNINGS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/form-not-found": [
    asJob("a form that the process does not have", form({ formKey: "camunda-forms:bpmn:f" })),
  ],
};
