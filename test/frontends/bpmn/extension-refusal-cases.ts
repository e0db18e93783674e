// Wrong values of the extensions of calls, user tasks and loops, attribute by attribute: each is
// reported with its element, its line and a fix.
import type { BpmnCode } from "../../../lib/frontends/bpmn/codes.ts";
import {
  assignment,
  extensions,
  ioMapping,
  loop,
  person,
  properties,
  sequence,
  xml,
} from "../../support/bpmn-xml.ts";
import { type Case, one } from "./refusal-cases.ts";

const call = (
  why: string,
  attributes: Readonly<Record<string, string>>,
  ...more: readonly string[]
): Case =>
  one(
    why,
    sequence(
      xml(
        "callActivity",
        { id: "c" },
        extensions(xml("zeebe:calledElement", { processId: "q", ...attributes }), ...more),
      ),
    ),
    "c",
    4,
  );
const detached = (why: string, value?: string): Case =>
  call(
    why,
    {},
    xml(
      "zeebe:properties",
      {},
      xml("zeebe:property", { name: "detached", ...(value !== undefined && { value }) }),
    ),
  );
const task = (why: string, ...more: readonly string[]): Case =>
  one(why, sequence(person("u", ...more)), "u", 4);
const schedule = (attributes: Readonly<Record<string, string>>) =>
  xml("zeebe:taskSchedule", attributes);
const looped = (why: string, attributes: Readonly<Record<string, string>>): Case =>
  one(
    why,
    sequence(
      xml(
        "callActivity",
        { id: "c" },
        extensions(xml("zeebe:calledElement", { processId: "q" })),
        loop({ inputCollection: "=items", ...attributes }),
      ),
    ),
    "c",
    4,
  );

/** Several codes have cases elsewhere as well. */
export const EXTENSION_ERRORS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/invalid-boolean": [
    detached("detached is a word", "maybe"),
    detached("detached is yes", "yes"),
    detached("detached is empty", ""),
    detached("detached has no value"),
    call("propagateAllParentVariables is a word", { propagateAllParentVariables: "some" }),
    call("propagateAllChildVariables is empty", { propagateAllChildVariables: "" }),
  ],
  "bpmn/invalid-binding": [
    call("a version tag that is an expression", { bindingType: "versionTag", versionTag: "=v" }),
    call("a binding with a capital", { bindingType: "Latest" }),
    call("a tag beside deployment", { bindingType: "deployment", versionTag: "1" }),
  ],
  "bpmn/feel-syntax": [
    call("a broken process id", { processId: "=a +" }),
    call("an empty expression for the process id", { processId: "=" }),
    task("a broken assignee", assignment({ assignee: "=[" })),
    task("broken candidate users", assignment({ candidateUsers: "=[who" })),
    task("broken candidate groups", assignment({ candidateGroups: "=)" })),
    task("a broken due date", schedule({ dueDate: "=now( +" })),
    task("a broken follow-up date", schedule({ followUpDate: "=" })),
    task("a broken priority", xml("zeebe:priorityDefinition", { priority: "=1 +" })),
    task("a broken output", ioMapping(xml("zeebe:output", { source: "=[", target: "decision" }))),
    looped("a broken output element", { outputCollection: "results", outputElement: "=[" }),
  ],
  "bpmn/invalid-candidates": [
    task("a list that ends with a comma", assignment({ candidateGroups: "sales," })),
    task("only commas", assignment({ candidateUsers: ",," })),
  ],
  "bpmn/invalid-date": [
    task("a due date on no day of a year", schedule({ dueDate: "2030-02-30T10:00:00Z" })),
    task("a follow-up date that is a duration", schedule({ followUpDate: "P2D" })),
  ],
  "bpmn/invalid-required-output": [
    task("required outputs that begin with a digit", properties({ requiredOutputs: "1st" })),
    task("required outputs as an expression", properties({ requiredOutputs: "=names" })),
  ],
  "bpmn/invalid-loop-variable": [
    looped("an input element with a blank", { inputElement: "an item" }),
    looped("an output collection that is a keyword", {
      outputCollection: "for",
      outputElement: "=result",
    }),
  ],
  "bpmn/loop-not-feel": [
    looped("an input collection that is no expression", { inputCollection: "items" }),
  ],
};
