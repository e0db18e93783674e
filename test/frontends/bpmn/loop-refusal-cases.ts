// For each code about multi-instance markers, the smallest files that earn it and no other error.
import type { BpmnCode } from "../../../lib/frontends/bpmn/codes.ts";
import {
  extensions,
  file,
  flow,
  job,
  loop,
  process,
  sequence,
  start,
  xml,
} from "../../support/bpmn-xml.ts";
import { type Case, one } from "./refusal-cases.ts";

const looping = (...marker: readonly string[]) =>
  sequence(xml("serviceTask", { id: "t" }, extensions(job()), ...marker));
const items = { inputCollection: "=items" };

export const LOOP_ERRORS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/loop-without-collection": [
    one("a bare marker", looping("<multiInstanceLoopCharacteristics />"), "t"),
    one("no input collection", looping(loop({ inputElement: "item" })), "t"),
    one("an empty input collection", looping(loop({ inputCollection: " " })), "t"),
    one(
      "a sub-process without one",
      sequence(xml("subProcess", { id: "s" }, loop({}), start("i"))),
      "s",
    ),
  ],
  "bpmn/ambiguous-loop": [
    one("a list and a number", looping(loop(items, xml("loopCardinality", {}, "3"))), "t"),
  ],
  "bpmn/loop-not-feel": [
    one("a static input collection", looping(loop({ inputCollection: "items" })), "t"),
    one(
      "a static output element",
      looping(loop({ ...items, outputCollection: "results", outputElement: "result" })),
      "t",
    ),
    one(
      "a static completion condition",
      looping(loop(items, xml("completionCondition", {}, "true"))),
      "t",
    ),
    one(
      "a cardinality that is no number",
      looping(loop({}, xml("loopCardinality", {}, "three"))),
      "t",
    ),
  ],
  "bpmn/half-loop-output": [
    one("no output element", looping(loop({ ...items, outputCollection: "results" })), "t"),
    one("no output collection", looping(loop({ ...items, outputElement: "=result" })), "t"),
  ],
  "bpmn/invalid-loop-variable": [
    one("an input element that is an expression", looping(loop({ ...items, inputElement: "=a" }))),
    one(
      "an output collection with a dot",
      looping(loop({ ...items, outputCollection: "a.b", outputElement: "=result" })),
      "t",
    ),
  ],
  "bpmn/feel-syntax": [
    one("a broken input collection", looping(loop({ inputCollection: "=[" })), "t"),
    one("an empty cardinality", looping(loop({}, xml("loopCardinality", {}, "="))), "t"),
    one(
      "a broken completion condition",
      looping(loop(items, xml("completionCondition", {}, "=1 +"))),
      "t",
    ),
  ],
  "bpmn/invalid-boolean": [
    one(
      "a sequence that is neither",
      looping(loop(items).replace("Characteristics>", 'Characteristics isSequential="yes">')),
    ),
  ],
  "bpmn/repeated-element": [one("two markers", looping(loop(items), loop(items)), "t")],
  "bpmn/unknown-element": [
    one("a marker on an event", file(process(start("s", loop(items))))),
    one("a marker on a process", file(process(start(), loop(items)))),
    one(
      "a marker on a gateway",
      file(
        process(start(), xml("parallelGateway", { id: "g" }, loop(items)), flow("f", "start", "g")),
      ),
    ),
  ],
};
