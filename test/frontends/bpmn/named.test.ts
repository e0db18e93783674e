import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { Node } from "../../../lib/definition/graph.ts";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  catching,
  end,
  extensions,
  file,
  flow,
  ioMapping,
  job,
  onMessage,
  onSignal,
  process,
  race,
  receive,
  sequence,
  service,
  start,
  throwing,
  xml,
} from "../../support/bpmn-xml.ts";
import { startsItself } from "../../support/timer-starts.ts";
import { compile, compiled, errorsOf, graphOf, nodeOf, warningsOf } from "./compiling.ts";

const feel = (text: string) => ({ kind: "feel", text });
const written = (value: string | number | null) => ({ kind: "static", value });

describe("a process with signals and messages, drawn in a modeler", () => {
  const source = readFileSync(new URL("../../fixtures/bpmn/parcel.bpmn", import.meta.url), "utf8");
  let parcel: Compiled;
  const nodes = new Map<string, Node>();

  beforeAll(async () => {
    const [only] = await compiled(source);
    if (only?.body.runner !== "graph") throw new Error("no graph");
    parcel = only;
    for (const node of only.body.graph.nodes) nodes.set(node.id, node);
  });

  test("compiles without a diagnostic", async () => {
    expect((await compile(source)).diagnostics).toEqual([]);
  });

  test("starts by a call, a message or a signal", () => {
    expect(parcel.startEvents).toEqual([
      { element: "called-for", kind: "none" },
      { element: "handed-in", kind: "message", name: "parcel-handed-in" },
      { element: "strike-over", kind: "signal", name: "work-resumed" },
    ]);
    expect(nodes.get("called-for")).toEqual({ id: "called-for", scope: "parcel", kind: "start" });
    expect(nodes.get("handed-in")).toEqual({
      id: "handed-in",
      scope: "parcel",
      kind: "start",
      triggered: true,
      outputs: [{ source: feel("counter"), target: "origin.counter" }],
    });
  });

  test("throws signals in the flow and at the end, the former with a payload", () => {
    expect(nodes.get("announce")).toEqual({
      id: "announce",
      name: "Announce it",
      scope: "parcel",
      kind: "throw",
      signal: feel('"on-its-way-" + parcel.country'),
      inputs: [
        { source: feel("parcel.id"), target: "id" },
        { source: written("north"), target: "depot" },
      ],
    });
    expect(nodes.get("returned")).toMatchObject({
      kind: "end",
      end: { as: "signal", signal: written("parcel-returned") },
    });
  });

  test("waits for signals, and for messages by key", () => {
    expect(nodes.get("doors-open")).toMatchObject({
      kind: "catch",
      awaits: { on: "signal", signal: feel('"opened-" + parcel.depot') },
    });
    expect(nodes.get("at-the-depot")).toEqual({
      id: "at-the-depot",
      scope: "delivery",
      kind: "catch",
      awaits: { on: "message", message: written("parcel-scanned"), key: feel("parcel.id") },
      outputs: [{ source: feel("shelf"), target: "parcel.shelf" }],
    });
    expect(nodes.get("signature")).toEqual({
      id: "signature",
      name: "Wait for the signature",
      scope: "delivery",
      kind: "catch",
      awaits: { on: "message", message: written("parcel-signed"), key: feel("parcel.id") },
    });
  });

  test("has interrupting and non-interrupting boundary events", () => {
    expect(nodes.get("recalled")).toMatchObject({
      kind: "boundary",
      on: "delivery",
      interrupting: true,
      trigger: { on: "signal", signal: written("all-recalled") },
    });
    expect(nodes.get("delayed")).toMatchObject({ interrupting: false, trigger: { on: "signal" } });
    expect(nodes.get("ask-again")).toMatchObject({
      on: "signature",
      interrupting: false,
      trigger: { on: "message", message: written("parcel-asked-for"), key: feel("parcel.id") },
    });
  });

  test("lets workers send messages", () => {
    expect(nodes.get("apologise")).toEqual({
      id: "apologise",
      scope: "parcel",
      kind: "task",
      type: written("send-mail"),
      retries: written(3),
      headers: { template: "sorry" },
    });
    expect(nodes.get("left-a-note")).toMatchObject({
      kind: "task",
      type: written("send-note"),
      retries: written(2),
    });
  });

  test("waits for the first of several events after an event-based gateway", () => {
    expect(nodes.get("what-first")).toEqual({
      id: "what-first",
      scope: "parcel",
      kind: "event-gateway",
    });
    const awaited = ["complaint", "month-over", "product-recalled", "praise"].map((id) => {
      const node = nodes.get(id);
      return node?.kind === "catch" ? node.awaits.on : undefined;
    });
    expect(awaited).toEqual(["message", "timer", "signal", "message"]);
  });
});

describe("the BPMN compiler, given signals and messages,", () => {
  test("lets a process start by a signal alone", async () => {
    const source = beside(file(process(start("a", onSignal("s1")))), aSignal("s1", "go"));
    const [only] = await compiled(source);

    expect(only?.startEvents).toEqual([{ element: "a", kind: "signal", name: "go" }]);
  });

  test("lets a signal and a message of the same name start a process", async () => {
    const source = beside(
      file(process(start("a", onSignal("s1")), start("b", onMessage("m1")))),
      aSignal("s1", "go"),
      aMessage("m1", { name: "go" }),
    );

    expect(await errorsOf(source)).toEqual([]);
  });

  test("resolves qualified names", async () => {
    const source = beside(sequence(catching("c", onSignal("file:s1"))), aSignal("s1", "go"));

    expect(await nodeOf(source, "c")).toMatchObject({ awaits: { signal: written("go") } });
  });

  test("distinguishes numbers that are names from numbers", async () => {
    const source = beside(sequence(receive("t", "m1")), aMessage("m1", { name: "1", key: "=1" }));

    expect(await nodeOf(source, "t")).toMatchObject({
      awaits: { message: written("1"), key: feel("1") },
    });
  });

  test("accepts a key that is the same for every instance, with a warning", async () => {
    const source = beside(sequence(receive("t", "m1")), aMessage("m1", { key: "till" }));

    expect(await nodeOf(source, "t")).toMatchObject({ awaits: { key: written("till") } });
    expect(await warningsOf(source)).toEqual(["bpmn/correlation-key-fixed"]);
  });

  test("lets two activities wait for the same signal, and one for a signal and a message", async () => {
    const source = beside(
      sequence(
        service("t"),
        boundary("b", "t", onSignal("s1")),
        boundary("c", "t", onMessage("m1")),
        service("u"),
        boundary("d", "u", onSignal("s1")),
        flow("f3", "t", "u"),
      ),
      aSignal("s1", "go"),
      aMessage("m1", { name: "go", key: "=k" }),
    );

    expect(await errorsOf(source)).toEqual([]);
  });

  test("lets one message be awaited with two keys after an event-based gateway", async () => {
    const source = beside(
      file(
        process(
          start(),
          flow("f1", "start", "g"),
          race("g", catching("a", onMessage("m1")), catching("b", onMessage("m2"))),
        ),
      ),
      aMessage("m1", { name: "go", key: "=order" }),
      aMessage("m2", { name: "go", key: "=customer" }),
    );

    expect(await errorsOf(source)).toEqual([]);
  });

  test("accepts a loop that waits for a signal, a message or the first of several", async () => {
    const looping = (middle: string) =>
      beside(sequence(middle, flow("f3", "c", "c")), aSignal("s1"), aMessage("m1", { key: "=k" }));
    const racing = beside(
      file(
        process(
          start(),
          flow("f1", "start", "g"),
          race("g", catching("a", onSignal("s1")), catching("b", onSignal("s2"))),
          flow("f2", "a", "g"),
        ),
      ),
      aSignal("s1"),
      aSignal("s2"),
    );

    expect(await errorsOf(looping(catching("c", onSignal("s1"))))).toEqual([]);
    expect(await errorsOf(looping(receive("c", "m1")))).toEqual([]);
    expect(await errorsOf(racing)).toEqual([]);
  });

  test("reaches the elements after each start event and after the gateway", async () => {
    const source = beside(
      file(
        process(
          start("a", onSignal("s1")),
          start("b", onMessage("m1")),
          service("t"),
          flow("f1", "a", "t"),
          flow("f2", "b", "g"),
          race("g", catching("c", onSignal("s1")), receive("d", "m2")),
        ),
      ),
      aSignal("s1"),
      aMessage("m1"),
      aMessage("m2", { key: "=k" }),
    );

    expect(await warningsOf(source)).toEqual([]);
  });

  test("warns about neither job nor mapping on a message throw event", async () => {
    const source = sequence(
      xml(
        "intermediateThrowEvent",
        { id: "t" },
        extensions(job(), ioMapping(xml("zeebe:input", { source: "=1", target: "a" }))),
        "<messageEventDefinition />",
      ),
    );

    expect(await warningsOf(source)).toEqual([]);
    expect(await nodeOf(source, "t")).toMatchObject({
      kind: "task",
      inputs: [{ source: feel("1"), target: "a" }],
    });
  });

  test("ignores signals and messages without a reference, however invalid", async () => {
    const source = beside(
      sequence(throwing("t", onSignal("s1"))),
      aSignal("s1"),
      xml("signal", { id: "s2" }),
      aMessage("m1", { key: "=(" }),
    );

    expect((await graphOf(source)).nodes).toHaveLength(4);
    expect(await warningsOf(source)).toEqual([]);
  });

  test("keeps the payload of a signal end event", async () => {
    const payload = extensions(ioMapping(xml("zeebe:input", { source: "=total", target: "sum" })));
    const source = beside(
      file(process(start(), end("end", payload, onSignal("s1")), flow("f", "start", "end"))),
      aSignal("s1"),
    );

    expect(await nodeOf(source, "end")).toMatchObject({
      inputs: [{ source: feel("total"), target: "sum" }],
      end: { as: "signal" },
    });
  });
});

describe("the timer of a start event, given by an expression,", () => {
  test.each([
    ['="R1000000/" + "PT0S"', 'The interval of cycle "R1000000/PT0S" is too short', "PT1S"],
    ['="R/" + wait', 'It reads the variable "wait"', "without variables"],
  ])("is refused for its own reason: %s", async (timeCycle, reason, advice) => {
    const { diagnostics } = await compile(startsItself("p", { timeCycle }));

    expect(diagnostics).toMatchObject([
      {
        code: "bpmn/start-timer-not-fixed",
        message: expect.stringContaining(reason),
        hint: expect.stringContaining(advice),
      },
    ]);
  });
});
