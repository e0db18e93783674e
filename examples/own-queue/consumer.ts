// A Lambda function that a queue of your own wakes: it does the tasks that it is brought, and reports
// each to the engine. `fermata-engine` is bundled with it; nothing of AWS is called but the engine.
import {
  ApiError,
  BusinessError,
  type Client,
  createClient,
  type Json,
} from "fermata-engine/client";
import { awsSigner } from "fermata-engine/client/aws";

/** A task as it lies in the queue. */
export type Task = Readonly<{
  taskId: string;
  variables: Readonly<Record<string, unknown>>;
  attempt: number;
  idempotencyKey: string;
}>;

type Event = Readonly<{ Records: readonly Readonly<{ messageId: string; body: string }>[] }>;
type Kept = Readonly<{ batchItemFailures: readonly Readonly<{ itemIdentifier: string }>[] }>;

/** What it does; the key is the same for every attempt, so nobody is charged twice. */
async function charge({ variables, idempotencyKey }: Task): Promise<Record<string, Json>> {
  const { total } = variables;
  if (Number(total) > 1_000) throw new BusinessError("CARD_DECLINED", "The limit is 1,000.");
  return { receiptId: `receipt of ${idempotencyKey}` };
}

/** Messages whose reports went through are deleted by Lambda; the others come again. */
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
  // The same message may come twice: with a key its second report changes nothing.
  const keyed = { idempotencyKey: `${taskId}/${attempt}` };
  try {
    const outcome = await charge(task).then(
      (variables) => ({ variables }),
      (error: unknown) => ({ error }),
    );
    if ("variables" in outcome) await client.completeTask(taskId, outcome, keyed);
    else await client.failTask(taskId, failureOf(outcome.error), keyed);
  } catch (error) {
    // It was interrupted, or somebody has done it: nobody waits for it any more.
    if (error instanceof ApiError && error.code === "task/not-found") return;
    throw error;
  }
}

/** With a code a boundary event can catch it; without, it uses up an attempt, and the next one is queued. */
function failureOf(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof BusinessError ? { message, code: error.code } : { message };
}

/** The address is that of the installation; the function's role needs the verb `work`. */
export const handler = (event: Event): Promise<Kept> =>
  consumer(createClient({ baseUrl: process.env.FERMATA_URL ?? "", sign: awsSigner() }))(event);
