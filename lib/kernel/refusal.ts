import type { IncidentType } from "./instance.ts";

/** Thrown inside a decision that cannot continue and whose incident type is known. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly type: IncidentType;
  constructor(type: IncidentType, message: string) {
    super(message);
    this.type = type;
  }
}
