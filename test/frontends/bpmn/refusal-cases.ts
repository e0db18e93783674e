// For each code of the BPMN front end, the smallest files that earn it and no other error.
import {
  MAX_ELEMENT_ID_LENGTH,
  MAX_PROCESSES_PER_SOURCE,
  MAX_SOURCE_BYTES,
  MAX_XML_DEPTH,
  MAX_XML_ELEMENTS,
} from "../../../lib/definition/limits.ts";
import type { BpmnCode } from "../../../lib/frontends/bpmn/codes.ts";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  end,
  extensions,
  file,
  flow,
  headers,
  ioMapping,
  job,
  onMessage,
  onSignal,
  process,
  race,
  sequence,
  service,
  start,
  timer,
  timeZone,
  xml,
} from "../../support/bpmn-xml.ts";

/** A source, why it is wrong, and where. */
export type Case = Readonly<{ why: string; source: string; element?: string; line?: number }>;

/** A case in one line. */
export const one = (why: string, source: string, element?: string, line?: number): Case => ({
  why,
  source,
  ...(element !== undefined && { element }),
  ...(line !== undefined && { line }),
});

const call = (attributes: Readonly<Record<string, string>>, ...more: readonly string[]) =>
  sequence(
    xml("callActivity", { id: "c" }, extensions(xml("zeebe:calledElement", attributes), ...more)),
  );
const tag = (value: string) =>
  file(process(extensions(xml("zeebe:versionTag", { value })), start()));

const CALL_REFUSALS = {
  "bpmn/call-without-process": [
    one("a call of nothing", sequence(xml("callActivity", { id: "c" })), "c", 4),
    one("an empty id", call({ processId: " " }), "c", 4),
  ],
  "bpmn/invalid-binding": [
    one("an unknown binding", call({ processId: "q", bindingType: "newest" }), "c", 4),
    one("a tag without a value", call({ processId: "q", bindingType: "versionTag" }), "c", 4),
    one(
      "an empty tag",
      call({ processId: "q", bindingType: "versionTag", versionTag: "" }),
      "c",
      4,
    ),
    one("a tag that binds nothing", call({ processId: "q", versionTag: "1" }), "c", 4),
  ],
  "bpmn/invalid-version-tag": [
    one("an empty tag", tag(""), "p", 3),
    one("an expression", tag("=1 + 1"), "p", 3),
    one("a tag that is too long", tag("x".repeat(256)), "p", 3),
  ],
} satisfies Partial<Record<BpmnCode, readonly Case[]>>;

const anError = (code?: string) =>
  xml("error", { id: "e1", ...(code !== undefined && { errorCode: code }) });
const throwing = (reference?: string) =>
  xml("errorEventDefinition", reference === undefined ? {} : { errorRef: reference });
const withError = (definition: string, ...roots: readonly string[]) =>
  file(process(start(), end("end", definition), flow("f1", "start", "end")), ...roots);
const onBoundary = (definition: string, more: Readonly<Record<string, string>> = {}) =>
  sequence(service("t"), boundary("b", "t", definition, more));
const catching = (...content: readonly string[]) =>
  sequence(xml("intermediateCatchEvent", { id: "c" }, ...content));
const catchingSignal = (name: string) => beside(catching(onSignal("s1")), aSignal("s1", name));
const script = (attributes: Readonly<Record<string, string>>) =>
  sequence(xml("scriptTask", { id: "t" }, extensions(xml("zeebe:script", attributes))));
const choosing = (gateway: Readonly<Record<string, string>>, ...flows: readonly string[]) =>
  file(
    process(
      start(),
      xml("exclusiveGateway", { id: "g", ...gateway }),
      end("a"),
      end("b"),
      flow("f1", "start", "g"),
      ...flows,
    ),
  );
const condition = "<conditionExpression>=x</conditionExpression>";
const mapped = (...mappings: readonly string[]) => sequence(service("t", ioMapping(...mappings)));

/** Files that earn one error each. */
export const ERRORS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/malformed-xml": [
    one("an element that is never closed", "<definitions>\n<process>\n", undefined, 2),
    one("a closing tag of another element", "<a>\n\n</b>", undefined, 3),
    one("an attribute without quotes", "<a>\n<b c=d /></a>", undefined, 2),
    one("an attribute given twice", '<a>\n<b c="1" c="2" /></a>', undefined, 2),
    one("text after the root", "<a />\nand more", undefined, 1),
    one("a second root", "<a />\n<b />", undefined, 2),
    one("an unknown character reference", "<a>\n\n<b>&nope;</b></a>", undefined, 3),
    one("a reference to no character", '<a>\n<b c="&#xD800;" /></a>', undefined, 2),
    one("a < in an attribute", '<a>\n<b c="<" /></a>', undefined, 2),
    one("an unknown prefix", "<a>\n<b:c /></a>", undefined, 2),
    one("no element at all", "order: 5", undefined, 1),
    one("nothing at all", "", undefined, 1),
  ],
  "bpmn/doctype-refused": [
    one("a DOCTYPE", "<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'x'>\n<a />", undefined, 2),
    one(
      "entities that multiply",
      '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]>\n<a>&c;</a>',
      undefined,
      1,
    ),
    one("an ENTITY further down", "<a>\n\n<!ENTITY b 'ha'></a>", undefined, 3),
  ],
  "bpmn/too-large": [
    one("one byte too many", file(process()).padEnd(MAX_SOURCE_BYTES + 1)),
    one("many bytes in few characters", file("<!--", "ü".repeat(MAX_SOURCE_BYTES / 2), "-->")),
  ],
  "bpmn/too-deep": [
    one("one level too many", "<a>\n".repeat(MAX_XML_DEPTH + 1), undefined, MAX_XML_DEPTH + 1),
  ],
  "bpmn/too-many-elements": [
    one("one element too many", `<a>\n${"<b/>\n".repeat(MAX_XML_ELEMENTS)}</a>`),
  ],
  "bpmn/too-many-processes": [
    one(
      "one process too many",
      file(
        ...Array.from({ length: MAX_PROCESSES_PER_SOURCE + 1 }, (_, n) =>
          xml("process", { id: `p${n}`, isExecutable: "true" }, start(`s${n}`)),
        ),
      ),
      "file",
      2,
    ),
  ],
  "bpmn/not-bpmn": [
    one("another root", "<project />", undefined, 1),
    one("definitions of another namespace", '<definitions xmlns="http://example.com/x" />'),
  ],
  "bpmn/no-executable-process": [
    one("no process", file(), "file", 2),
    one("a process that is not executable", file(xml("process", { id: "p" }, start())), "file", 2),
  ],
  "bpmn/missing-id": [
    one("a process", file(xml("process", { isExecutable: "true" }, start())), undefined, 3),
    one("a task", file(process(start(), "<task />")), undefined, 4),
    one("an empty id", file(process(start(), '<task id="" />')), undefined, 4),
    one(
      "a flow",
      file(process(start(), end(), xml("sequenceFlow", { sourceRef: "start", targetRef: "end" }))),
      undefined,
      5,
    ),
  ],
  "bpmn/invalid-id": [
    one("a blank inside", sequence(service("a b")), "a b", 4),
    one("a slash", sequence(service("a/b")), "a/b", 4),
    one("a digit first", sequence(service("1a")), "1a", 4),
    one(
      "one character too many",
      sequence(service("x".repeat(MAX_ELEMENT_ID_LENGTH + 1))),
      "x".repeat(MAX_ELEMENT_ID_LENGTH + 1),
    ),
    one("too long for a key", sequence(service("字".repeat(112))), "字".repeat(112), 4),
  ],
  "bpmn/duplicate-id": [
    one("a task like its process", file(process(start(), xml("task", { id: "p" }))), "p", 4),
  ],
  "bpmn/unknown-element": [
    one("in a process", file(process(start(), '<teaBreak id="t" />')), "t", 4),
    one("in a task", sequence(xml("task", { id: "t" }, "<teaBreak />")), undefined, 4),
    one("a task in a task", sequence(xml("task", { id: "t" }, xml("task", { id: "u" }))), "u", 4),
    one(
      "in a timer",
      catching(xml("timerEventDefinition", {}, xml("timeDuration", {}, "PT1S"), "<timeMachine />")),
    ),
    one(
      "in a flow",
      file(
        process(
          start(),
          end(),
          xml("sequenceFlow", { id: "f", sourceRef: "start", targetRef: "end" }, "<valve />"),
        ),
      ),
    ),
  ],
  "bpmn/repeated-element": [
    one("two task definitions", sequence(service("t", job("other"))), "t", 4),
    one(
      "two in two lists",
      sequence(xml("serviceTask", { id: "t" }, extensions(job()), extensions(job()))),
      "t",
      4,
    ),
    one(
      "two correlation keys",
      beside(
        sequence(service("t")),
        xml(
          "message",
          { id: "m1", name: "m" },
          extensions("<zeebe:subscription />", "<zeebe:subscription />"),
        ),
      ),
      "m1",
      8,
    ),
    one(
      "two conditions",
      choosing(
        {},
        xml(
          "sequenceFlow",
          { id: "f2", sourceRef: "g", targetRef: "a" },
          "<conditionExpression>=x</conditionExpression><conditionExpression>=y</conditionExpression>",
        ),
      ),
      "f2",
    ),
  ],
  "bpmn/invalid-boolean": [
    one(
      "cancelActivity",
      onBoundary(timer("timeDuration", "PT1S"), { cancelActivity: "no" }),
      "b",
      8,
    ),
    one(
      "isExecutable",
      file(process(start()), xml("process", { id: "q", isExecutable: "yes" })),
      "q",
    ),
    one(
      "triggeredByEvent",
      sequence(xml("subProcess", { id: "s", triggeredByEvent: "TRUE" }, start("i"))),
    ),
    one("isForCompensation", sequence(xml("task", { id: "t", isForCompensation: "" }))),
    one(
      "instantiate",
      beside(
        sequence(xml("receiveTask", { id: "t", messageRef: "m1", instantiate: "no" })),
        aMessage("m1", { key: "=k" }),
      ),
    ),
  ],
  "bpmn/no-start-event": [
    one("in a process", file(process(end())), "p", 3),
    one("in a sub-process", sequence(xml("subProcess", { id: "s" })), "s", 4),
  ],
  "bpmn/several-start-events": [
    one("in a process", file(process(start("a"), start("b"))), "p", 3),
    one(
      "beside one with a signal",
      beside(file(process(start("a"), start("b"), start("c", onSignal("s1")))), aSignal("s1")),
      "p",
      3,
    ),
    one(
      "in a sub-process",
      sequence(xml("subProcess", { id: "s" }, start("a"), start("b"))),
      "s",
      4,
    ),
  ],
  "bpmn/sub-process-start-not-none": [
    one(
      "a timer",
      sequence(xml("subProcess", { id: "s" }, start("a", timer("timeDuration", "PT1S")))),
      "a",
      4,
    ),
    ...[onSignal("s1"), onMessage("m1")].map((definition) =>
      one(
        definition,
        beside(
          sequence(xml("subProcess", { id: "s" }, start("a", definition))),
          aSignal("s1"),
          aMessage("m1"),
        ),
        "a",
        4,
      ),
    ),
  ],
  "bpmn/dangling-flow": [
    one(
      "without a target",
      file(process(start(), xml("sequenceFlow", { id: "f", sourceRef: "start" }))),
      "f",
      4,
    ),
    one(
      "without a source",
      file(process(start(), xml("sequenceFlow", { id: "f", targetRef: "start" })))
        .replace('targetRef="start"', 'targetRef="e"')
        .replace("</process>", '<endEvent id="e" /></process>'),
      "f",
      4,
    ),
    one(
      "to an element that does not exist",
      file(process(start(), flow("f", "start", "x"))),
      "f",
      4,
    ),
    one(
      "to a thing that does not flow",
      file(process(start(), '<dataObjectReference id="d" />', flow("f", "start", "d"))),
      "f",
      5,
    ),
    one(
      "to a name that every object has",
      file(process(start(), flow("f", "start", "constructor"))),
      "f",
    ),
  ],
  "bpmn/flow-across-scopes": [
    one(
      "into a sub-process",
      file(
        process(
          start(),
          xml("subProcess", { id: "s" }, start("i"), end("j")),
          flow("f", "start", "j"),
        ),
      ),
      "f",
      6,
    ),
  ],
  "bpmn/unresolved-reference": [
    one("an error", withError(throwing("e1")), "end", 4),
    one("an error that is something else", withError(throwing("p")), "end", 4),
    one(
      "the host of a boundary event",
      sequence(service("t"), boundary("b", "x", timer("timeDuration", "PT1S"))),
      "b",
      8,
    ),
    one("a default flow", choosing({ default: "x" }, flow("f2", "g", "a")), "g", 4),
    one("a signal", catching(onSignal("s1")), "c", 4),
    one("a signal that is a message", beside(catching(onSignal("m1")), aMessage("m1")), "c", 4),
    one("a message", catching(onMessage("m1")), "c", 4),
    one("a message that is a signal", beside(catching(onMessage("s1")), aSignal("s1")), "c", 4),
    one("of a receive task", sequence(xml("receiveTask", { id: "t", messageRef: "m1" })), "t", 4),
    one("of a start", file(process(start("a", onSignal("s1")))), "a", 3),
  ],
  "bpmn/start-with-incoming": [
    one("a flow back", sequence(service("t"), flow("f3", "t", "start")), "start", 3),
  ],
  "bpmn/end-with-outgoing": [
    one("a flow on", sequence(service("t"), flow("f3", "end", "t")), "end", 5),
  ],
  "bpmn/boundary-with-incoming": [
    one(
      "a flow to it",
      sequence(
        service("t"),
        boundary("b", "t", timer("timeDuration", "PT1S")),
        flow("f3", "start", "b"),
      ),
      "b",
      8,
    ),
  ],
  "bpmn/condition-not-allowed": [
    one("after a start", file(process(start(), end(), flow("f", "start", "end", "=x"))), "f", 5),
    one(
      "after a parallel gateway",
      file(
        process(
          start(),
          xml("parallelGateway", { id: "g" }),
          end(),
          flow("f1", "start", "g"),
          flow("f2", "g", "end", "=x"),
        ),
      ),
      "f2",
      7,
    ),
    one(
      "after an event-based gateway",
      file(
        process(
          start(),
          flow("f1", "start", "g"),
          race(
            "g",
            xml("intermediateCatchEvent", { id: "a" }, timer("timeDuration", "PT1S")),
            xml("intermediateCatchEvent", { id: "b" }, timer("timeDuration", "PT2S")),
          ).replace(' targetRef="b" />', ` targetRef="b">${condition}</sequenceFlow>`),
        ),
      ),
      "g-b",
    ),
  ],
  "bpmn/condition-missing": [
    one("one of two", choosing({}, flow("f2", "g", "a", "=x"), flow("f3", "g", "b")), "f3", 9),
  ],
  "bpmn/condition-not-feel": [
    one("another language", choosing({}, flow("f2", "g", "a", "$" + "{x}")), "f2", 8),
    one("an empty one", choosing({}, flow("f2", "g", "a", " ")), "f2", 8),
  ],
  "bpmn/default-flow-elsewhere": [
    one("a flow to the gateway", choosing({ default: "f1" }, flow("f2", "g", "a")), "g", 4),
  ],
  "bpmn/event-definition-count": [
    one("a catch event without", catching(), "c", 4),
    one(
      "a boundary event with two",
      onBoundary(timer("timeDuration", "PT1S") + throwing()),
      "b",
      8,
    ),
    one(
      "a start event with two",
      beside(
        file(process(start("a", onSignal("s1") + onMessage("m1")))),
        aSignal("s1"),
        aMessage("m1"),
      ),
      "a",
      3,
    ),
    one(
      "a throw event with two",
      beside(
        sequence(xml("intermediateThrowEvent", { id: "c" }, onSignal("s1") + onMessage("m1"))),
        aSignal("s1"),
        aMessage("m1"),
      ),
      "c",
      4,
    ),
    one(
      "a catch event with a timer and a signal",
      beside(catching(timer("timeDuration", "PT1S") + onSignal("s1")), aSignal("s1")),
      "c",
      4,
    ),
    one("an end event with two", withError(`<terminateEventDefinition />${throwing()}`), "end", 4),
  ],
  "bpmn/boundary-not-attached": [
    one(
      "no reference",
      sequence(service("t"), xml("boundaryEvent", { id: "b" }, timer("timeDuration", "PT1S"))),
      "b",
      8,
    ),
    one(
      "an event",
      sequence(service("t"), boundary("b", "start", timer("timeDuration", "PT1S"))),
      "b",
      8,
    ),
    one(
      "an activity of another scope",
      sequence(
        xml("subProcess", { id: "s" }, start("i"), xml("task", { id: "u" })),
        boundary("b", "u", timer("timeDuration", "PT1S")),
      ),
      "b",
    ),
  ],
  "bpmn/error-without-code": [
    one("no reference", withError(throwing()), "end", 4),
    one("an error without a code", withError(throwing("e1"), anError()), "end", 4),
    one("an error with an empty code", withError(throwing("e1"), anError("")), "end", 4),
  ],
  "bpmn/error-code-is-expression": [
    one(
      "caught",
      file(
        process(start(), service("t"), boundary("b", "t", throwing("e1")), flow("f", "start", "t")),
        anError("=code"),
      ),
      "b",
      5,
    ),
  ],
  "bpmn/error-not-interrupting": [
    one("an error", onBoundary(throwing(), { cancelActivity: "false" }), "b", 8),
  ],
  "bpmn/duplicate-error-catcher": [
    one(
      "two that catch every error",
      sequence(service("t"), boundary("b", "t", throwing()), boundary("c", "t", throwing())),
      "c",
      9,
    ),
    one(
      "two of one code",
      file(
        process(
          start(),
          service("t"),
          boundary("b", "t", throwing("e1")),
          boundary("c", "t", throwing("e2")),
          flow("f", "start", "t"),
        ),
        anError("no"),
        xml("error", { id: "e2", errorCode: "no" }),
      ),
      "c",
      6,
    ),
  ],
  "bpmn/timer-without-value": [
    one("no value", catching("<timerEventDefinition />"), "c", 4),
    one("an empty value", catching(timer("timeDuration", " ")), "c", 4),
  ],
  "bpmn/timer-with-several-values": [
    one(
      "two kinds",
      catching(
        xml(
          "timerEventDefinition",
          {},
          "<timeDuration>PT1S</timeDuration><timeDate>2030-01-01T00:00:00Z</timeDate>",
        ),
      ),
      "c",
      4,
    ),
    one(
      "one kind twice",
      catching(
        xml(
          "timerEventDefinition",
          {},
          "<timeDuration>PT1S</timeDuration><timeDuration>PT2S</timeDuration>",
        ),
      ),
      "c",
    ),
  ],
  "bpmn/timer-kind-not-allowed": [
    one("a cycle on the way", catching(timer("timeCycle", "R3/PT1S")), "c", 4),
    one("a cycle that interrupts", onBoundary(timer("timeCycle", "R3/PT1S")), "b", 8),
  ],
  "bpmn/invalid-timer": [
    one("a duration", catching(timer("timeDuration", "PT1.5H")), "c", 4),
    one("a duration in other words", catching(timer("timeDuration", "15 minutes")), "c", 4),
    one("a date without an offset", catching(timer("timeDate", "2030-01-01T00:00:00")), "c", 4),
    one("a cycle", onBoundary(timer("timeCycle", "R0/PT1S"), { cancelActivity: "false" }), "b", 8),
    one(
      "a cycle without length",
      onBoundary(timer("timeCycle", "R1000000/PT0S"), { cancelActivity: "false" }),
      "b",
      8,
    ),
    one(
      "a start by a cycle without length",
      file(process(xml("startEvent", { id: "s" }, timer("timeCycle", "R1000000/PT0S")))),
      "s",
      3,
    ),
    one(
      "a cron expression of five fields",
      onBoundary(timer("timeCycle", "0 9-17 * * MON-FRI"), { cancelActivity: "false" }),
      "b",
      8,
    ),
  ],
  "bpmn/invalid-time-zone": [
    one(
      "of an event",
      catching(extensions(timeZone("Mars/Phobos")), timer("timeDuration", "P1D")),
      "c",
      4,
    ),
    one("of a process", file(process(extensions(timeZone("berlin")), start())), "p", 3),
  ],
  ...CALL_REFUSALS,
  "bpmn/task-without-type": [
    one("a service task", sequence(xml("serviceTask", { id: "t" })), "t", 4),
    one("a send task", sequence(xml("sendTask", { id: "t" })), "t", 4),
    one(
      "a message that is thrown",
      sequence(xml("intermediateThrowEvent", { id: "t" }, "<messageEventDefinition />")),
      "t",
      4,
    ),
    one("a message at the end", withError("<messageEventDefinition />"), "end", 4),
    one("a business rule task", sequence(xml("businessRuleTask", { id: "t" })), "t", 4),
    one("an empty type", sequence(xml("serviceTask", { id: "t" }, extensions(job(" ")))), "t", 4),
  ],
  "bpmn/ambiguous-task": [
    one(
      "script and job",
      sequence(
        xml(
          "scriptTask",
          { id: "t" },
          extensions(job(), xml("zeebe:script", { expression: "=1", resultVariable: "x" })),
        ),
      ),
      "t",
      4,
    ),
  ],
  "bpmn/invalid-retries": [
    ...["", "-1", "1.5", "three", "1e3", " 3", "99999999999"].map((retries) =>
      one(
        JSON.stringify(retries),
        sequence(xml("serviceTask", { id: "t" }, extensions(job("a", { retries })))),
        "t",
        4,
      ),
    ),
  ],
  "bpmn/invalid-retry-backoff": [
    one("no duration", sequence(service("t", headers(["retryBackoff", "10s"]))), "t", 4),
    one("a negative one", sequence(service("t", headers(["retryBackoff", "-PT10S"]))), "t", 4),
  ],
  "bpmn/duplicate-header": [
    one("two", sequence(service("t", headers(["a", "1"], ["a", "2"]))), "t", 4),
  ],
  "bpmn/reserved-header": [
    one("one", sequence(service("t", headers(["io.camunda.zeebe:assignee", "me"]))), "t", 4),
  ],
  "bpmn/script-without-expression": [
    one("nothing", sequence(xml("scriptTask", { id: "t" })), "t", 4),
    one("a plain script", sequence(xml("scriptTask", { id: "t" }, "<script>x</script>")), "t", 4),
    one("an empty one", script({ expression: "", resultVariable: "x" }), "t", 4),
  ],
  "bpmn/script-not-feel": [
    one("static text", script({ expression: "1 + 1", resultVariable: "x" }), "t", 4),
  ],
  "bpmn/invalid-result-variable": [
    one("none", script({ expression: "=1" }), "t", 4),
    one("a path", script({ expression: "=1", resultVariable: "a.b" }), "t", 4),
    one("a keyword", script({ expression: "=1", resultVariable: "then" }), "t", 4),
  ],
  "bpmn/invalid-mapping-target": [
    one("none", mapped(xml("zeebe:input", { source: "=1" })), "t", 4),
    one("an operator", mapped(xml("zeebe:input", { source: "=1", target: "a-b" })), "t", 4),
    one("a keyword", mapped(xml("zeebe:output", { source: "=1", target: "a.if" })), "t", 4),
  ],
  "bpmn/output-not-feel": [
    one("static", mapped(xml("zeebe:output", { source: "1", target: "a" })), "t", 4),
  ],
  "bpmn/feel-syntax": [
    one("a condition", choosing({}, flow("f2", "g", "a", "=x >")), "f2", 8),
    one("an input", mapped(xml("zeebe:input", { source: "=(", target: "a" })), "t", 4),
    one("an output", mapped(xml("zeebe:output", { source: "=a b c(", target: "a" })), "t", 4),
    one("a timer", catching(timer("timeDuration", "=duration(")), "c", 4),
    one("a script", script({ expression: "=1 +", resultVariable: "x" }), "t", 4),
    one("a task type", sequence(xml("serviceTask", { id: "t" }, extensions(job("=a +")))), "t", 4),
    one(
      "retries",
      sequence(xml("serviceTask", { id: "t" }, extensions(job("a", { retries: "=" })))),
      "t",
    ),
    one("a thrown code", withError(throwing("e1"), anError("=a +")), "end", 4),
    one("the name of a signal", catchingSignal("=a +"), "c", 4),
    one(
      "a correlation key",
      beside(catching(onMessage("m1")), aMessage("m1", { key: "=(" })),
      "c",
      4,
    ),
    one(
      "the name that starts a process",
      beside(file(process(start("a", onSignal("s1")))), aSignal("s1", "=")),
      "a",
      3,
    ),
  ],
  "bpmn/endless-loop": [
    one(
      "tasks without a worker",
      file(
        process(
          start(),
          xml("task", { id: "a" }),
          xml("manualTask", { id: "b" }),
          flow("f1", "start", "a"),
          flow("f2", "a", "b"),
          flow("f3", "b", "a"),
        ),
      ),
      "a",
      4,
    ),
    one(
      "a signal that is thrown without end",
      beside(
        sequence(xml("intermediateThrowEvent", { id: "a" }, onSignal("s1")), flow("f3", "a", "a")),
        aSignal("s1"),
      ),
      "a",
      4,
    ),
    one(
      "a task with a flow to itself",
      sequence(xml("task", { id: "a" }), flow("f3", "a", "a")),
      "a",
      4,
    ),
    one(
      "a choice that nothing can change",
      file(
        process(
          start(),
          xml("task", { id: "a" }),
          xml("exclusiveGateway", { id: "g", default: "f3" }),
          end(),
          flow("f1", "start", "a"),
          flow("f2", "a", "g"),
          flow("f3", "g", "end"),
          flow("f4", "g", "a", "=again"),
        ),
      ),
      "a",
      4,
    ),
    one(
      "a script without a way out",
      file(
        process(
          start(),
          xml(
            "scriptTask",
            { id: "a" },
            extensions(xml("zeebe:script", { expression: "=n + 1", resultVariable: "n" })),
          ),
          flow("f1", "start", "a"),
          flow("f2", "a", "a"),
        ),
      ),
      "a",
      4,
    ),
    one(
      "a sub-process in which nothing waits",
      sequence(
        xml("subProcess", { id: "s" }, start("i"), xml("task", { id: "u" }), flow("f3", "i", "u")),
        flow("f4", "s", "s"),
      ),
      "s",
      4,
    ),
  ],
};

const unsupported = (why: string, element: string, more: readonly string[] = []): Case =>
  one(why, sequence(element, ...more), "x", 4);
const event = (kind: string, definition: string) =>
  xml(kind, { id: "x" }, `<${definition}EventDefinition />`);

/** Files with one thing that does not run yet; it is called `x` where it can be. */
export const UNSUPPORTED: readonly Case[] = [
  ...["transaction", "adHocSubProcess"].map((kind) =>
    unsupported(`<${kind}>`, xml(kind, { id: "x" })),
  ),
  ...["inclusiveGateway", "complexGateway"].map((kind) =>
    unsupported(`<${kind}>`, xml(kind, { id: "x" })),
  ),
  ...["link", "conditional"].map((kind) =>
    unsupported(`a ${kind} catch event`, event("intermediateCatchEvent", kind)),
  ),
  ...["link", "escalation", "compensate"].map((kind) =>
    unsupported(`a ${kind} throw event`, event("intermediateThrowEvent", kind)),
  ),
  ...["escalation", "compensate", "cancel"].map((kind) =>
    one(
      `a ${kind} end event`,
      file(process(start(), event("endEvent", kind), flow("f", "start", "x"))),
      "x",
      4,
    ),
  ),
  ...["escalation", "compensate", "conditional", "cancel"].map((kind) =>
    one(
      `a ${kind} boundary event`,
      sequence(
        service("t"),
        xml("boundaryEvent", { id: "x", attachedToRef: "t" }, `<${kind}EventDefinition />`),
      ),
      "x",
      8,
    ),
  ),
  ...["conditional"].map((kind) =>
    one(`a ${kind} start event`, file(process(event("startEvent", kind))), "x", 3),
  ),
  unsupported(
    "an event sub-process",
    xml("subProcess", { id: "x", triggeredByEvent: "1" }, start("i", "<errorEventDefinition />")),
  ),
  unsupported(
    "a looping sub-process",
    xml("subProcess", { id: "x" }, start("i"), "<standardLoopCharacteristics />"),
  ),
  unsupported("a receive task that starts", xml("receiveTask", { id: "x", instantiate: "true" })),
  unsupported(
    "an event-based gateway that starts",
    xml("eventBasedGateway", { id: "x", instantiate: "1" }),
  ),
  unsupported(
    "an event-based gateway that waits for all",
    xml("eventBasedGateway", { id: "x", eventGatewayType: "Parallel" }),
  ),
  ...["sendTask", "intermediateThrowEvent"].map((kind) =>
    unsupported(
      `a published message in <${kind}>`,
      xml(kind, { id: "x" }, extensions("<zeebe:publishMessage />"), "<messageEventDefinition />"),
    ),
  ),
  unsupported("a compensation handler", xml("task", { id: "x", isForCompensation: "true" })),
  unsupported(
    "a called decision",
    xml(
      "businessRuleTask",
      { id: "x" },
      extensions(xml("zeebe:calledDecision", { decisionId: "d" })),
    ),
  ),
  unsupported(
    "an execution listener",
    xml(
      "serviceTask",
      { id: "x" },
      extensions(
        job(),
        xml("zeebe:executionListeners", {}, xml("zeebe:executionListener", { type: "a" })),
      ),
    ),
  ),
  unsupported(
    "a definition by reference",
    xml("intermediateThrowEvent", { id: "x" }, "<eventDefinitionRef>d</eventDefinitionRef>"),
  ),
  one(
    "a listener of the process",
    file(
      process(
        extensions(
          xml("zeebe:executionListeners", {}, xml("zeebe:executionListener", { type: "a" })),
        ),
        start(),
      ),
    ),
    "p",
    3,
  ),
];

/** Files that compile with a warning. */
export const WARNINGS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/unreachable-element": [
    one("a task beside the flow", sequence(service("t"), service("u")), "u", 8),
  ],
  "bpmn/no-zeebe-profile": [
    one(
      "no extension at all",
      file(process(start())).replace(/ xmlns:zeebe="[^"]*"/, ""),
      "file",
      2,
    ),
    one(
      "another engine's file",
      sequence(service("t")).replace(
        ' id="file"',
        ' id="file" xmlns:m="http://camunda.org/schema/modeler/1.0" m:executionPlatform="Camunda Platform"',
      ),
      "file",
      2,
    ),
  ],
  "bpmn/ignored-extension": [
    one("a job on a plain task", sequence(xml("task", { id: "t" }, extensions(job()))), "t", 4),
    one(
      "a mapping on a gateway",
      sequence(xml("parallelGateway", { id: "g" }, extensions(ioMapping()))),
      "g",
      4,
    ),
    one(
      "an input of an event behind an event-based gateway",
      file(
        process(
          start(),
          flow("f1", "start", "g"),
          race(
            "g",
            xml("intermediateCatchEvent", { id: "a" }, timer("timeDuration", "PT1S")),
            xml(
              "intermediateCatchEvent",
              { id: "b" },
              extensions(ioMapping(xml("zeebe:input", { source: "=1", target: "x" }))),
              timer("timeDuration", "PT2S"),
            ),
          ),
        ),
      ),
      "b",
      10,
    ),
    one(
      "a job on a signal that is thrown",
      beside(
        sequence(xml("intermediateThrowEvent", { id: "t" }, extensions(job()), onSignal("s1"))),
        aSignal("s1"),
      ),
      "t",
      4,
    ),
    one(
      "a correlation key on the event",
      beside(
        catching(extensions(xml("zeebe:subscription", { correlationKey: "=k" })), onMessage("m1")),
        aMessage("m1", { key: "=k" }),
      ),
      "c",
      4,
    ),
    one(
      "a job on a message",
      beside(sequence(service("t")), xml("message", { id: "m1", name: "m" }, extensions(job()))),
      "m1",
      8,
    ),
  ],
  "bpmn/unknown-extension": [
    one("one of the future", sequence(service("t", "<zeebe:teleport />")), "t", 4),
  ],
};
