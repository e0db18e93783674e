// Run with node while a stack is synthesised: prints what a `tasks.mjs` has, as JSON and nothing
// else, or says on the standard error what is wrong with it.

import { pathToFileURL } from "node:url";
import type { TaskHandlersByType } from "../../lib/adapters/handlers/task-handlers.ts";
import { describeTasks } from "./handler.ts";

const print = process.stdout.write.bind(process.stdout);
// What the authors' own files print while they are loaded must not stand between the JSON.
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
