/** What a caller may be allowed to do; with JWT each is a scope, with IAM a set of routes. */
export const VERBS = ["read", "start", "send", "work", "operate", "deploy"] as const;

export type Verb = (typeof VERBS)[number];

export type Route = Readonly<{
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  verb: Verb;
}>;

/** Every call of the HTTP API, and the permission that it needs. */
export const ROUTES: readonly Route[] = [
  ...at("read", "GET", [
    "/v1/definitions",
    "/v1/definitions/{definitionId}",
    "/v1/definitions/{definitionId}/listing",
    "/v1/definitions/{definitionId}/versions",
    "/v1/definitions/{definitionId}/versions/{version}",
    "/v1/definitions/{definitionId}/versions/{version}/source",
    "/v1/instances",
    "/v1/instances/{instanceId}",
    "/v1/instances/{instanceId}/result",
    "/v1/instances/{instanceId}/waits",
    "/v1/instances/{instanceId}/history",
    "/v1/incidents",
    "/v1/signals/{broadcastId}",
    "/v1/event-types/{name}",
    "/v1/dead-letters",
    "/v1/schedules",
    "/v1/tasks",
    "/v1/tasks/{taskId}",
    "/v1/task-types/{type}",
    "/v1/health",
    "/v1/openapi.json",
  ]),
  ...at("start", "POST", ["/v1/definitions/{definitionId}/instances"]),
  ...at("send", "POST", ["/v1/signals", "/v1/messages", "/v1/events"]),
  ...at("work", "POST", [
    "/v1/tasks/{taskId}/claim",
    "/v1/tasks/{taskId}/unclaim",
    "/v1/tasks/activate",
    "/v1/tasks/{taskId}/heartbeat",
    "/v1/tasks/{taskId}/complete",
    "/v1/tasks/{taskId}/fail",
  ]),
  ...at("operate", "POST", [
    "/v1/instances/{instanceId}/cancel",
    "/v1/instances/{instanceId}/incidents/{incidentId}/resolve",
    "/v1/incidents:resolve",
    "/v1/instances:purge",
    "/v1/dead-letters/{deadLetterId}/replay",
    "/v1/recover",
    "/v1/recover/all",
    "/v1/clock/advance",
  ]),
  ...at("operate", "DELETE", [
    "/v1/instances/{instanceId}",
    "/v1/dead-letters/{deadLetterId}",
    "/v1/schedules/{scheduleId}",
  ]),
  ...at("operate", "PUT", [
    "/v1/definitions/{definitionId}/listing",
    "/v1/event-types/{name}",
    "/v1/task-types/{type}",
  ]),
  ...at("operate", "PATCH", ["/v1/instances/{instanceId}/variables"]),
  ...at("deploy", "POST", [
    "/v1/definitions",
    "/v1/definitions:validate",
    "/v1/definitions/{definitionId}/disable",
    "/v1/definitions/{definitionId}/enable",
  ]),
  ...at("deploy", "DELETE", ["/v1/definitions/{definitionId}"]),
];

function at(verb: Verb, method: Route["method"], paths: readonly string[]): readonly Route[] {
  return paths.map((path) => ({ method, path, verb }));
}
