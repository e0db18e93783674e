import type { Operation } from "./operation.ts";
import { definitionOperations } from "./operations/definitions.ts";
import { instanceOperations } from "./operations/instances.ts";
import { serviceOperations } from "./operations/service.ts";
import { taskOperations } from "./operations/tasks.ts";

/** Every call there is: what is routed, what is checked, and what the document tells. */
export const operations: readonly Operation[] = [
  ...definitionOperations,
  ...instanceOperations,
  ...taskOperations,
  ...serviceOperations,
];
