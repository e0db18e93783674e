import { Duration } from "aws-cdk-lib";

/** How long each function may take, in seconds. */
export const TIMEOUT_SECONDS = {
  httpApi: 29,
  compile: 25,
  runTask: 60,
  runLongTask: 900,
  advance: 30,
  fireTimer: 30,
  fanOutSignal: 30,
  sweep: 60,
  deadLetters: 30,
} as const;

export type TimedFunction = keyof typeof TIMEOUT_SECONDS;

/**
 * The visibility timeout of a message that the function has neither finished nor released. AWS
 * recommends six times the function's timeout: a throttled poller holds its batch meanwhile, and a
 * message that becomes visible in that time counts as received, though no function has seen it.
 */
export function visibilityFor(reader: TimedFunction): Duration {
  return Duration.seconds(6 * TIMEOUT_SECONDS[reader]);
}
