// Run with node while a stack is synthesised: prints the manifest of a `tasks.mjs`, as JSON and
// nothing else, or its problems on standard error.

import { pathToFileURL } from "node:url";
import type { TaskHandlersByType } from "../../lib/adapters/handlers/task-handlers.ts";
import { describeTasks } from "./handler.ts";

const print = process.stdout.write.bind(process.stdout);
// What the users' files print while they are loaded must not mix with the JSON.
process.stdout.write = process.stderr.write.bind(process.stderr);

try {
  const [, , path = ""] = process.argv;
  const { default: byType }: { default: TaskHandlersByType } = await import(
    pathToFileURL(path).href
  );
  // Ends even if one of the files has opened a connection.
  print(`${JSON.stringify(describeTasks(byType))}\n`, () => process.exit(0));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${text}\n`, () => process.exit(1));
}
