import type { IncidentView, WaitView } from "../lib/client/index.ts";

/** Describes in words what an instance waits for. */
export function describeWait(wait: WaitView, incidents: readonly IncidentView[]): string {
  const { since, dueAt } = wait;
  const element = placeOf(wait);
  switch (wait.kind) {
    case "task":
      return describeTask(wait);
    case "timer":
      return `${element} waits for its timer, which is due at ${dueAt} (since ${since}).`;
    case "signal":
    case "message":
    case "event":
      return `${element} waits for ${awaitedBy(wait)} since ${since}.`;
    case "child":
      return describeChild(wait);
    case "continuation":
      return `${element} has more to do than fits in one step; it continues by itself.`;
    case "incident": {
      const incident = incidents.find(({ incidentId }) => incidentId === wait.incidentId);
      const what = incident === undefined ? "" : ` ${incident.type}: ${incident.message}`;
      return `${element} is stopped by incident ${wait.incidentId} since ${since}.${what}`;
    }
  }
}

/** The element, and for a workflow in code the line that waits. */
const placeOf = ({ element, at }: WaitView): string =>
  at === undefined ? element : `${element} (${at.file}:${at.line})`;

function describeChild({ element, since, process, childInstanceId, members }: WaitView): string {
  if (members === undefined) {
    return `${element} waits for the called process "${process}" (${childInstanceId}) since ${since}.`;
  }
  const first = childInstanceId === undefined ? "" : ` The first of these is ${childInstanceId}.`;
  return `${element} waits for ${members.open} of ${members.size} calls of the process "${process}" since ${since}.${first}`;
}

/** Names the external input of a wait: the signal, the message with its key, the event, the task. */
export function awaitedBy(wait: WaitView): string {
  const { kind, name, correlationKey, taskType, state, members } = wait;
  switch (kind) {
    case "signal":
    case "event":
      return `the ${kind} "${name}"`;
    case "message":
      return correlationKey === undefined || correlationKey === ""
        ? `the message "${name}" without a correlation key`
        : `the message "${name}" with the correlation key "${correlationKey}"`;
    case "task":
      if (state !== undefined) return "a person";
      return members === undefined
        ? `a task of the type "${taskType}"`
        : `${members.open} of ${members.size} tasks of the type "${taskType}"`;
    case "timer":
    case "child":
    case "continuation":
    case "incident":
      return "no external input";
  }
}

/** Introduces the call that would end the wait; undefined if only time ends it. */
export function describeWaking(wait: WaitView): string | undefined {
  if (wait.wakeWith === undefined || wait.runsHere === true) return undefined;
  switch (wait.kind) {
    case "task":
      if (wait.members) return "List them, then complete each by its taskId:";
      return "Complete it, with its output variables:";
    case "timer":
      return "The clock is virtual; advance it:";
    case "signal":
      return "Broadcast it, with a payload; every instance that waits for it receives it:";
    case "message":
      return "Send it, with variables as its payload:";
    case "event":
      return "Send it, with a payload:";
    case "incident":
      return "When the cause is fixed, retry:";
    case "child":
    case "continuation":
      return undefined;
  }
}

/** The assignee or the candidates of a user task, and its due date. */
function describePerson(wait: WaitView): string {
  const { element, since, assignee, candidateUsers = [], candidateGroups = [], dueDate } = wait;
  const names = [...candidateUsers, ...candidateGroups.map((group) => `the group ${group}`)];
  const who = assignee ?? (names.length === 0 ? "any user" : names.join(", "));
  const what = assignee === undefined ? "claimed and completed" : "completed";
  const until = dueDate === undefined ? "" : ` It is due at ${dueDate}.`;
  return `${element} waits to be ${what} by ${who} since ${since}.${until}`;
}

function describeTask(wait: WaitView): string {
  if (wait.state !== undefined && wait.runsHere !== true) return describePerson(wait);
  const { since, dueAt, runsHere } = wait;
  const task = `${placeOf(wait)} waits for ${awaitedBy(wait)}`;
  if (runsHere !== true) {
    return `${task} since ${since}. The server has no handler for this type: a worker or a call completes it.`;
  }
  if (dueAt !== undefined) return `${task} since ${since}. The next attempt is at ${dueAt}.`;
  return `${task} since ${since}, which the server runs or is about to run.`;
}
