import { describe, expect, test } from "vitest";
import { MAX_CANDIDATES, MAX_NAME_LENGTH } from "../../../lib/definition/limits.ts";
import type { UserTaskSpec } from "../../../lib/definition/user-task.ts";
import {
  aBoundaryError,
  anEnd,
  aProcess,
  aStart,
  aTask,
  aUserTask,
  type People,
} from "../../support/graph-builder.ts";
import { type Play, play } from "../../support/play.ts";

const approval = (people: People = {}, outputs: Readonly<Record<string, string>> = {}) =>
  aProcess(
    [aStart(), aUserTask("approve", people, { outputs }), anEnd()],
    ["start -> approve -> end"],
  );

const person = (order: Play) => order.task("approve").person;

function assign(order: Play, turn: number, assignee?: string) {
  const { id: ticket } = order.task("approve");
  return order.deliver({ kind: "task-assigned", ticket, turn, ...(assignee && { assignee }) });
}

describe("a user task", () => {
  test("F66: has the values that its model computes, when it is reached", async () => {
    const order = await play(
      approval({
        assignee: "=boss",
        candidateUsers: "=[boss, boss, deputy]",
        candidateGroups: ["sales", "support"],
        dueDate: '=date and time(at) + duration("P1D")',
        followUpDate: "2024-01-03T00:00:00+01:00",
        priority: "=40 + 40",
      }),
      { variables: { boss: "anna", deputy: "bert", at: "2024-01-01T00:00:00Z" } },
    );

    expect(person(order)).toEqual({
      assignee: "anna",
      users: ["anna", "bert"],
      groups: ["sales", "support"],
      dueAt: Date.parse("2024-01-02T00:00:00Z"),
      followUpAt: Date.parse("2024-01-02T23:00:00Z"),
      priority: 80,
    });
  });

  test("omits defaults", async () => {
    const order = await play(
      approval({ assignee: '=""', dueDate: "=null", followUpDate: '=""', priority: "50" }),
    );

    expect(person(order)).toEqual({});
  });

  test.each<[string, People, RegExp]>([
    ["an assignee that is null", { assignee: "=boss" }, /gave null where a string/],
    ["a name that is too long", { assignee: `="${"x".repeat(MAX_NAME_LENGTH + 1)}"` }, /1 to 255/],
    ["candidates that are no list", { candidateUsers: '="anna"' }, /a list of strings/],
    ["a group without a name", { candidateGroups: '=["a", ""]' }, /name of a user or group/],
    [
      "too many candidates",
      { candidateUsers: `=for i in 1..${MAX_CANDIDATES + 1} return string(i)` },
      /candidate users, 30 is the limit/,
    ],
    ["a date that is a number", { dueDate: "=5" }, /gave a number where a string/],
    ["a date without an offset", { followUpDate: '="2024-01-01T00:00:00"' }, /offset/],
    ["a date that fails", { dueDate: "=boom(" }, /./],
    ["a priority below", { priority: "=-1" }, /between 0 and 100/],
    ["a priority above", { priority: "=101" }, /between 0 and 100/],
    ["a priority between two", { priority: "=0.5" }, /a whole number/],
  ])("is an incident with %s", async (_, people, message) => {
    const order = await play(approval(people));

    expect(order.incident("approve")).toMatchObject({ type: "EXTRACT_VALUE_ERROR" });
    expect(order.incident("approve").message).toMatch(message);
  });

  test("may have as many candidates as the limit", async () => {
    const order = await play(
      approval({ candidateUsers: `=for i in 1..${MAX_CANDIDATES} return string(i)` }),
    );

    expect(person(order)?.users).toHaveLength(MAX_CANDIDATES);
  });

  test("changes its assignee, and records it", async () => {
    const order = await play(approval({ candidateGroups: ["sales"] }));
    const { id } = order.task("approve");

    await assign(order, 0, "anna");
    const hers = person(order);
    await assign(order, 1);

    expect(hers).toEqual({ groups: ["sales"], assignee: "anna", turn: 1 });
    expect(person(order)).toEqual({ groups: ["sales"], turn: 2 });
    expect(order.task("approve").id).toBe(id);
    expect(order.instance.trail.entries.slice(-2)).toMatchObject([
      { type: "task-assigned", element: "approve", data: { assignee: "anna" } },
      { type: "task-assigned", element: "approve", data: { assignee: null } },
    ]);
  });

  test("is not claimed twice by one claim, even when it was unclaimed since", async () => {
    const order = await play(approval());
    await assign(order, 0, "anna");
    await assign(order, 1);

    const late = await assign(order, 0, "anna");

    expect(late.changed).toBe(false);
    expect(person(order)).toEqual({ turn: 2 });
  });

  test("cannot be claimed if it is a service task, or not a task", async () => {
    const order = await play(
      aProcess([aStart(), aTask("work"), anEnd()], ["start -> work -> end"]),
    );
    const { id: ticket } = order.task("work");
    const waiting = await play(approval({ priority: "=101" }));
    const { id: incident } = waiting.incident("approve");

    const toMachine = await order.deliver({ kind: "task-assigned", ticket, turn: 0 });
    const toIncident = await waiting.deliver({ kind: "task-assigned", ticket: incident, turn: 0 });

    expect([toMachine.changed, toIncident.changed]).toEqual([false, false]);
  });

  test("whose assignee fails it raises an incident, whatever retries are specified", async () => {
    const order = await play(approval({ assignee: "anna" }));
    const { id } = order.task("approve");
    await assign(order, 0, "bert");

    await order.fail("approve", { message: "I cannot", retries: 3 });
    const incident = order.incident("approve");
    await order.resolve("approve");

    expect(incident).toMatchObject({ type: "JOB_NO_RETRIES", message: "I cannot" });
    expect(order.task("approve").id).not.toBe(id);
    expect(person(order)).toEqual({ assignee: "anna" });
  });

  test("that is also a job is retried as often as its worker says", async () => {
    const order = await play(approval({ asJob: true }));

    await order.fail("approve", { retries: 2 });

    expect(order.task("approve")).toMatchObject({ attempt: 2, retries: 2 });
  });

  test("F66: fails to a boundary with a code", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aUserTask("approve"),
          aBoundaryError("refused", { on: "approve", code: "NO" }),
          aTask("tell"),
          anEnd(),
        ],
        ["start -> approve -> end", "refused -> tell"],
      ),
    );

    await order.fail("approve", { code: "NO", message: "not me" });

    expect(order.task("tell")).toBeDefined();
  });
});

describe("the view of a user task", () => {
  const inputOf = (order: Play) =>
    order.program.runner.taskInput(order.instance, order.task("approve"));

  test("F66: names the required outputs: declared, or only named by an output mapping and unknown", async () => {
    const outputs = {
      decision: "=approved",
      city: "=address.city",
      known: "=amount",
      note: '=if comment = null then "none" else comment',
      flag: "=true",
      fixed: "text",
    };
    const order = await play(approval({ requires: ["signature", "approved"] }, outputs), {
      variables: { amount: 5 },
    });

    expect(inputOf(order)).toMatchObject({ needs: ["signature", "approved", "address"] });
  });

  test("has no list if nothing is required, nor a form if there is none", async () => {
    expect(inputOf(await play(approval()))).toEqual({ variables: {}, headers: {} });
  });

  test("has the form as it is, and its text if the definition contains it", async () => {
    const withForm = (form: NonNullable<UserTaskSpec["form"]>) => {
      const definition = approval({ form });
      if (definition.body.runner !== "graph") throw new Error("no graph");
      const [root, ...others] = definition.body.graph.nodes;
      if (root?.kind !== "process") throw new Error("no process");
      const nodes = [{ ...root, forms: { f1: { components: [] } } }, ...others];
      return {
        ...definition,
        body: { ...definition.body, graph: { ...definition.body.graph, nodes } },
      };
    };
    const given = async (form: NonNullable<UserTaskSpec["form"]>) =>
      inputOf(await play(withForm(form)));

    expect(await given({ formId: "f1" })).toMatchObject({ form: { formId: "f1" } });
    expect(await given({ formId: "f1" })).not.toHaveProperty("formBody");
    expect(await given({ formKey: "camunda-forms:bpmn:f1" })).toMatchObject({
      formBody: { components: [] },
    });
    expect(await given({ formKey: "camunda-forms:bpmn:f2" })).not.toHaveProperty("formBody");
    expect(await given({ formKey: "f1" })).not.toHaveProperty("formBody");
  });

  test("gives a worker the same as headers, if it is also a job", async () => {
    const all = await play(
      approval({
        asJob: true,
        assignee: "anna",
        candidateUsers: ["anna"],
        candidateGroups: ["sales", "it"],
        dueDate: "2024-02-01T00:00:00Z",
        followUpDate: "2024-01-15T00:00:00Z",
        form: { formKey: "approve" },
      }),
    );
    const none = await play(approval({ asJob: true, form: { formId: "f" } }));

    expect(inputOf(all).headers).toEqual({
      "io.camunda.zeebe:assignee": "anna",
      "io.camunda.zeebe:candidateUsers": '["anna"]',
      "io.camunda.zeebe:candidateGroups": '["sales","it"]',
      "io.camunda.zeebe:dueDate": "2024-02-01T00:00:00.000Z",
      "io.camunda.zeebe:followUpDate": "2024-01-15T00:00:00.000Z",
      "io.camunda.zeebe:formKey": "approve",
    });
    expect(inputOf(none).headers).toEqual({});
  });
});
