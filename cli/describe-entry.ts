/** One entry of the history, as the API and the engine return it. */
export type Entry = Readonly<{ type: string; element?: string; data?: unknown }>;

/** Describes an entry of the history in words. */
export function describeEntry(entry: Entry): string {
  const describe = WORDS.get(entry.type) ?? asItIs;
  return describe(entry.element ?? "", entry);
}

type Describe = (element: string, entry: Entry) => string;

/** Shows unknown types, which a newer server may have, unchanged. */
const asItIs: Describe = (element, { type, data }) =>
  [type, element, data === undefined ? "" : JSON.stringify(data)]
    .filter((part) => part !== "")
    .join(" ");

const WORDS: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ["started", () => "started"],
  ["element-entered", (element) => `${element} entered`],
  ["element-completed", (element) => `${element} completed`],
  ["element-terminated", (element) => `${element} interrupted`],
  ["flow-taken", (element) => `flow ${element} taken`],
  ["task-claimed", (element) => `${element} claimed by a handler`],
  ["task-assigned", describeAssignment],
  ["task-completed", (element) => `${element}: task done`],
  ["task-failed", describeFailure],
  ["timer-due", (element) => `${element}: timer due`],
  ["signal-received", (element, entry) => `${element}: signal received${id(entry, "broadcastId")}`],
  ["signal-thrown", describeThrown],
  ["message-received", (element, entry) => `${element}: message received${id(entry, "messageId")}`],
  ["event-received", (element, entry) => `${element}: event received${id(entry, "eventId")}`],
  [
    "event-sent",
    (_, entry) => `${named(entry, "event")} received, kept unread${id(entry, "eventId")}`,
  ],
  ["error-caught", (element, entry) => `${element} caught ${codeAndMessage(entry)}`],
  ["cancel-requested", (_, entry) => `cancel requested${colon(field(entry, "reason"))}`],
  ["incident-raised", describeIncident],
  ["incident-resolved", (element) => `${element}: incident resolved, retrying`],
  ["continued", () => "continued in another step"],
  ["instance-ended", (_, entry) => `ended: ${field(entry, "status") ?? "unknown"}`],
]);

function describeAssignment(element: string, entry: Entry): string {
  const assignee = field(entry, "assignee");
  return assignee === undefined ? `${element}: unassigned` : `${element}: assigned to ${assignee}`;
}

function describeFailure(element: string, entry: Entry): string {
  return `${element}: attempt ${field(entry, "attempt") ?? "?"} failed${colon(codeAndMessage(entry))}`;
}

function describeThrown(element: string, entry: Entry): string {
  return `${element}: ${named(entry, "signal")} thrown${id(entry, "broadcastId")}`;
}

function describeIncident(element: string, entry: Entry): string {
  const incidentId = field(entry, "incidentId") ?? "";
  return `${element}: incident ${incidentId}${colon(field(entry, "message"))}`;
}

function codeAndMessage(entry: Entry): string {
  const parts = [field(entry, "code"), field(entry, "message")];
  return parts.filter((part) => part !== undefined && part !== "").join(": ");
}

function named(entry: Entry, what: string): string {
  const name = field(entry, "name");
  return name === undefined ? what : `${what} "${name}"`;
}

/** The id under which receipts and other histories mention it. */
function id(entry: Entry, name: string): string {
  const given = field(entry, name);
  return given === undefined ? "" : ` (${given})`;
}

function field({ data }: Entry, name: string): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const value: unknown = Object.entries(data).find(([key]) => key === name)?.[1];
  return value === undefined || value === null ? undefined : String(value);
}

function colon(text: string | undefined): string {
  return text === undefined || text === "" ? "" : `: ${text}`;
}
