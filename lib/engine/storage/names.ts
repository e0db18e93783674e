import { isInstanceId } from "../../definition/instance-id.ts";

/** How triggers are named: by what they want to consume, so that a redelivery can be recognised. */
export const attemptName = (ticket: string, attempt: number): string => `${ticket}/${attempt}`;

/** What a broadcast, or a message to a wait that stays open, is called at that wait. */
export const deliveryName = (ticket: string, which: string | number): string =>
  `${ticket}@${which}`;

/** What a claim of a user task is called, or the end of one. */
export const turnName = (ticket: string, turn: number): string => `${ticket}!${turn}`;

/** A start's own trigger. */
export const START = "start";

/** Stands for the trigger of a task that was handed back: its row finds it, and no message. */
export const HANDED_BACK = "handed-back";

/** The public id of a task, or of an item of a multi-instance batch; the ticket has a dot too. */
export const taskIdOf = (instanceId: string, ticket: string): string => `${instanceId}.${ticket}`;

/** Whose task it is; undefined when no task can be called so. */
export function parseTaskId(taskId: string): { instanceId: string; ticket: string } | undefined {
  const [, instanceId, ticket] = /^([^.]+)\.(k\d+\.\d+|f\d+\.\d+#\d{1,9})$/.exec(taskId) ?? [];
  return isInstanceId(instanceId) && ticket !== undefined ? { instanceId, ticket } : undefined;
}

/** The same for every attempt at a task, and for no other task. */
export const idempotencyKeyOf = (instanceId: string, ticket: string): string =>
  `${instanceId}:${ticket}`;

/** The order in which tickets were opened: by version, the number within it, and the batch item. */
export function compareTickets(a: string, b: string): number {
  const [of, than] = [numbersIn(a), numbersIn(b)];
  const differing = of.findIndex((number, place) => number !== than[place]);
  return (of[differing] ?? 0) - (than[differing] ?? 0);
}

/** Whether a text could be the id of a ticket, or of a batch item. */
export const isTicketId = (text: string): boolean => ID.test(text);

const ID = /^[a-z](\d{1,15})\.(\d{1,15})(?:#(\d{1,9}))?$/;

function numbersIn(id: string): readonly number[] {
  const [, version = 0, number = 0, member = -1] = ID.exec(id) ?? [];
  return [Number(version), Number(number), Number(member)];
}

/** The id of an owner as it is stored: of a UUID's 36 characters, 22 in base 64. */
export function packOwner(own: string): string {
  if (UUID.test(own)) {
    return `~${Buffer.from(own.replaceAll("-", ""), "hex").toString("base64url")}`;
  }
  return own.startsWith("~") ? `~~${own.slice(1)}` : own;
}

export function parseOwner(text: string): string {
  if (text.startsWith("~~")) return text.slice(1);
  if (!text.startsWith("~")) return text;
  const hex = Buffer.from(text.slice(1), "base64url").toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
