import type { Context } from "./context.ts";
import type { Outline, Place } from "./outline.ts";
import { called } from "./source.ts";

/** Each process and each sub-process begins at exactly one plain start event. */
export function checkStarts({ places }: Outline, { report }: Context): void {
  const starts = Map.groupBy(
    places.filter(({ kind }) => kind === "startEvent"),
    ({ scope }) => scope,
  );
  for (const place of places) {
    if (!place.runs || (place.kind !== "process" && place.kind !== "subProcess")) continue;
    const inside = starts.get(place) ?? [];
    const [first, ...others] = inside.filter(({ runs }) => runs);
    if (first === undefined) {
      // A start that does not run yet was refused; that it is also no plain one goes without saying.
      if (inside.length === 0) refuseMissing(place, report);
      continue;
    }
    if (others.length === 0) continue;
    report.refuse({
      code: "bpmn/several-start-events",
      at: place.element,
      message: `${called(place.element)} has ${inside.length} plain start events.`,
      hint: "Keep one, and lead the others' flows to it by a gateway.",
    });
  }
}

function refuseMissing({ element }: Place, report: Context["report"]): void {
  report.refuse({
    code: "bpmn/no-start-event",
    at: element,
    message: `${called(element)} has no start event.`,
    hint: 'Add a start event without a definition: <startEvent id="start" />.',
  });
}
