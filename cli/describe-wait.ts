import type { IncidentView, WaitView } from "../lib/client/index.ts";
import type { Server } from "./server.ts";

/** Says in words why an instance does not move on. */
export function describeWait(wait: WaitView, incidents: readonly IncidentView[]): string {
  const { element, since, dueAt } = wait;
  switch (wait.kind) {
    case "task":
      return describeTask(wait);
    case "timer":
      return `${element} waits for its timer, which is due at ${dueAt} (since ${since}).`;
    case "continuation":
      return `${element} has more to do than fits in one step; it goes on by itself.`;
    case "incident": {
      const incident = incidents.find(({ incidentId }) => incidentId === wait.incidentId);
      const what = incident === undefined ? "" : ` ${incident.type}: ${incident.message}`;
      return `${element} is stopped by incident ${wait.incidentId} since ${since}.${what}`;
    }
  }
}

/** What the call that would end the wait means; nothing where time alone ends it. */
export function describeWaking(wait: WaitView): string | undefined {
  if (wait.wakeWith === undefined || wait.runsHere === true) return undefined;
  switch (wait.kind) {
    case "task":
      return "Complete it, with the variables that it should give:";
    case "timer":
      return "The clock is virtual; move it there:";
    case "incident":
      return "When the cause is mended, try again:";
    case "continuation":
      return undefined;
  }
}

/** A call, ready to be pasted into a shell. The token is named, never shown. */
export function curlLine(
  { url, token }: Server,
  { method, path, body }: NonNullable<WaitView["wakeWith"]>,
): string {
  return [
    `curl -X ${method} ${quoted(`${url}${path}`)}`,
    ...(token === undefined ? [] : ['-H "authorization: Bearer $FERMATA_TOKEN"']),
    ...(body === undefined
      ? []
      : [`-H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`]),
  ].join(" ");
}

function describeTask({ element, since, dueAt, taskType, runsHere }: WaitView): string {
  const task = `${element} waits for a task of the type "${taskType}"`;
  if (runsHere !== true) {
    return `${task} since ${since}. No handler of the server runs this type: somebody outside does.`;
  }
  if (dueAt !== undefined) return `${task} since ${since}. It is tried again at ${dueAt}.`;
  return `${task} since ${since}, which the server runs or is about to run.`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
