import type { Problem } from "../api/views.ts";

/** An error response of the engine. `code` keeps its meaning. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The code of the engine, or of what responded in its place: a gateway, or an unknown server. */
  readonly code: Problem["code"] | Stranger;
  readonly detail: string;
  readonly errors: NonNullable<Problem["errors"]>;
  /** Absent where something other than an engine responded. */
  readonly problem?: Problem;

  constructor(
    status: number,
    answer: Problem | string,
    stranger: Stranger = "client/not-an-engine",
  ) {
    const isProblem = typeof answer !== "string";
    super(isProblem ? `${answer.detail} [${answer.code}]` : answer);
    this.status = status;
    this.code = isProblem ? answer.code : stranger;
    this.detail = isProblem ? answer.detail : answer;
    this.errors = isProblem ? (answer.errors ?? []) : [];
    if (isProblem) this.problem = answer;
  }
}

type Stranger = "client/not-an-engine" | "client/gateway-refused";
