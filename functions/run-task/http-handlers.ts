import type { HandlerRuns } from "../../lib/adapters/handlers/handler-runs.ts";
import { parseHttpSettings } from "../../lib/adapters/handlers/http-task/http-settings.ts";
import { HTTP_TASK, httpTask } from "../../lib/adapters/handlers/http-task/http-task.ts";
import { handlersFrom } from "../../lib/adapters/handlers/task-handlers.ts";
import { nodeHttp } from "../../lib/adapters/node/http/http.ts";
import { SecretsManagerSecrets } from "../../lib/adapters/secrets-manager/secrets.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import type { Secrets } from "../../lib/ports/secrets.ts";
import type { TaskHandler } from "../../lib/ports/tasks.ts";
import { secretsManagerClient } from "../aws-clients.ts";
import type { FunctionSettings, HttpSecret } from "../settings.ts";

export type HttpTaskSettings = Pick<
  FunctionSettings,
  "httpAllowHosts" | "httpAllowPrivate" | "httpSecrets"
>;

/** The HTTP task of a deployed installation, by its type. */
export function httpHandlers(
  { httpAllowHosts, httpAllowPrivate, httpSecrets }: HttpTaskSettings,
  { runs, clock }: Readonly<{ runs: HandlerRuns; clock: Clock }>,
): ReadonlyMap<string, TaskHandler> {
  const { reach, secretHosts } = parseHttpSettings({
    ...(httpAllowHosts !== undefined && { allowHosts: httpAllowHosts }),
    allowPrivate: httpAllowPrivate,
    secrets: Object.fromEntries(
      Object.entries(httpSecrets).map(([name, { hosts }]) => [name, hosts]),
    ),
  });
  const secrets = secretsOf(httpSecrets, clock);
  const task = httpTask({ http: nodeHttp({ reach }), secrets, secretHosts });
  return handlersFrom({ [HTTP_TASK.type]: task }, runs);
}

/** Without secrets no client is created. */
function secretsOf(places: Readonly<Record<string, HttpSecret>>, clock: Clock): Secrets {
  if (Object.keys(places).length === 0) return { valueOf: async () => undefined };
  return new SecretsManagerSecrets({ client: secretsManagerClient(), places, clock });
}
