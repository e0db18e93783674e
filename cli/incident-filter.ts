import type { IncidentFilter } from "../lib/client/index.ts";
import type { Options, Values } from "./command.ts";

/** Options that select incidents. */
export const INCIDENT_OPTIONS = {
  definition: { type: "string", value: "ID", help: "only those of this definition" },
  type: { type: "string", value: "TYPE", help: "only those of this type, such as JOB_NO_RETRIES" },
  element: { type: "string", value: "ID", help: "only those at this element" },
  "business-key": {
    type: "string",
    value: "KEY",
    help: "only of instances with this business key",
  },
  tag: { type: "string", value: "TAG", help: "only of instances with this tag" },
} as const satisfies Options;

/** The filter for these options. */
export function incidentFilter(values: Values<typeof INCIDENT_OPTIONS>): IncidentFilter {
  const { definition, type, element, tag } = values;
  const businessKey = values["business-key"];
  return {
    ...(definition !== undefined && { definition }),
    ...(type !== undefined && { type }),
    ...(element !== undefined && { element }),
    ...(businessKey !== undefined && { businessKey }),
    ...(tag !== undefined && { tag }),
  };
}
