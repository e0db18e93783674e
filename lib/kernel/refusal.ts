import type { Site } from "../definition/sandbox.ts";
import type { IncidentType } from "./instance.ts";

/**
 * Thrown inside a decision that cannot continue and whose incident type is known; in a workflow in
 * code also the site of the operation that it is about, if there is one.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly type: IncidentType;
  readonly site: Site | undefined;
  constructor(type: IncidentType, message: string, site?: Site) {
    super(message);
    this.type = type;
    this.site = site;
  }
}
