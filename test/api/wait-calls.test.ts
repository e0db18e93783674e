import { describe, expect, test } from "vitest";
import { operations } from "../../lib/api/operations.ts";
import { viewWait } from "../../lib/api/wait-calls.ts";
import type { WaitCall } from "../../lib/shapes/instances.ts";

const body = { any: "body" };

describe("the API call shown with a wait", () => {
  test.each<[WaitCall, string, string]>([
    [{ call: "claimTask", taskId: "a b.k1.1", body }, "POST", "/v1/tasks/a%20b.k1.1/claim"],
    [{ call: "completeTask", taskId: "a.f1.1#2", body }, "POST", "/v1/tasks/a.f1.1%232/complete"],
    [
      { call: "resolveIncident", instanceId: "a/b", incidentId: "i1.1", body },
      "POST",
      "/v1/instances/a%2Fb/incidents/i1.1/resolve",
    ],
    [{ call: "signal", body }, "POST", "/v1/signals"],
    [{ call: "message", body }, "POST", "/v1/messages"],
    [{ call: "event", body }, "POST", "/v1/events"],
    [{ call: "advanceClock", body }, "POST", "/v1/clock/advance"],
  ])("%j names the method and the path of an operation", (wakeWith, method, path) => {
    const wait = viewWait({ kind: "task", element: "e", since: "now", wakeWith });

    expect(wait.wakeWith).toEqual({ method, path, body });
    expect(operationAt(method, path)).toBeDefined();
  });

  test("lists the tasks of a multi-instance batch, which are completed one by one", () => {
    const wakeWith = { call: "tasks", instanceId: "a b" } as const;
    const wait = viewWait({ kind: "task", element: "e", since: "now", wakeWith });

    expect(wait.wakeWith).toEqual({ method: "GET", path: "/v1/tasks?instanceId=a%20b" });
    expect(operationAt("GET", "/v1/tasks")).toBeDefined();
  });

  test("is the last field, and absent if there is none", () => {
    const claimWith = { call: "claimTask", taskId: "t", body } as const;
    const wait = { claimWith, kind: "task", element: "e", since: "now" } as const;

    expect(Object.keys(viewWait(wait))).toEqual(["kind", "element", "since", "claimWith"]);
  });
});

const operationAt = (method: string, path: string) =>
  operations.find(
    (it) => it.method === method && patternOf(it.path).test(path.replace(/\?.*/, "")),
  );

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
