import type { HandlerRuns } from "../adapters/handlers/handler-runs.ts";
import { parseHttpSettings } from "../adapters/handlers/http-task/http-settings.ts";
import { HTTP_TASK, httpTask } from "../adapters/handlers/http-task/http-task.ts";
import { handlersFrom } from "../adapters/handlers/task-handlers.ts";
import { environmentSecrets } from "../adapters/node/environment-secrets.ts";
import { nodeHttp } from "../adapters/node/http/http.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import type { KnownOptions } from "./known-options.ts";

/** Which hosts HTTP tasks may call, as `[http://]host[:port]`; a leading `*.` means every subdomain. */
export type HttpOptions = Readonly<{
  /** Only these; by default every public host, by https and on port 443. */
  allowHosts?: readonly string[];
  /** These as well, at private addresses. */
  allowPrivate?: readonly string[];
  /** The hosts that each secret may be sent to, by the secret's name. */
  secrets?: Readonly<Record<string, readonly string[]>>;
  /** Reads a secret; by default from the environment, as FERMATA_SECRET_NAME. */
  readSecret?: (name: string) => string | undefined | Promise<string | undefined>;
}>;

export const HTTP_OPTIONS: KnownOptions<HttpOptions> = {
  allowHosts: true,
  allowPrivate: true,
  secrets: true,
  readSecret: true,
};

/** The HTTP task of an embedded engine, by its type. */
export function httpHandlers(
  { readSecret, ...settings }: HttpOptions = {},
  runs: HandlerRuns,
): ReadonlyMap<string, TaskHandler> {
  const { reach, secretHosts } = parseHttpSettings(settings);
  const secrets: Secrets = readSecret
    ? { valueOf: async (name) => readSecret(name) }
    : environmentSecrets(process.env);
  const task = httpTask({ http: nodeHttp({ reach }), secrets, secretHosts });
  return handlersFrom({ [HTTP_TASK.type]: task }, runs);
}
