/** Work for a person, as a definition says it. */
import type { Computed } from "./expression.ts";

/** Who may do a task, until when and with what. Everything is computed when the task is reached. */
export type PersonSpec = Readonly<{
  /** It is also a job: a worker, or a handler here, may do it as well. */
  asJob?: true;
  assignee?: Computed;
  /** Lists of names. */
  candidateUsers?: Computed;
  candidateGroups?: Computed;
  dueDate?: Computed;
  followUpDate?: Computed;
  priority?: Computed;
  form?: Form;
  /** Variables that must come with the completion, whatever is known already. */
  requires?: readonly string[];
}>;

/** What to show to the person; nothing here reads it. A `formKey` may name a form of the process. */
export type Form = Readonly<
  | { formId: string; binding?: "latest" | "deployment" | "versionTag"; versionTag?: string }
  | { externalReference: string }
  | { formKey: string }
>;

/** The task type of everything that people do, with a worker's help or without. */
export const USER_TASK_TYPE = "io.camunda.zeebe:userTask";

/** What a form key begins with that names a form of the process itself. */
export const EMBEDDED_FORM = "camunda-forms:bpmn:";

/** What a task has unless its definition says something else. */
export const DEFAULT_PRIORITY = 50;
export const MAX_PRIORITY = 100;
