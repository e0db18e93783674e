/** The place of a user's queue. */
export type QueuePlace = Readonly<{ region: string; account: string; name: string }>;

/**
 * The place of a queue that an installation in this region may send tasks to, by ARN; or why not.
 *
 * 1. Only to standard queues: a FIFO queue cannot delay a single message, and drops what is sent
 *    again within five minutes, which is how a loss is recovered.
 * 2. Only within the region: queues are looked up by name, and another may have the same name.
 */
export function placeOfQueue(
  queueArn: string,
  region: string,
): QueuePlace | Readonly<{ problem: string }> {
  const place = parseQueueArn(queueArn);
  if (place === undefined) return { problem: "that is not the ARN of an SQS queue" };
  if (place.name.endsWith(".fifo")) return { problem: "it is a FIFO queue; use a standard one" };
  if (place.region === region) return place;
  return { problem: `it is in ${place.region}, and this installation in ${region}` };
}

function parseQueueArn(queueArn: string): QueuePlace | undefined {
  const [, region, account, name] =
    /^arn:[\w-]+:sqs:([\w-]+):(\d{12}):([\w-]{1,80}(?:\.fifo)?)$/.exec(queueArn) ?? [];
  if (region === undefined || account === undefined || name === undefined) return undefined;
  return { region, account, name };
}
