import type { OpenedOperation } from "../../definition/sandbox.ts";

/** How history and journal name an operation: tasks by their type, waits by what they wait for. */
export function elementOf(operation: OpenedOperation): string {
  switch (operation.op) {
    case "task":
      return operation.type;
    case "timer":
      return "timer";
    case "event":
    case "signal":
    case "message":
      return `${operation.op}:${operation.name}`;
  }
}
