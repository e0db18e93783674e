import type { IncidentView, WaitView } from "../lib/client/index.ts";

/** Says in words why an instance does not move on. */
export function describeWait(wait: WaitView, incidents: readonly IncidentView[]): string {
  const { element, since, dueAt } = wait;
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
      return `${element} has more to do than fits in one step; it goes on by itself.`;
    case "incident": {
      const incident = incidents.find(({ incidentId }) => incidentId === wait.incidentId);
      const what = incident === undefined ? "" : ` ${incident.type}: ${incident.message}`;
      return `${element} is stopped by incident ${wait.incidentId} since ${since}.${what}`;
    }
  }
}

function describeChild({ element, since, process, childInstanceId, members }: WaitView): string {
  if (members === undefined) {
    return `${element} waits for ${childInstanceId}, its child of "${process}", since ${since}.`;
  }
  const first = childInstanceId === undefined ? "" : ` The first of these is ${childInstanceId}.`;
  return `${element} waits for ${members.open} of ${members.size} children of "${process}" since ${since}.${first}`;
}

/** Names what must come from outside: the signal, the message with its key, the event, the task. */
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
      return "nobody outside";
  }
}

/** What the call that would end the wait means; nothing where time alone ends it. */
export function describeWaking(wait: WaitView): string | undefined {
  if (wait.wakeWith === undefined || wait.runsHere === true) return undefined;
  switch (wait.kind) {
    case "task":
      if (wait.members) return "List them, then complete each by its taskId:";
      return "Complete it, with the variables that it should give:";
    case "timer":
      return "The clock is virtual; move it there:";
    case "signal":
      return "Broadcast it, with the variables that it should bring; all who wait for it wake:";
    case "message":
      return "Send it, with the variables that it should bring:";
    case "event":
      return "Send it, with the payload that it should bring:";
    case "incident":
      return "When the cause is mended, try again:";
    case "child":
    case "continuation":
      return undefined;
  }
}

/** Who has a user task, or who may have it, and until when it should be done. */
function describePerson(wait: WaitView): string {
  const { element, since, assignee, candidateUsers = [], candidateGroups = [], dueDate } = wait;
  const names = [...candidateUsers, ...candidateGroups.map((group) => `the group ${group}`)];
  const who = assignee ?? (names.length === 0 ? "anybody" : names.join(", "));
  const has = assignee === undefined ? "to take and complete it" : "who has it, to complete it";
  const until = dueDate === undefined ? "" : ` It is due at ${dueDate}.`;
  return `${element} waits for ${who}, ${has}, since ${since}.${until}`;
}

function describeTask(wait: WaitView): string {
  if (wait.state !== undefined && wait.runsHere !== true) return describePerson(wait);
  const { element, since, dueAt, runsHere } = wait;
  const task = `${element} waits for ${awaitedBy(wait)}`;
  if (runsHere !== true) {
    return `${task} since ${since}. No handler of the server runs this type: somebody outside does.`;
  }
  if (dueAt !== undefined) return `${task} since ${since}. It is tried again at ${dueAt}.`;
  return `${task} since ${since}, which the server runs or is about to run.`;
}
