// Processes with timer start events.
import { end, extensions, file, flow, job, start, timer, timeZone, xml } from "./bpmn-xml.ts";

type When = Partial<Record<"timeDuration" | "timeDate" | "timeCycle", string>> &
  Readonly<{ zone?: string }>;

/** A timer start event. */
export function startingAt(id: string, { zone, ...when }: When): string {
  const [[kind, value] = ["timeDate", ""]] = Object.entries(when);
  const zoned = zone === undefined ? [] : [extensions(timeZone(zone))];
  const isKind = (it: string): it is "timeDuration" | "timeDate" | "timeCycle" => it in KINDS;
  if (!isKind(kind)) throw new Error(`${kind} is no timer`);
  return xml("startEvent", { id }, ...zoned, timer(kind, value));
}

const KINDS = { timeDuration: 1, timeDate: 1, timeCycle: 1 };

/**
 * A process that starts at `begin`, and leaves a task `task` behind; `name` makes another version.
 */
export function startsItself(
  id: string,
  when: When,
  { task = "work", type = "work", name = id, more = "" } = {},
): string {
  return file(
    xml(
      "process",
      { id, name, isExecutable: "true" },
      startingAt("begin", when),
      more,
      xml("serviceTask", { id: task }, extensions(job(type))),
      end(),
      flow("f1", "begin", task),
      flow("f2", task, "end"),
    ),
  );
}

/** The same, which can also be started by a call. */
export const startsBothWays = (id: string, when: When): string =>
  startsItself(id, when, { more: `${start("plain")}${flow("f0", "plain", "work")}` });
