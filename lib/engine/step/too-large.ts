/** What is said where an instance would become too large to be stored. */
import type { Why } from "../../kernel/failed-items.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { AddedValues, Program } from "../../kernel/runner.ts";
import { SIZE_LIMITS } from "../storage/externalized.ts";

/** What the incident says in place of the step that leads from `before` to `after`. */
export function tooLargeWhy({ runner }: Program, before: Instance, after: Instance): Why {
  const added = runner.addedValues?.(before, after);
  if (added === undefined) return TOO_LARGE;
  const { site } = added.largest;
  return {
    type: "STATE_TOO_LARGE",
    message: `The step was not taken: the instance would be over the limit, ${SIZE_LIMITS}. ${describe(added)}. Keep large values elsewhere and pass references. Resolve this incident once other operations are done, or cancel the instance.`,
    ...(site && { site }),
  };
}

const TOO_LARGE: Why = {
  type: "STATE_TOO_LARGE",
  message: `The step was not taken: the instance would be over the limit, ${SIZE_LIMITS}. Keep large values elsewhere and pass references, then resolve this incident.`,
};

/** The same for the caller of a start, of which nothing is stored. */
export function tooLargeStart({ runner }: Program, blank: Instance, started: Instance): string {
  const added = runner.addedValues?.(blank, started);
  const happened = `The instance would be over the limit: ${SIZE_LIMITS}`;
  return added === undefined ? happened : `${happened}. ${describe(added)}`;
}

const describe = ({ largest, bytes }: AddedValues): string =>
  `The largest new value is ${largest.what}, with ${largest.bytes} bytes; all new values have ${bytes} bytes`;
