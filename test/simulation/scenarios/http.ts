// HTTP tasks whose hosts crash around the call. The service charges once for each Idempotency-Key;
// an order with a second key would be charged twice, so the service responds with an error instead,
// and the instance does not reach its end.
import { HandlerRuns } from "../../../lib/adapters/handlers/handler-runs.ts";
import { HTTP_TASK, httpTask } from "../../../lib/adapters/handlers/http-task/http-task.ts";
import { handlersFrom } from "../../../lib/adapters/handlers/task-handlers.ts";
import type { HttpOutcome, HttpRequest } from "../../../lib/ports/http.ts";
import type { TaskHandler } from "../../../lib/ports/tasks.ts";
import { anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { starter } from "../actors/callers.ts";
import { does } from "../actors/user-code.ts";
import { must } from "../checks/violation.ts";
import { graph } from "./definitions.ts";
import type { Handler, Scenario } from "./scenario.ts";

/** `breaks`: the response to each first call is lost, after the charge. */
function payingBy({ name, breaks }: Readonly<{ name: string; breaks: boolean }>): Scenario {
  const keys = new Map<string, string>();
  const send = async ({ url, headers }: HttpRequest): Promise<HttpOutcome> => {
    const { "idempotency-key": key = "" } = headers;
    const known = keys.get(url.pathname);
    keys.set(url.pathname, known ?? key);
    if (known === undefined && breaks) return { kind: "failed", problem: "No answer came." };
    const isTwice = known !== undefined && known !== key;
    return answered(isTwice ? 500 : 200, { charged: url.pathname });
  };
  return {
    name,
    definitions: [definition],
    handlers: { [HTTP_TASK.type]: calling(send), after: does("after") },
    // For each run: what the service has seen in the previous one is forgotten.
    callers: () => {
      keys.clear();
      return [starter("p", "one"), starter("p", "two")];
    },
    confluent: true,
  };
}

const definition = graph(
  "p",
  [aStart(), aTask("pay", { type: HTTP_TASK.type }), aTask("after"), anEnd()],
  ["start -> pay -> after -> end"],
);

/** The real task, on a network of this world. */
function calling(send: (request: HttpRequest) => Promise<HttpOutcome>): Handler {
  const secrets = { valueOf: async () => undefined };
  const task = httpTask({ http: { send }, secrets, secretHosts: new Map() });
  // The world controls time: no real clock may end a call.
  const runs = new HandlerRuns({ alarm: () => () => {} });
  const handler: TaskHandler | undefined = handlersFrom({ http: task }, runs).get("http");
  return {
    takesMs: 500,
    outcome: (about) => {
      must(handler !== undefined, () => "there is no HTTP task");
      const url = `https://pay.example/${about.instanceId}`;
      return handler?.run({ method: "POST", url }, about) ?? { kind: "not-run", retryAfterMs: 1 };
    },
  };
}

function answered(status: number, body: unknown): HttpOutcome {
  const headers = { "content-type": "application/json" };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return { kind: "answered", answer: { status, reason: "", headers, body: bytes } };
}

export const HTTP_SCENARIOS: readonly Scenario[] = [
  payingBy({ name: "http", breaks: false }),
  payingBy({ name: "http-unanswered", breaks: true }),
];
