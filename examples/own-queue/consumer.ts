// A Lambda function triggered by your own queue: it does the work of each task, and reports the result
// to the engine. `fermata-engine` is bundled with it; the engine's API is the only AWS endpoint it calls.
import {
  ApiError,
  BusinessError,
  type Client,
  createClient,
  type Json,
} from "fermata-engine/client";
import { awsSigner } from "fermata-engine/client/aws";

/** A task as a message in the queue. */
export type Task = Readonly<{
  taskId: string;
  variables: Readonly<Record<string, unknown>>;
  attempt: number;
  idempotencyKey: string;
}>;

type Event = Readonly<{ Records: readonly Readonly<{ messageId: string; body: string }>[] }>;
type Kept = Readonly<{ batchItemFailures: readonly Readonly<{ itemIdentifier: string }>[] }>;

/** The work itself; the key is the same for every attempt, so no card is charged twice. */
async function charge({ variables, idempotencyKey }: Task): Promise<Record<string, Json>> {
  const { total } = variables;
  if (Number(total) > 1_000) throw new BusinessError("CARD_DECLINED", "The limit is 1,000.");
  return { receiptId: `receipt of ${idempotencyKey}` };
}

/** Lambda deletes the messages whose reports succeeded; SQS redelivers the others. */
export function consumer(client: Pick<Client, "completeTask" | "failTask">) {
  return async ({ Records }: Event): Promise<Kept> => {
    const batchItemFailures: { itemIdentifier: string }[] = [];
    for (const { messageId, body } of Records) {
      try {
        await report(client, JSON.parse(body));
      } catch {
        batchItemFailures.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures };
  };
}

async function report(
  client: Pick<Client, "completeTask" | "failTask">,
  task: Task,
): Promise<void> {
  const { taskId, attempt } = task;
  // The same message may be delivered twice: with the key, a second report has no effect.
  const keyed = { idempotencyKey: `${taskId}/${attempt}` };
  try {
    const outcome = await charge(task).then(
      (variables) => ({ variables }),
      (error: unknown) => ({ error }),
    );
    if ("variables" in outcome) await client.completeTask(taskId, outcome, keyed);
    else await client.failTask(taskId, failureOf(outcome.error), keyed);
  } catch (error) {
    // The task was interrupted or is already done, so there is nothing left to report.
    if (error instanceof ApiError && error.code === "task/not-found") return;
    throw error;
  }
}

/** A boundary event can catch an error with a code; without one, a retry is used and the next attempt is queued. */
function failureOf(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof BusinessError ? { message, code: error.code } : { message };
}

/** FERMATA_URL is the URL of the installation; the function's role needs the verb `work`. */
export const handler = (event: Event): Promise<Kept> =>
  consumer(createClient({ baseUrl: process.env.FERMATA_URL ?? "", sign: awsSigner() }))(event);
