// What timer starts may start, derived from the bytes of the items and from the text of the cycle alone:
//
// 1. An instance starts at an instant of its cycle, counted from when that was armed.
// 2. No instant starts two instances, and no arming more than its cycle says.
// 3. None starts while its definition is disabled, undeployed, or of another version.
// 4. At rest an arming that was not ended has started everything that its cycle says.
import type { Definition, StartEvent } from "../../../lib/definition/definition.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { must } from "./violation.ts";

type Armed = Readonly<{
  definitionId: string;
  element: string;
  run: number;
  anchor: number;
  text: string;
  enabled: boolean;
}>;
type TimerEvent = Extract<StartEvent, { kind: "timer" }>;

export class TimerStarts {
  /** Every arming there ever was, by definition, element and run. */
  readonly #armings = new Map<string, Armed>();
  readonly #begun = new Map<string, string>();

  /** Checks an item beside a definition. */
  see({ key, body }: Item): void {
    if (!key.sk.startsWith("TS#")) return;
    const start: Armed = JSON.parse(new TextDecoder().decode(body));
    this.#armings.set(nameOf(start), start);
  }

  /** An instance was stored that started at this event. */
  began(
    { id, startedAt, definition: { version } }: Instance,
    definition: Definition,
    event: TimerEvent,
    latest: Readonly<{ state: string; version: number }> | undefined,
  ): void {
    must(
      latest?.state === "enabled" && latest.version === version,
      () => `${id} of version ${version} began while ${JSON.stringify(latest)}`,
    );
    const isThis = (it: Armed) => it.definitionId === definition.id && it.element === event.element;
    const arming = [...this.#armings.values()].filter(isThis).find((it) => {
      return instantsOf(it).includes(startedAt) && it.text === textOf(event);
    });
    must(arming !== undefined, () => `${id} began at ${startedAt}, when nothing was due`);
    const occurrence = `${nameOf(arming)} at ${startedAt}`;
    const other = this.#begun.get(occurrence);
    must(other === undefined, () => `${id} and ${other} began by ${occurrence}`);
    this.#begun.set(occurrence, id);
  }

  /** At rest; of these definitions the last arming was left alone. */
  checkRest(items: readonly Item[]): void {
    for (const item of items) {
      if (!item.key.sk.startsWith("TS#")) continue;
      const start: Armed = JSON.parse(new TextDecoder().decode(item.body));
      if (!start.enabled) continue;
      for (const instant of instantsOf(start)) {
        const occurrence = `${nameOf(start)} at ${instant}`;
        must(this.#begun.has(occurrence), () => `${occurrence} began nothing`);
      }
    }
  }
}

const nameOf = ({ definitionId, element, run }: Armed): string =>
  `${definitionId} ${element} ${run}`;

function textOf({ timer: { value } }: TimerEvent): string {
  return value.kind === "static" ? String(value.value) : value.text;
}

/** The cycles of these scenarios are all written with a count and one unit. */
function instantsOf({ anchor, text }: Armed): readonly number[] {
  const [, count = "0", length = "0", unit = "S"] = /^R(\d+)\/PT(\d+)([SM])$/.exec(text) ?? [];
  const everyMs = Number(length) * (unit === "S" ? 1_000 : 60_000);
  return Array.from({ length: Number(count) }, (_, n) => anchor + (n + 1) * everyMs);
}
