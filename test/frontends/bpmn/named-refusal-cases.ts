// The files that earn the codes of signals, messages and event-based gateways, each one error.
import {
  MAX_LABEL_LENGTH,
  MAX_NAME_LENGTH,
  MAX_WAITS_PER_STEP,
} from "../../../lib/definition/limits.ts";
import type { BpmnCode } from "../../../lib/frontends/bpmn/codes.ts";
import { MAX_TRIGGERED_STARTS } from "../../../lib/frontends/bpmn/limits.ts";
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
  job,
  onMessage,
  onSignal,
  person,
  process,
  race,
  receive,
  sequence,
  service,
  start,
  throwing,
  timer,
  xml,
} from "../../support/bpmn-xml.ts";
import { type Case, one } from "./refusal-cases.ts";

const signals = ["s1", "s2"].map((id) => aSignal(id));
const messages = ["m1", "m2"].map((id) => aMessage(id, { key: "=k" }));
const known = (source: string) => beside(source, ...signals, ...messages);
const soon = timer("timeDuration", "PT1S");

/** A process that starts with a race; `more` is beside it. */
const racing = (catches: readonly string[], ...more: readonly string[]) =>
  known(file(process(start(), flow("f1", "start", "g"), race("g", ...catches), ...more)));

/** A process with a start event for each of these definitions, at `a`, `b` and so on. */
const starting = (...definitions: readonly string[]) =>
  file(process(...definitions.map((one, n) => start("abc".charAt(n), one))));

const long = "x".repeat(MAX_NAME_LENGTH + 1);
const tooLong = "x".repeat(MAX_LABEL_LENGTH + 1);
const throwingError = file(
  process(
    start(),
    end("end", xml("errorEventDefinition", { errorRef: "e" })),
    flow("f", "start", "end"),
  ),
);
const formOf = (form: Readonly<Record<string, string>>) =>
  sequence(person("t", xml("zeebe:formDefinition", form)));
const many = Array.from({ length: MAX_WAITS_PER_STEP + 1 }, (_, n) => `s${n}`);
const manySignals = many.map((id) => aSignal(id));
const starts = many.slice(0, MAX_TRIGGERED_STARTS + 1).map((id) => start(`e-${id}`, onSignal(id)));

/** Files that earn one error each. */
export const NAMED_ERRORS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/reference-missing": [
    one("a catch", sequence(catching("c", "<signalEventDefinition />")), "c", 4),
    one("an empty one", sequence(catching("c", onMessage(""))), "c", 4),
    one("a throw", sequence(throwing("c", "<signalEventDefinition />")), "c", 4),
    one("an end", file(process(start(), end("e", "<signalEventDefinition />"))), "e", 4),
    one("a start", starting("<messageEventDefinition />"), "a", 3),
    one("a receive task", sequence(xml("receiveTask", { id: "t" })), "t", 4),
    one(
      "a boundary",
      sequence(service("t"), boundary("b", "t", "<messageEventDefinition />")),
      "b",
      8,
    ),
  ],
  "bpmn/reference-without-name": [
    one(
      "a signal",
      beside(sequence(catching("c", onSignal("s1"))), xml("signal", { id: "s1" })),
      "c",
      4,
    ),
    one("blanks", beside(sequence(throwing("c", onSignal("s1"))), aSignal("s1", " ")), "c", 4),
    one(
      "a message",
      beside(sequence(receive("t", "m1")), aMessage("m1", { name: "", key: "=k" })),
      "t",
      4,
    ),
    one(
      "what starts a process",
      beside(starting(onMessage("m1")), aMessage("m1", { name: "" })),
      "a",
    ),
  ],
  "bpmn/name-too-long": [
    one("a type", sequence(xml("serviceTask", { id: "t" }, extensions(job(long)))), "t", 4),
    one(
      "a type that is too long for a key",
      sequence(xml("serviceTask", { id: "t" }, extensions(job("字".repeat(112))))),
      "t",
      4,
    ),
    one("a signal", beside(sequence(catching("c", onSignal("s1"))), aSignal("s1", long)), "c", 4),
    one(
      "a message",
      beside(sequence(receive("t", "m1")), aMessage("m1", { name: long, key: "=k" })),
      "t",
      4,
    ),
    one("a key", beside(sequence(receive("t", "m1")), aMessage("m1", { key: long })), "t", 4),
    one(
      "of a process",
      file(xml("process", { id: "p", name: tooLong, isExecutable: "true" }, start())),
      "p",
      3,
    ),
    one(
      "of an element",
      sequence(xml("serviceTask", { id: "t", name: tooLong }, extensions(job("work")))),
      "t",
      4,
    ),
    one(
      "an error code that is thrown",
      beside(throwingError, xml("error", { id: "e", errorCode: tooLong })),
      "end",
    ),
    one("a form's id", formOf({ formId: tooLong }), "t", 4),
    one("a form's reference", formOf({ externalReference: tooLong }), "t", 4),
    one("what starts a process", beside(starting(onSignal("s1")), aSignal("s1", long)), "a", 3),
    one(
      "what starts a process, computed",
      beside(starting(onSignal("s1")), aSignal("s1", `="${long}"`)),
      "a",
      3,
    ),
  ],
  "bpmn/correlation-key-missing": [
    one("a catch", beside(sequence(catching("c", onMessage("m1"))), aMessage("m1")), "c", 4),
    one("an empty one", beside(sequence(receive("t", "m1")), aMessage("m1", { key: "" })), "t", 4),
    one(
      "a boundary",
      beside(sequence(service("t"), boundary("b", "t", onMessage("m1"))), aMessage("m1")),
      "b",
      8,
    ),
  ],
  "bpmn/start-name-not-fixed": [
    one("a variable", beside(starting(onSignal("s1")), aSignal("s1", "=country")), "a", 3),
    one(
      "a variable that need not be there",
      beside(starting(onMessage("m1")), aMessage("m1", { name: '=get or else(country, "x")' })),
      "a",
      3,
    ),
    one("a number", beside(starting(onSignal("s1")), aSignal("s1", "=1 + 1")), "a", 3),
    one("an empty text", beside(starting(onSignal("s1")), aSignal("s1", '=""')), "a", 3),
  ],
  "bpmn/start-timer-not-fixed": [
    one("a variable", starting(timer("timeDuration", "=wait")), "a", 3),
    one("a number", starting(timer("timeCycle", "=1 + 1")), "a", 3),
    one("a text that is none", starting(timer("timeDate", '="tomorrow"')), "a", 3),
  ],
  "bpmn/duplicate-start-name": [
    one("one signal twice", known(starting(onSignal("s1"), onSignal("s1"))), "b", 4),
    one(
      "two messages of one name",
      beside(
        starting(onMessage("m1"), onMessage("m2")),
        aMessage("m1", { name: "go" }),
        aMessage("m2", { name: '="go"' }),
      ),
      "b",
      4,
    ),
  ],
  "bpmn/duplicate-boundary-name": [
    ...[onSignal("s1"), onMessage("m1")].map((definition) =>
      one(
        definition,
        known(
          sequence(
            service("t"),
            boundary("b", "t", definition),
            boundary("c", "t", definition, { cancelActivity: "false" }),
          ),
        ),
        "c",
        9,
      ),
    ),
    one(
      "two messages of one name",
      beside(
        sequence(
          service("t"),
          boundary("b", "t", onMessage("m1")),
          boundary("c", "t", onMessage("m2")),
        ),
        aMessage("m1", { name: "go", key: "=a" }),
        aMessage("m2", { name: "go", key: "=b" }),
      ),
      "c",
      9,
    ),
  ],
  "bpmn/boundary-like-its-task": [
    one(
      "a receive task",
      known(sequence(receive("t", "m1"), boundary("b", "t", onMessage("m1")))),
      "b",
      8,
    ),
  ],
  "bpmn/duplicate-gateway-name": [
    one("a signal", racing([catching("a", onSignal("s1")), catching("b", onSignal("s1"))]), "b"),
    one("a message", racing([catching("a", onMessage("m1")), receive("b", "m1")]), "b"),
  ],
  "bpmn/event-gateway-flows": [
    one("none", racing([]), "g", 5),
    one("one", racing([catching("a", soon)]), "g", 5),
  ],
  "bpmn/event-gateway-target": [
    one("a task", racing([catching("a", soon), service("b")]), "g-b"),
    one(
      "an end",
      racing([catching("a", soon), catching("b", soon)], end("e"), flow("f", "g", "e")),
    ),
    one("a throw", racing([catching("a", soon), throwing("b", onSignal("s1"))]), "g-b"),
    one("itself", racing([catching("a", soon), catching("b", soon)], flow("f", "g", "g")), "f"),
  ],
  "bpmn/event-gateway-target-shared": [
    one(
      "a flow from elsewhere",
      racing([catching("a", soon), catching("b", soon)], flow("f", "a", "b")),
      "b",
    ),
    one(
      "two flows from the gateway",
      racing([catching("a", soon), catching("b", onSignal("s1"))], flow("f", "g", "b")),
      "b",
    ),
  ],
  "bpmn/event-gateway-target-boundary": [
    one(
      "a timer",
      racing([catching("a", soon), receive("b", "m1")], boundary("c", "b", soon)),
      "b",
    ),
  ],
  "bpmn/too-many-starts": [
    one(
      "in two processes together",
      beside(
        file(
          process(start(), ...starts.slice(1)),
          xml("process", { id: "q", isExecutable: "true" }, ...starts.slice(0, 1)),
        ),
        ...manySignals,
      ),
      "file",
      2,
    ),
  ],
  "bpmn/too-many-waits": [
    one(
      "behind a gateway",
      beside(
        file(
          process(
            start(),
            flow("f1", "start", "g"),
            race("g", ...many.map((id) => catching(`c-${id}`, onSignal(id)))),
          ),
        ),
        ...manySignals,
      ),
      "g",
      5,
    ),
    one(
      "on an activity",
      beside(
        sequence(service("t"), ...many.map((id) => boundary(`b-${id}`, "t", onSignal(id)))),
        ...manySignals,
      ),
      "t",
      4,
    ),
    one(
      "on a receive task, its own message counted",
      beside(
        sequence(
          receive("t", "m1"),
          ...many.slice(1).map((id) => boundary(`b-${id}`, "t", onSignal(id))),
        ),
        ...manySignals,
        aMessage("m1", { key: "=k" }),
      ),
      "t",
      4,
    ),
  ],
};

/** Files that compile with a warning. */
export const NAMED_WARNINGS: Readonly<Partial<Record<BpmnCode, readonly Case[]>>> = {
  "bpmn/start-timer-from-deploy": [
    one("a start by duration", starting(timer("timeDuration", "PT10M")), "a", 3),
  ],
  "bpmn/boundary-on-event": [
    one(
      "a timer on an event that waits for a signal",
      beside(
        sequence(catching("c", onSignal("s1")), boundary("b", "c", timer("timeDuration", "PT1S"))),
        aSignal("s1"),
      ),
      "b",
      8,
    ),
  ],
  "bpmn/correlation-key-fixed": [
    one(
      "a name without the equals sign",
      beside(sequence(catching("c", onMessage("m1"))), aMessage("m1", { key: "orderId" })),
      "c",
      4,
    ),
  ],
};
