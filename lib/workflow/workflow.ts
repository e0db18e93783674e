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
  const handle = Object.freeze({ id, [WORKFLOW]: id });
  if (found) {
    if (found.protocol !== PROTOCOL) throw otherProtocol(found.protocol);
    code.set(handle, async (input) => resultText(await run(input as Input), id));
    if (!isDeclaredLater) declare(handle);
  }
  return handle;
}

/** Set by the bundler, whose entry calls `declareExports`; a bundle by another tool declares everything. */
declare const FERMATA_DECLARES_EXPORTS: true | undefined;
const isDeclaredLater = typeof FERMATA_DECLARES_EXPORTS !== "undefined";

/** The code of the workflows in this bundle, by their handles. */
const code = new Map<unknown, (input: unknown) => Promise<string>>();

/**
 * Declares the workflows that a module exports. Bundles call it: a file that imports a workflow of
 * another one does not deploy it.
 */
export function declareExports(module: Readonly<Record<string, unknown>>): void {
  for (const exported of new Set(Object.values(module))) declare(exported);
}

function declare(handle: unknown): void {
  const run = code.get(handle);
  if (run) found?.workflow((handle as Workflow<never, never>).id, run);
}

/** The version of the operations that this SDK speaks. */
const PROTOCOL = 1;

const resultText = (result: unknown, id: string): string => jsonText(result ?? null, id, "result");

const otherProtocol = (protocol: number): Error =>
  new Error(
    `This bundle speaks version ${PROTOCOL} of the operations, the engine ${protocol}. Bundle it again with the engine's own version of fermata-engine.`,
  );
