import { EngineError } from "../../ports/engine-error.ts";
import type { TaskHandler } from "../../ports/tasks.ts";

/** A handler, and where it was found. */
export type FoundHandler = Readonly<{
  type: string;
  source: string;
  /** What its author exported: the same step may be exported in several places. */
  exported: unknown;
  handler: TaskHandler;
}>;

/** The handlers by their types; throws if one has two, since which one runs must not depend on luck. */
export function handlersByType(found: readonly FoundHandler[]): Map<string, TaskHandler> {
  const byType = new Map<string, FoundHandler>();
  for (const one of found) {
    const twin = byType.get(one.type);
    if (twin !== undefined && twin.exported !== one.exported) throw twice(twin, one);
    byType.set(one.type, twin ?? one);
  }
  return new Map([...byType].map(([type, { handler }]) => [type, handler]));
}

function twice(first: FoundHandler, second: FoundHandler): EngineError {
  return new EngineError("tasks/handler-unusable", {
    happened: `The task type "${first.type}" has two handlers`,
    where: [...new Set([first.source, second.source])].join(", "),
    fix: "Rename or remove one of them.",
  });
}
