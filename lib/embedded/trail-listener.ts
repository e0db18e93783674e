import type { Json } from "../definition/json.ts";
import { formatInstant } from "../definition/time/instant.ts";
import type { Instance } from "../kernel/instance.ts";

/** An entry of the history, reported once it is durable. */
export type TrailNews = Readonly<{
  instanceId: string;
  definitionId: string;
  seq: number;
  at: string;
  type: string;
  element?: string;
  data?: Json;
}>;

/** Reports each new entry of an instance's history, in order. */
export function trailListener(tell: (news: TrailNews) => void) {
  return (instance: Instance, before: Instance | undefined): void => {
    const known = before?.trail.next ?? 1;
    for (const entry of instance.trail.entries) {
      if (entry.seq < known) continue;
      tell({
        instanceId: instance.id,
        definitionId: instance.definition.id,
        ...entry,
        at: formatInstant(entry.at),
      });
    }
  };
}
