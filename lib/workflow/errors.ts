import type { Failure } from "./bridge.ts";

/** The class of all errors that operations throw into a workflow. */
export class WorkflowError extends Error {
  override readonly name: string = "WorkflowError";
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** A task has failed for good: no attempt is left, or its error is final. */
export class TaskFailed extends WorkflowError {
  override readonly name: string = "TaskFailed";
  /** The task's type. */
  readonly type: string;
  /** How many attempts there were. */
  readonly attempts: number;
  constructor({ message, code, type = "", attempts = 0 }: Omit<Failure, "name">) {
    super(message, code);
    this.type = type;
    this.attempts = attempts;
  }
}

/** A task was not done within its `timeout`. */
export class TimedOut extends TaskFailed {
  override readonly name: string = "TimedOut";
}

/** Another instance of this workflow waits for a message of this name and key. */
export class CorrelationTaken extends WorkflowError {
  override readonly name: string = "CorrelationTaken";
}

/** The operation lost a race, or was part of something that did. */
export class CancelledFailure extends WorkflowError {
  override readonly name: string = "CancelledFailure";
}

/** The error that a failed operation throws. */
export function errorOf(failure: Failure): WorkflowError {
  switch (failure.name) {
    case "TaskFailed":
      return new TaskFailed(failure);
    case "TimedOut":
      return new TimedOut(failure);
    case "CorrelationTaken":
      return new CorrelationTaken(failure.message, failure.code);
    default:
      return new WorkflowError(failure.message, failure.code);
  }
}
