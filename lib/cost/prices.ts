import type { Usage } from "../ports/meter.ts";

/**
 * List prices in US dollars, without free tiers, discounts and taxes; to be updated from time to
 * time.
 */
export const PRICES = {
  region: "us-east-1",
  asOf: "2026-02-01",
  /** Per million write and read units, on demand. */
  dynamodbWrite: 0.625,
  dynamodbRead: 0.125,
  dynamodbGbMonth: 0.25,
  /** Per million requests of up to 64 KB. */
  sqs: 0.4,
  sqsFifo: 0.5,
  /** Per million invocations, and per GB-second on arm64. */
  lambdaInvocations: 0.2,
  lambdaGbSecond: 0.0000133334,
  /** Per million of each. */
  schedules: 1,
  busEvents: 1,
  httpApiRequests: 1,
  s3Puts: 5,
  s3Gets: 0.4,
  /** Per GB of ingested logs, and per month of storage. */
  logsGb: 0.5,
  logsGbMonth: 0.03,
  /** What the others charge: per million transitions, per million operations. */
  stepFunctionsTransitions: 25,
  durableOperations: 8,
  durableWrittenGb: 0.25,
  durableRetainedGbMonth: 0.15,
} as const;

/** The services of a bill, in the order in which it lists them. */
export const SERVICES = [
  "DynamoDB writes",
  "DynamoDB reads",
  "DynamoDB storage",
  "SQS",
  "SQS FIFO",
  "Lambda invocations",
  "Lambda compute",
  "EventBridge Scheduler",
  "EventBridge bus",
  "S3",
  "HTTP API",
  "CloudWatch logs",
] as const;

export type Service = (typeof SERVICES)[number];

/** The usage of one service, and its price in millionths of a dollar. */
export type Charge = Readonly<{ service: Service; units: number; microdollars: number }>;

/** The charge for a usage; compute is added to its invocation. */
export function chargesFor(usage: Usage): readonly Charge[] {
  const charge = (service: Service, units: number, price: number): Charge => ({
    service,
    units,
    microdollars: units * price,
  });
  switch (usage.of) {
    case "dynamodb-write":
      return [charge("DynamoDB writes", usage.units, PRICES.dynamodbWrite)];
    case "dynamodb-read":
      return [charge("DynamoDB reads", usage.units, PRICES.dynamodbRead)];
    case "sqs":
      return [charge("SQS", usage.requests, PRICES.sqs)];
    case "sqs-fifo":
      return [charge("SQS FIFO", usage.requests, PRICES.sqsFifo)];
    case "scheduler":
      return [charge("EventBridge Scheduler", usage.invocations, PRICES.schedules)];
    case "eventbridge":
      return [charge("EventBridge bus", usage.events, PRICES.busEvents)];
    case "s3-put":
      return [charge("S3", usage.requests, PRICES.s3Puts)];
    case "s3-get":
      return [charge("S3", usage.requests, PRICES.s3Gets)];
    case "http-api":
      return [charge("HTTP API", usage.requests, PRICES.httpApiRequests)];
    case "lambda":
      return [
        charge("Lambda invocations", usage.invocations, PRICES.lambdaInvocations),
        charge("Lambda compute", usage.gbSeconds, PRICES.lambdaGbSecond * 1_000_000),
      ];
  }
}
