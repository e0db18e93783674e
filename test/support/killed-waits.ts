// Instances that wait while the process is killed: for a signal, for the first of several events,
// for messages that come early and twice. After every wait is a task, so that it is in the ledger.

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
  start,
  timer,
  xml,
} from "./bpmn-xml.ts";

/** The signal that all of them wait for, and the message that some of them take instead. */
export const SIGNAL = "go";
export const ANSWER = "answer";
/** The message that a reader takes twice, one after the other. */
export const LETTER = "letter";

/** The task after every wait; a reader has read one message before and another after `midway`. */
export const AFTER = "after";

/** The correlation key of every message: a variable that each instance is started with. */
const BY_KEY = { key: "=key" };

/** What an instance waits for. */
export type Kind = "waiter" | "host" | "race" | "reader";

/** Nothing but the signal. */
const waiter = workflow("waiter", catching("go-caught", onSignal(SIGNAL)), [
  "start go-caught after end",
]);

/** A task without a handler, with three boundary events: all of them are closed when one fires. */
const host = workflow(
  "host",
  [
    xml("serviceTask", { id: "undone" }, extensions(job("nobody"))),
    boundary("go-caught", "undone", onSignal(SIGNAL)),
    boundary("answered", "undone", onMessage(ANSWER)),
    boundary("late", "undone", timer("timeDuration", "PT1H")),
    gateway("either", "exclusive"),
  ].join("\n"),
  ["start undone either after end", "go-caught either", "answered either", "late either"],
);

/** A gateway that takes the first of signal, message and timer. */
const race = workflow(
  "race",
  [
    gateway("first", "eventBased"),
    catching("go-caught", onSignal(SIGNAL)),
    catching("answered", onMessage(ANSWER)),
    catching("late", timer("timeDuration", "PT1H")),
    gateway("either", "exclusive"),
  ].join("\n"),
  ["start first go-caught either after end", "first answered either", "first late either"],
);

/** Two messages under one key, with a task between them. */
const reader = workflow(
  "reader",
  [
    catching("first-letter", onMessage(LETTER)),
    task("midway"),
    catching("second-letter", onMessage(LETTER)),
  ].join("\n"),
  ["start first-letter midway second-letter after end"],
);

/** A file each, with what they wait for. */
export const WAITS: readonly string[] = [
  beside(file(waiter), aSignal(SIGNAL)),
  ...[host, race].map((one) => beside(file(one), aSignal(SIGNAL), aMessage(ANSWER, BY_KEY))),
  beside(file(reader), aMessage(LETTER, BY_KEY)),
];

function workflow(id: Kind, content: string, paths: readonly string[]): string {
  return xml(
    "process",
    { id, isExecutable: "true" },
    ...[start(), content, task(AFTER), end()],
    ...paths.flatMap(flows),
  );
}

function task(id: string): string {
  return xml("serviceTask", { id }, extensions(job("step")));
}

function gateway(id: string, kind: "eventBased" | "exclusive"): string {
  return xml(`${kind}Gateway`, { id });
}

function flows(path: string): readonly string[] {
  const steps = path.split(" ");
  return steps.slice(1).map((to, n) => flow(`${steps[n]}-${to}`, steps[n] ?? "", to));
}
