import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { Flow, Node } from "../../../lib/definition/graph.ts";
import { bpmnCompiler } from "../../../lib/frontends/bpmn/compiler.ts";
import {
  boundary,
  end,
  extensions,
  file,
  flow,
  headers,
  ioMapping,
  job,
  process,
  sequence,
  service,
  start,
  timer,
  timeZone,
  xml,
} from "../../support/bpmn-xml.ts";
import { compile, compiled, errorsOf, flowOf, graphOf, nodeOf, warningsOf } from "./compiling.ts";

const feel = (text: string) => ({ kind: "feel", text });
const written = (value: string | number | null) => ({ kind: "static", value });

describe("a process drawn in a modeler", () => {
  const source = readFileSync(new URL("../../fixtures/bpmn/order.bpmn", import.meta.url), "utf8");
  let order: Compiled;
  const nodes = new Map<string, Node>();
  const flows = new Map<string, Flow>();

  beforeAll(async () => {
    const [only, ...others] = await compiled(source);
    if (only?.body.runner !== "graph" || others.length > 0) throw new Error("not one graph");
    order = only;
    for (const node of only.body.graph.nodes) nodes.set(node.id, node);
    for (const one of only.body.graph.flows) flows.set(one.id, one);
  });

  test("compiles without a diagnostic, ignoring pools that do not run", async () => {
    expect((await compile(source)).diagnostics).toEqual([]);
  });

  test("has the process first, and its parts in the order of the file", () => {
    expect(order).toMatchObject({ id: "order", notation: "bpmn", name: "Order with a deadline" });
    expect(order.startEvents).toEqual([{ element: "ordered", kind: "none" }]);
    expect(order.elements.slice(0, 9)).toEqual([
      "order",
      "ordered",
      "to-payment",
      "payment",
      "pay",
      "charge",
      "pay-charge",
      "charged",
      "charge-charged",
    ]);
    expect([...nodes.keys()]).toEqual(order.elements.filter((id) => nodes.has(id)));
    expect([...flows.keys()]).toEqual(order.elements.filter((id) => flows.has(id)));
    expect(nodes.size + flows.size).toBe(order.elements.length);
    expect(nodes.get("order")).toEqual({
      id: "order",
      name: "Order with a deadline",
      kind: "process",
    });
  });

  test("round-trips through JSON", () => {
    expect(JSON.parse(JSON.stringify(order))).toEqual(order);
  });

  test("nests the elements of a sub-process, which maps variables in order", () => {
    expect(nodes.get("payment")).toEqual({
      id: "payment",
      name: "Payment",
      scope: "order",
      kind: "scope",
      inputs: [
        { source: feel("order.total"), target: "amount" },
        { source: written("EUR"), target: "money.currency" },
        { source: written(null), target: "nothing" },
      ],
      outputs: [{ source: feel("receipt"), target: "payment.receipt" }],
    });
    expect(nodes.get("pay")).toEqual({ id: "pay", scope: "payment", kind: "start" });
  });

  test("has tasks with type, retries, headers and backoff", () => {
    expect(nodes.get("charge")).toEqual({
      id: "charge",
      name: "Charge the card",
      scope: "payment",
      kind: "task",
      type: written("charge-card"),
      retries: written(5),
      headers: { currency: "EUR", retryBackoff: "PT10S" },
      backoff: "PT10S",
    });
    expect(nodes.get("send-reminder")).toEqual({
      id: "send-reminder",
      scope: "order",
      kind: "task",
      type: feel('"mail-" + channel'),
      retries: written(3),
    });
    expect(nodes.get("rules")).toMatchObject({ type: written("decide"), retries: feel("tries") });
    expect(nodes.get("tax")).toMatchObject({
      kind: "script",
      expression: feel("order.total * 0.2"),
      result: "tax",
    });
  });

  test("has boundary events for deadlines, reminders and errors", () => {
    expect(nodes.get("day-over")).toEqual({
      id: "day-over",
      scope: "order",
      kind: "boundary",
      on: "payment",
      interrupting: true,
      trigger: {
        on: "timer",
        timer: { as: "duration", value: written("P1D"), zone: "Europe/Berlin" },
      },
    });
    expect(nodes.get("remind")).toMatchObject({
      interrupting: false,
      trigger: { on: "timer", timer: { as: "cycle", value: written("R3/PT6H"), zone: "UTC" } },
    });
    expect(nodes.get("declined")).toMatchObject({
      on: "charge",
      trigger: { on: "error", code: "CARD_DECLINED" },
    });
    expect(nodes.get("anything-wrong")).toMatchObject({ trigger: { on: "error" } });
    expect(nodes.get("anything-wrong")).not.toHaveProperty("trigger.code");
  });

  test("has end events that are plain, terminate their scope or throw", () => {
    expect(nodes.get("done")).toMatchObject({ kind: "end", end: { as: "plain" } });
    expect(nodes.get("given-up")).toMatchObject({ kind: "end", end: { as: "terminate" } });
    expect(nodes.get("unpaid")).toMatchObject({
      kind: "end",
      end: { as: "error", code: feel('"NOT_" + reason') },
    });
  });

  test("has gateways, intermediate timers and elements that are passed at once", () => {
    expect(nodes.get("large")).toMatchObject({ kind: "exclusive", otherwise: "small" });
    expect(flows.get("is-large")?.condition).toEqual(feel("order.total > 100"));
    expect(flows.get("small")).toEqual({ id: "small", from: "large", to: "tax" });
    expect(nodes.get("fork")).toMatchObject({ kind: "parallel" });
    expect(nodes.get("cool-off")).toMatchObject({
      kind: "catch",
      awaits: {
        on: "timer",
        timer: { as: "date", value: feel("order.readyAt"), zone: "Europe/Berlin" },
      },
    });
    for (const id of ["shake-hands", "milestone", "think"]) {
      expect(nodes.get(id)).toMatchObject({ kind: "pass" });
    }
  });
});

describe("the BPMN compiler", () => {
  test("compiles several processes of one file, all or none", async () => {
    const two = (second: string) =>
      file(
        process(start("a"), service("t"), flow("f", "a", "t")),
        xml("process", { id: "q", isExecutable: "1" }, start("b"), second),
      );

    expect((await compiled(two(""))).map(({ id }) => id)).toEqual(["p", "q"]);
    expect(await errorsOf(two('<adHocSubProcess id="u" />'))).toEqual(["bpmn/unsupported-element"]);
  });

  test("reads the same with any namespace prefixes", async () => {
    const source = sequence(service("t"));
    const prefixed = source
      .replaceAll("<zeebe:", "<z:")
      .replaceAll("xmlns:zeebe", "xmlns:z")
      .replace(/<(\/?)([a-zA-Z]+)(?=[ >])/g, "<$1b:$2")
      .replace('xmlns="http', 'xmlns:b="http');

    expect(prefixed).toContain("<b:serviceTask");
    expect(await compiled(prefixed)).toEqual(await compiled(source));
  });

  test("ignores names of BPMN in other namespaces", async () => {
    const source = sequence(
      service("t"),
      '<other:userTask id="u" /><other:sequenceFlow id="x" sourceRef="nothing" />',
    );

    expect((await graphOf(source)).nodes.map(({ id }) => id)).toEqual(["p", "start", "t", "end"]);
  });

  test("trims text between tags and leaves attributes as they are", async () => {
    const source = sequence(
      xml("serviceTask", { id: "t" }, extensions(job(" padded "))),
      xml("intermediateCatchEvent", { id: "c" }, timer("timeDuration", "\n  PT1S \t ")),
    );

    expect(await nodeOf(source, "t")).toMatchObject({ type: written(" padded ") });
    expect(await nodeOf(source, "c")).toMatchObject({
      awaits: { timer: { value: written("PT1S") } },
    });
  });

  test("takes static inputs as text, whatever they look like", async () => {
    const source = sequence(
      service("t", ioMapping(xml("zeebe:input", { source: "1", target: "a" }))),
    );

    expect(await nodeOf(source, "t")).toMatchObject({
      inputs: [{ source: written("1"), target: "a" }],
    });
  });

  test("resolves character references, those beyond 16 bits too", async () => {
    const source = sequence(xml("task", { id: "t", name: "NAME" })).replace(
      "NAME",
      "&#128640; &amp;amp; &#x41;\n\tB",
    );

    expect(await nodeOf(source, "t")).toMatchObject({ name: "🚀 &amp; A  B" });
  });

  test("reads CDATA as text", async () => {
    const source = file(
      process(
        start(),
        xml("exclusiveGateway", { id: "g" }),
        end(),
        flow("f1", "start", "g"),
        flow("f2", "g", "end", "CONDITION"),
      ),
    ).replace("CONDITION", "<![CDATA[ =a < 1 ]]>");

    expect(await flowOf(source, "f2")).toMatchObject({ condition: feel("a < 1") });
  });

  test("keeps a header that is named like a property of every object", async () => {
    const source = sequence(service("t", headers(["__proto__", "a"], ["constructor", "b"])));
    const node = await nodeOf(source, "t");

    expect(node.kind === "task" && Object.entries(node.headers ?? {})).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });

  test("compiles elements that are named like a property of every object", async () => {
    const graph = await graphOf(sequence(service("constructor"), service("__proto__")));

    expect(graph.nodes.map(({ id }) => id)).toContain("__proto__");
    expect(graph.flows[1]).toEqual({ id: "f2", from: "constructor", to: "end" });
  });

  test("lets the zone of an event override that of its process", async () => {
    const event = (...more: readonly string[]) =>
      xml("intermediateCatchEvent", { id: "c" }, ...more, timer("timeDuration", "P1D"));
    const inZone = (source: string) =>
      source.replace("<startEvent", `${extensions(timeZone("Asia/Tokyo"))}<startEvent`);

    const zones = [
      sequence(event()),
      inZone(sequence(event())),
      inZone(sequence(event(extensions(timeZone("America/New_York"))))),
    ].map(async (source) => {
      const node = await nodeOf(source, "c");
      return node.kind === "catch" && node.awaits.on === "timer"
        ? node.awaits.timer.zone
        : "no timer";
    });

    expect(await Promise.all(zones)).toEqual([undefined, "Asia/Tokyo", "America/New_York"]);
  });

  test("lets a single flow leave an exclusive gateway without a condition", async () => {
    const source = sequence(xml("exclusiveGateway", { id: "g" }));

    expect(await errorsOf(source)).toEqual([]);
  });

  test("accepts a counting loop with an exit", async () => {
    const counting = xml(
      "scriptTask",
      { id: "count" },
      extensions(xml("zeebe:script", { expression: "=n + 1", resultVariable: "n" })),
    );
    const source = file(
      process(
        start(),
        counting,
        xml("exclusiveGateway", { id: "g", default: "f3" }),
        end(),
        flow("f1", "start", "count"),
        flow("f2", "count", "g"),
        flow("f3", "g", "end"),
        flow("f4", "g", "count", "=n < 3"),
      ),
    );

    expect(await errorsOf(source)).toEqual([]);
  });

  test("accepts a loop that waits, in itself or in a sub-process", async () => {
    const inner = xml("subProcess", { id: "s" }, start("i"), service("u"), flow("f4", "i", "u"));

    expect(await errorsOf(sequence(service("t"), flow("f3", "t", "t")))).toEqual([]);
    expect(await errorsOf(sequence(inner, flow("f3", "s", "s")))).toEqual([]);
  });

  test("treats elements after boundary events as reachable", async () => {
    const source = sequence(
      service("t"),
      boundary("b", "t", timer("timeDuration", "PT1S")),
      service("u"),
      flow("f3", "b", "u"),
    );

    expect(await warningsOf(source)).toEqual([]);
  });

  test("ignores empty listeners and empty headers", async () => {
    const source = sequence(service("t", "<zeebe:executionListeners />", headers(["a", ""])));

    expect(await warningsOf(source)).toEqual([]);
    expect(await nodeOf(source, "t")).not.toHaveProperty("headers");
  });

  test("refuses expressions in a language without an engine", async () => {
    const other = { check: () => undefined, variablesOf: () => [], evaluate: () => NO_VALUE };
    const without = bpmnCompiler({ expressions: new Map([["other", other]]) });

    const { ok, diagnostics } = await without(
      sequence(xml("serviceTask", { id: "t" }, extensions(job("=type")))),
    );

    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([
      {
        severity: "error",
        element: "t",
        message: expect.stringContaining(
          'The expression language "feel" is not known here. Use one of: "other".',
        ),
      },
    ]);
  });
});

const NO_VALUE = { ok: true, value: null, warnings: [] } as const;
