/** User tasks, as a definition describes them. */
import type { Computed } from "./expression.ts";

/** Assignment, dates and form of a user task. All of it is evaluated when the task is reached. */
export type UserTaskSpec = Readonly<{
  /** It is also a job: a worker or a handler may complete it as well. */
  asJob?: true;
  assignee?: Computed;
  /** Lists of names. */
  candidateUsers?: Computed;
  candidateGroups?: Computed;
  dueDate?: Computed;
  followUpDate?: Computed;
  priority?: Computed;
  form?: Form;
  /** Variables that the completion must set, whether or not they have a value already. */
  requires?: readonly string[];
}>;

/** The form to show; the engine does not read it. A `formKey` may name a form of the process. */
export type Form = Readonly<
  | { formId: string; binding?: "latest" | "deployment" | "versionTag"; versionTag?: string }
  | { externalReference: string }
  | { formKey: string }
>;

/** The task type of every user task, with a worker's help or without. */
export const USER_TASK_TYPE = "io.camunda.zeebe:userTask";

/** The prefix of a form key that names a form of the process itself. */
export const EMBEDDED_FORM = "camunda-forms:bpmn:";

/** The default of a task whose definition sets none. */
export const DEFAULT_PRIORITY = 50;
export const MAX_PRIORITY = 100;
