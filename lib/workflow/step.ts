import { found } from "./bridge.ts";
import { isoDuration } from "./duration-text.ts";
import type { Jsonified } from "./jsonified.ts";
import { openTask, taskType } from "./operations.ts";
import { optionsText, type TaskOptions } from "./task-options.ts";

/** What the code of a step gets about its attempt. */
export type StepContext = Readonly<{
  taskId: string;
  instanceId: string;
  /** The same for all attempts: pass it on to services that must not act twice. */
  idempotencyKey: string;
  attempt: number;
  /** Aborted when the result is no longer wanted. */
  signal: AbortSignal;
  /** Resolves while the result is wanted, and throws when it no longer is. */
  heartbeat(): Promise<void>;
}>;

/** A step: call it inside a workflow. Its code runs outside of the sandbox, as a task handler. */
export type Step<Input, Output> = {
  (...args: StepArguments<Input>): Promise<Jsonified<Output>>;
  /** The task type that its code handles. */
  readonly type: string;
};

type StepArguments<Input> = undefined extends Input
  ? [input?: Input, options?: TaskOptions]
  : [input: Input, options?: TaskOptions];

/** Where the host finds the code of a step; the same in every copy of this module. */
const STEP = Symbol.for("fermata.step");

/** Declares a step: a piece of code with side effects that runs as a task of this type. */
export function step<Input = undefined, Output = unknown>(
  type: string,
  run: (input: Input, context: StepContext) => Output | Promise<Output>,
  options: TaskOptions = {},
): Step<Input, Output> {
  if (typeof type !== "string" || type === "") throw new TypeError("A step needs a task type.");
  found?.step(type);
  // Options that no call could use are refused here, with the file and not with its instances.
  const own = optionsText(options, type);
  const named = taskType(type);
  const call = (input?: Input, override?: TaskOptions): Promise<Jsonified<Output>> => {
    const text = override === undefined ? own : optionsText({ ...options, ...override }, type);
    return openTask(named, input, text, call);
  };
  const { timeout } = options;
  const code = { type, run, ...(timeout !== undefined && { timeout: isoDuration(timeout, type) }) };
  return Object.assign(call, { type, [STEP]: code });
}
