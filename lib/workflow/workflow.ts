import { found } from "./bridge.ts";
import { jsonText } from "./json-text.ts";
import type { Jsonified } from "./jsonified.ts";

/** The handle of a workflow: it names it, and carries the types of its input and its result. */
export type Workflow<Input, Output> = Readonly<{
  id: string;
  /** Only there for the types. */
  [TYPES]?: (input: Input) => Jsonified<Output>;
}>;

declare const TYPES: unique symbol;

/** Where the host finds a workflow; the same in every copy of this module. */
export const WORKFLOW = Symbol.for("fermata.workflow");

/** Declares a workflow. Its code runs in the sandbox, and is replayed there. */
export function workflow<Input = undefined, Output = unknown>(
  id: string,
  run: (input: Input) => Output | Promise<Output>,
): Workflow<Input, Output> {
  if (typeof id !== "string" || id === "") throw new TypeError("A workflow needs an id.");
  if (typeof run !== "function") throw new TypeError(`The workflow ${id} needs a function.`);
  if (found) {
    if (found.protocol !== PROTOCOL) throw otherProtocol(found.protocol);
    found.workflow(id, async (input) => resultText(await run(input as Input), id));
  }
  return Object.freeze({ id, [WORKFLOW]: id });
}

/** The version of the operations that this SDK speaks. */
const PROTOCOL = 1;

const resultText = (result: unknown, id: string): string => jsonText(result ?? null, id, "result");

const otherProtocol = (protocol: number): Error =>
  new Error(
    `This bundle speaks version ${PROTOCOL} of the operations, the engine ${protocol}. Bundle it again with the engine's own version of fermata-engine.`,
  );
