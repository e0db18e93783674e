/** Called for everything that costs money, as it is billed. */
export type Meter = (usage: Usage) => void;

/** What one call used of a service: units as the service bills them, not calls. */
export type Usage = Readonly<
  /** Of a table and of each index that the call changed; a transaction counts double. */
  | { of: "dynamodb-write" | "dynamodb-read"; units: number; on: "table" | "due" | "listing" }
  /** A request for every started 64 KB. */
  | { of: "sqs" | "sqs-fifo"; requests: number; queue: string }
  | { of: "scheduler"; invocations: number }
  /** An event for every started 64 KB. */
  | { of: "eventbridge"; events: number }
  | { of: "s3-put" | "s3-get"; requests: number; bytes: number }
  | { of: "lambda"; invocations: number; gbSeconds: number; name: string }
  | { of: "http-api"; requests: number }
>;
