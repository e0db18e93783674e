/** Instances as both doors show them: each wait with the HTTP call that would move it. */
import type { Json } from "../definition/json.ts";
import type * as facts from "../shapes/instances.ts";

export type InstanceView = Omit<facts.InstanceView, "waits"> &
  Readonly<{ waits: readonly WaitView[] }>;

/** Why an instance does not move, and the exact call that would move it, where there is one. */
export type WaitView = Omit<facts.WaitView, "claimWith" | "wakeWith"> &
  Readonly<{
    /** The call that gives a task to a person, while it is not claimed. */
    claimWith?: HttpCall;
    wakeWith?: HttpCall;
  }>;

type HttpCall = Readonly<{ method: string; path: string; body?: Json }>;

export const viewInstance = (instance: facts.InstanceView): InstanceView => ({
  ...instance,
  waits: instance.waits.map(viewWait),
});

/** A list of waits or of instances, each item as it leaves. */
export const viewItems = <T, V, L extends Readonly<{ items: readonly T[] }>>(
  list: L,
  view: (item: T) => V,
): Omit<L, "items"> & Readonly<{ items: readonly V[] }> => ({
  ...list,
  items: list.items.map(view),
});

export function viewWait({ claimWith, wakeWith, ...wait }: facts.WaitView): WaitView {
  return {
    ...wait,
    ...(claimWith && { claimWith: httpCallOf(claimWith) }),
    ...(wakeWith && { wakeWith: httpCallOf(wakeWith) }),
  };
}

function httpCallOf(moving: facts.WaitCall): HttpCall {
  switch (moving.call) {
    case "claimTask":
      return post(`/v1/tasks/${encodeURIComponent(moving.taskId)}/claim`, moving.body);
    case "completeTask":
      return post(`/v1/tasks/${encodeURIComponent(moving.taskId)}/complete`, moving.body);
    case "tasks": {
      const { instanceId } = moving;
      return { method: "GET", path: `/v1/tasks?instanceId=${encodeURIComponent(instanceId)}` };
    }
    case "resolveIncident": {
      const instance = `/v1/instances/${encodeURIComponent(moving.instanceId)}`;
      return post(`${instance}/incidents/${moving.incidentId}/resolve`, moving.body);
    }
    case "signal":
      return post("/v1/signals", moving.body);
    case "message":
      return post("/v1/messages", moving.body);
    case "event":
      return post("/v1/events", moving.body);
    case "advanceClock":
      return post("/v1/clock/advance", moving.body);
  }
}

const post = (path: string, body: Json): HttpCall => ({ method: "POST", path, body });
