import type { Operation } from "./operation.ts";
import { bulkOperations } from "./operations/bulk.ts";
import { definitionOperations } from "./operations/definitions.ts";
import { eventOperations } from "./operations/events.ts";
import { instanceOperations } from "./operations/instances.ts";
import { messageOperations } from "./operations/messages.ts";
import { scheduleOperations } from "./operations/schedules.ts";
import { serviceOperations } from "./operations/service.ts";
import { signalOperations } from "./operations/signals.ts";
import { taskOperations } from "./operations/tasks.ts";
import { userTaskOperations } from "./operations/user-tasks.ts";
import { workerOperations } from "./operations/workers.ts";

/** Every call of the API: for routing, validation and the document. */
export const operations: readonly Operation[] = [
  ...definitionOperations,
  ...instanceOperations,
  ...bulkOperations,
  ...signalOperations,
  ...messageOperations,
  ...eventOperations,
  ...taskOperations,
  ...userTaskOperations,
  ...scheduleOperations,
  ...workerOperations,
  ...serviceOperations,
];
