// The built-in tasks by which workflows in code send events and messages, as one process runs them.
import { HandlerRuns } from "../../../lib/adapters/handlers/handler-runs.ts";
import { sendHandlers } from "../../../lib/embedded/send-tasks.ts";
import type { Desk, Handler } from "../scenarios/scenario.ts";

/** Handlers that run as long as they like: the world alone decides about time. */
const RUNS = new HandlerRuns({ alarm: () => () => {} });

const DAY = 86_400_000;

/** The handler of one of the two types; what it sends is recorded before it is sent. */
export function sending(type: "fermata:send-event" | "fermata:send-message"): Handler {
  return {
    outcome: (about, input, desk) => {
      const handler = sendHandlers(() => callsAt(desk()), RUNS).get(type);
      if (handler === undefined) throw new Error(`there is no built-in task ${type}`);
      return handler.run(input, about);
    },
  };
}

function callsAt({ engine, sendsTo, sends }: Desk): ReturnType<Parameters<typeof sendHandlers>[0]> {
  return {
    event: (request) => {
      const { target = "", id = "", name, payload = {} } = request;
      sendsTo({ target, id, name, payload });
      return engine.event(request);
    },
    message: ({ correlationKey, ...request }) => {
      const { name, messageId = "", payload = {} } = request;
      const key = String(correlationKey ?? "");
      sends({ name, key, messageId, payload, timeToLiveMs: DAY });
      return engine.message({ ...request, correlationKey: key });
    },
  };
}
