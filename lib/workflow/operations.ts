/** What a workflow can do and wait for. */
import type { EventAnswer, MessageAnswer } from "./answers.ts";
import { bridge, type InstanceFacts } from "./bridge.ts";
import { type DurationText, isoDuration } from "./duration-text.ts";
import { jsonText } from "./json-text.ts";
import { type Caller, open } from "./operation.ts";
import { optionsText, type TaskOptions } from "./task-options.ts";

/**
 * Runs a task by its type: by a handler, by a worker, or by whatever runs tasks of this type for
 * BPMN. Throws `TaskFailed`.
 */
export function task<Result = unknown>(
  type: string,
  input: unknown = null,
  options: TaskOptions = {},
): Promise<Result> {
  return openTask<Result>(taskType(type), input, optionsText(options, type), task);
}

/** A task type, and how an operation names it. */
export type TaskType = Readonly<{ name: string; text: string }>;

export const taskType = (name: string): TaskType => ({
  name,
  text: `"type":${textOf(name, "The type of a task")},"input":`,
});

/** Opens a task for `task` or for a step; its options are text behind a comma, if there are any. */
export function openTask<Result>(
  { name, text }: TaskType,
  input: unknown,
  options: string,
  caller: Caller,
): Promise<Result> {
  return open<Result>("task", text + jsonText(input ?? null, name, "input") + options, caller);
}

/** A timer that has fired. */
export type Fired = Readonly<{ dueAt: Date; firedAt: Date }>;

/** Waits for this long, counted from the call: a timer that is awaited later waits only the rest. */
export function delay(duration: DurationText): Promise<Fired> {
  return timer(`"after":${JSON.stringify(isoDuration(duration, "delay()"))}`, delay);
}

/** The same as `delay`. */
export function sleep(duration: DurationText): Promise<Fired> {
  return timer(`"after":${JSON.stringify(isoDuration(duration, "sleep()"))}`, sleep);
}

/** Waits until an instant; one that has passed fires at once. */
export function sleepUntil(instant: Date | string | number): Promise<Fired> {
  // A date drops what is finer than a millisecond, and nothing may be early.
  const at = new Date(typeof instant === "number" ? Math.ceil(instant) : instant).getTime();
  if (Number.isNaN(at)) {
    throw new RangeError(
      `sleepUntil(): ${JSON.stringify(instant)} is not an instant. Pass a Date, or a text such as "2030-01-31T12:00:00Z".`,
    );
  }
  return timer(`"until":${at}`, sleepUntil);
}

const timer = (fields: string, caller: Caller): Promise<Fired> =>
  open("timer", fields, caller, (dueAt) => ({
    dueAt: new Date(Number(dueAt)),
    firedAt: new Date(),
  }));

/**
 * Waits for the next event of this name that is sent to this instance or broadcast; one that was
 * sent before is kept and taken. `from: "inbox"` takes only those that are sent to this instance.
 */
export function event<Payload = unknown>(
  name: string,
  { from }: Readonly<{ from?: "inbox" }> = {},
): Promise<Payload> {
  const inbox = from === "inbox" ? ',"inbox":true' : "";
  return open("event", `"name":${textOf(name, "The name of an event")}${inbox}`, event);
}

/** Waits for the next broadcast of this name; none is kept. */
export function signal<Payload = Readonly<Record<string, unknown>>>(
  name: string,
): Promise<Payload> {
  return open("signal", `"name":${textOf(name, "The name of a signal")}`, signal);
}

/**
 * Waits for a message of this name and correlation key. Throws `CorrelationTaken` while another
 * instance of this workflow waits for it.
 */
export function message<Payload = Readonly<Record<string, unknown>>>(
  name: string,
  correlationKey: string | number = "",
): Promise<Payload> {
  const key = String(correlationKey);
  if (key.length > MAX_NAME_LENGTH) {
    throw new RangeError(`A correlation key has at most ${MAX_NAME_LENGTH} characters.`);
  }
  const fields = `"name":${textOf(name, "The name of a message")},"key":${JSON.stringify(key)}`;
  return open("message", fields, message);
}

/** Broadcasts a signal when the step is committed. */
export function publishSignal(name: string, payload: Readonly<Record<string, unknown>> = {}): void {
  const text = jsonText(payload, name, "payload");
  bridge("publishSignal()").publish(
    `"name":${textOf(name, "The name of a signal")},"payload":${text}`,
  );
}

/** An event to send, as in the API. */
export type EventToSend = Readonly<{
  name: string;
  /** The instance that it is for; absent: it is broadcast. */
  target?: string;
  payload?: unknown;
  id?: string;
}>;

/** Sends an event. A target that is not found or has ended is a `TaskFailed` with its code. */
export function sendEvent(event: EventToSend): Promise<EventAnswer> {
  return openTask(SEND_EVENT, event, "", sendEvent);
}

/** A message to publish, as in the API. */
export type MessageToSend = Readonly<{
  name: string;
  correlationKey?: string;
  payload?: Readonly<Record<string, unknown>>;
  timeToLive?: string;
}>;

/** Publishes a message. */
export function sendMessage(message: MessageToSend): Promise<MessageAnswer> {
  return openTask(SEND_MESSAGE, message, "", sendMessage);
}

/** The time of this step: the same whenever it is replayed. */
export const now = (): Date => new Date();

/** A random UUID, the same whenever the step is replayed. */
export const uuid = (): string => bridge("uuid()").uuid();

/** A random number from 0 up to 1, the same whenever the step is replayed. */
export const random = (): number => bridge("random()").random();

/** The instance that this workflow is running as. */
export const instance: InstanceFacts = {
  get id() {
    return bridge("instance").about().id;
  },
  get businessKey() {
    return bridge("instance").about().businessKey;
  },
  get definition() {
    return bridge("instance").about().definition;
  },
  get startedAt() {
    return bridge("instance").about().startedAt;
  },
};

function textOf(text: string, what: string): string {
  if (typeof text !== "string" || text === "") throw new TypeError(`${what} is a text.`);
  if (text.length > MAX_NAME_LENGTH) {
    throw new RangeError(`${what} has at most ${MAX_NAME_LENGTH} characters.`);
  }
  return JSON.stringify(text);
}

/** The engine's own limit of names. */
const MAX_NAME_LENGTH = 255;

const SEND_EVENT = /* @__PURE__ */ taskType("fermata:send-event");
const SEND_MESSAGE = /* @__PURE__ */ taskType("fermata:send-message");
