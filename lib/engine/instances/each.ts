/** One after the other of many, each on its own: what cannot be done to one does not stop the rest. */
import { EngineError, type ErrorCode } from "../../ports/engine-error.ts";
import type { BulkOutcome } from "../shapes/bulk.ts";

/** How each fared, and the true numbers; `GONE` says which refusals mean that others were quicker. */
export type Done<T, D extends string> = Readonly<{
  items: readonly (T & BulkOutcome<D>)[];
  done: number;
  gone: number;
  refused: number;
}>;

/** Does it to each, or in a dry run only says to which. */
export async function doEach<T extends object, const D extends string>(
  found: readonly T[],
  { dryRun, as, act }: Readonly<{ dryRun: boolean; as: D; act: (each: T) => Promise<unknown> }>,
): Promise<Done<T, D>> {
  const items: (T & BulkOutcome<D>)[] = [];
  for (const each of found) {
    const fared: BulkOutcome<D> = dryRun ? { outcome: "matched" } : await fare(as, () => act(each));
    items.push({ ...each, ...fared });
  }
  const count = (outcome: BulkOutcome<D>["outcome"]) =>
    items.filter((item) => item.outcome === outcome).length;
  return { items, done: count(as), gone: count("gone"), refused: count("refused") };
}

async function fare<D extends string>(as: D, act: () => Promise<unknown>): Promise<BulkOutcome<D>> {
  try {
    await act();
    return { outcome: as };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const { code, message } = error;
    return GONE.has(code)
      ? { outcome: "gone" }
      : { outcome: "refused", problem: { code, message } };
  }
}

const GONE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "incident/not-found",
  "instance/not-found",
]);
