/** Types that flow from the handle of a workflow to its start and to its result. */
import type { InstanceView } from "../api/wait-calls.ts";
import type { ResultView, StartRequest } from "../shapes/instances.ts";
import type { Jsonified } from "../workflow/jsonified.ts";
import type { Workflow } from "../workflow/workflow.ts";

/** A start by handle: the input has the type that the workflow takes. */
export type TypedStart<Input> = Omit<StartRequest, "input" | "variables"> &
  (undefined extends Input ? Readonly<{ input?: Input }> : Readonly<{ input: Input }>);

/** An instance that was started by handle: its result is typed. */
export type StartedInstance<Output> = InstanceView & Readonly<{ [RESULT]?: Output }>;

/** Only there for the types. */
declare const RESULT: unique symbol;

/** The end of an instance that was started by handle. */
export type TypedResult<Output> = Omit<ResultView, "result"> & Readonly<{ result?: Output }>;

/** Starts an instance by the handle of its workflow, or by the id of its definition. */
export interface Start {
  <Input, Output>(
    workflow: Workflow<Input, Output>,
    ...given: StartArguments<Input>
  ): Promise<StartedInstance<Jsonified<Output>>>;
  (definitionId: string, request?: StartRequest, key?: string): Promise<InstanceView>;
}

type StartArguments<Input> = undefined extends Input
  ? [request?: TypedStart<Input>, key?: string]
  : [request: TypedStart<Input>, key?: string];

/** Resolves when the instance ends, without polling; rejects when time is up. */
export interface Result {
  <Output>(
    instance: StartedInstance<Output>,
    options?: Readonly<{ timeoutMs?: number }>,
  ): Promise<TypedResult<Output>>;
  (instanceId: string, options?: Readonly<{ timeoutMs?: number }>): Promise<ResultView>;
}
