import { Stack, Token } from "aws-cdk-lib";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

/** A queue of the user, or its ARN. */
export type TaskQueue = string | IQueue;

/** The user's queues: their ARNs, and the keys that they need. */
export type TaskQueues = Readonly<{ arns: readonly string[]; keyArns: readonly string[] }>;

/** Parses the user's queues; throws with all known problems. */
export function taskQueuesOf(scope: Construct, queues: readonly TaskQueue[]): TaskQueues {
  const problems = queues.flatMap((queue) => problemsOf(scope, queue));
  if (problems.length > 0) {
    throw new Error(`Tasks cannot be sent to these queues: ${problems.join("; ")}.`);
  }
  const keys = queues.flatMap((queue) =>
    typeof queue === "string" ? [] : (queue.encryptionMasterKey?.keyArn ?? []),
  );
  return { arns: [...new Set(queues.map(arnOf))], keyArns: [...new Set(keys)] };
}

const arnOf = (queue: TaskQueue): string => (typeof queue === "string" ? queue : queue.queueArn);

/** What is known only at deployment is checked when the queue is set for a task type. */
function problemsOf(scope: Construct, queue: TaskQueue): readonly string[] {
  const arn = arnOf(queue);
  const name = typeof queue === "string" ? arn : queue.node.path;
  const isFifo = typeof queue === "string" ? arn.endsWith(".fifo") : queue.fifo;
  if (isFifo) return [`${name} is a FIFO queue, use a standard one`];
  if (Token.isUnresolved(arn)) return [];
  const [, region] = /^arn:[\w-]+:sqs:([\w-]+):\d{12}:[\w-]{1,80}$/.exec(arn) ?? [];
  if (region === undefined) return [`${name} is not the ARN of an SQS queue`];
  const here = Stack.of(scope).region;
  if (Token.isUnresolved(here) || region === here) return [];
  return [`${name} is in another region than the installation, ${here}`];
}
