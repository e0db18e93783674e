import { describe, expect, test } from "vitest";
import { MAX_CANDIDATES } from "../../../lib/definition/limits.ts";
import {
  assignment,
  boundary,
  extensions,
  file,
  flow,
  headers,
  ioMapping,
  job,
  person,
  process,
  properties,
  sequence,
  start,
  timer,
  xml,
} from "../../support/bpmn-xml.ts";
import { errorsOf, graphOf, nodeOf, warningsOf } from "./compiling.ts";

const schedule = (attributes: Readonly<Record<string, string>>) =>
  xml("zeebe:taskSchedule", attributes);
const priority = (value: string) => xml("zeebe:priorityDefinition", { priority: value });
const form = (attributes: Readonly<Record<string, string>>) =>
  xml("zeebe:formDefinition", attributes);
const asJob = (id: string, ...more: readonly string[]) =>
  xml("userTask", { id }, ...(more.length > 0 ? [extensions(...more)] : []));
const written = (value: unknown) => ({ kind: "static", value });
const feel = (text: string) => ({ kind: "feel", text });

describe("a user task", () => {
  test("F66: has assignee, candidates, due date, priority and form", async () => {
    const source = sequence(
      person(
        "u",
        assignment({
          assignee: "=boss",
          candidateUsers: "=[boss]",
          candidateGroups: "sales, support ,sales",
        }),
        schedule({ dueDate: "2030-01-31T10:00:00Z", followUpDate: "=soon" }),
        priority("80"),
        form({ formId: "approve", bindingType: "versionTag", versionTag: "v2" }),
        headers(["color", "red"]),
        properties({ requiredOutputs: "approved, comment" }),
        ioMapping(xml("zeebe:output", { source: "=approved", target: "decision" })),
      ),
      boundary("late", "u", timer("timeDuration", "P1D")),
    );

    expect(await nodeOf(source, "u")).toMatchObject({
      kind: "task",
      type: written("io.camunda.zeebe:userTask"),
      retries: written(1),
      headers: { color: "red" },
      outputs: [{ target: "decision" }],
      person: {
        assignee: feel("boss"),
        candidateUsers: feel("[boss]"),
        candidateGroups: written(["sales", "support"]),
        dueDate: written("2030-01-31T10:00:00Z"),
        followUpDate: feel("soon"),
        priority: written(80),
        form: { formId: "approve", binding: "versionTag", versionTag: "v2" },
        requires: ["approved", "comment"],
      },
    });
    expect(await warningsOf(source)).toEqual([]);
  });

  test("without attributes is for everybody; empty attributes are ignored", async () => {
    const empty = person(
      "u",
      assignment({ assignee: "", candidateUsers: "", candidateGroups: "" }),
      schedule({ dueDate: "", followUpDate: "" }),
      priority(""),
    );

    expect(await nodeOf(sequence(person("u")), "u")).toMatchObject({ person: {} });
    expect(await nodeOf(sequence(empty), "u")).toHaveProperty("person", {});
  });

  test("without the marker is also a job", async () => {
    expect(await nodeOf(sequence(asJob("u")), "u")).toHaveProperty("person", { asJob: true });
    expect(await nodeOf(sequence(asJob("u", form({ formKey: "a" }))), "u")).toHaveProperty(
      "person",
      { asJob: true, form: { formKey: "a" } },
    );
  });

  test("may refer to a form in the process, which is kept unchanged", async () => {
    const forms = extensions(xml("zeebe:userTaskForm", { id: "f" }, '{"components": [1]}'));
    const withForm = (key: string) =>
      file(process(forms, start(), asJob("u", form({ formKey: key })), flow("f1", "start", "u")));

    const { nodes } = await graphOf(withForm("camunda-forms:bpmn:f"));

    expect(nodes[0]).toHaveProperty("forms", { f: { components: [1] } });
    expect(await warningsOf(withForm("camunda-forms:bpmn:f"))).toEqual([]);
    expect(await warningsOf(withForm("camunda-forms:bpmn:g"))).toEqual(["bpmn/form-not-found"]);
    expect(await warningsOf(withForm("elsewhere"))).toEqual([]);
  });

  test("ignores a job definition, and is refused with listeners", async () => {
    const listeners = xml("zeebe:taskListeners", {}, xml("zeebe:taskListener", { type: "x" }));

    expect(await warningsOf(sequence(person("u", job())))).toEqual(["bpmn/ignored-extension"]);
    expect(await errorsOf(sequence(person("u", listeners)))).toEqual(["bpmn/unsupported-element"]);
  });

  test("gets all its problems at once", async () => {
    const source = sequence(
      person(
        "u",
        assignment({ assignee: "=a b(", candidateUsers: "a,,b", candidateGroups: " " }),
        schedule({ dueDate: "tomorrow", followUpDate: "2030-01-01" }),
        priority("101"),
        form({ formId: "a", externalReference: "b" }),
        headers(["io.camunda.zeebe:assignee", "me"]),
        properties({ requiredOutputs: "a, in" }),
      ),
    );

    expect((await errorsOf(source)).toSorted()).toEqual([
      "bpmn/feel-syntax",
      "bpmn/invalid-candidates",
      "bpmn/invalid-candidates",
      "bpmn/invalid-date",
      "bpmn/invalid-date",
      "bpmn/invalid-form",
      "bpmn/invalid-priority",
      "bpmn/invalid-required-output",
      "bpmn/reserved-header",
    ]);
  });

  const many = (count: number) => Array.from({ length: count }, (_, n) => `u${n}`).join(",");

  test("may have as many candidates as the limit", async () => {
    const source = sequence(person("u", assignment({ candidateUsers: many(MAX_CANDIDATES) })));

    expect(await errorsOf(source)).toEqual([]);
  });
});
