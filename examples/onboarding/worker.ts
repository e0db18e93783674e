/**
 * Creates accounts: a worker, which is a separate process and polls the engine for tasks. This file
 * runs it against a server; the test runs the same function beside an embedded engine.
 */
import { createClient, type Worker, type WorkerClient, worker } from "fermata-engine/client";

/** Runs the tasks of the type "create-account" until it is stopped. */
export function createAccounts(
  client: WorkerClient,
  tell: (line: string) => void = () => {},
): Worker {
  return worker(
    "create-account",
    ({ variables, instanceId }) => {
      const account = addressOf(String(variables.name));
      tell(`${instanceId}: ${account}`);
      return { account };
    },
    { client, concurrency: 2, lockSeconds: 30 },
  );
}

const addressOf = (name: string): string =>
  `${name.toLowerCase().replaceAll(/[^a-z]+/g, ".")}@example.com`;

if (import.meta.main) {
  const baseUrl = process.env.FERMATA_URL ?? "http://127.0.0.1:7373";
  const accounts = createAccounts(createClient({ baseUrl }), console.log);
  console.log(`Waiting for accounts to create, at ${baseUrl}. Ctrl-C ends it.`);
  process.once("SIGINT", () => void accounts.stop());
}
