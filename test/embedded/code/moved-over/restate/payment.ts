// Restate, "payment signals" pattern: a provider answers at once, or later by a webhook.
// Changed: the awakeable is an event to the instance; its id goes to the provider instead of an awakeable's.
import { event, step, uuid, WorkflowError, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type Payment = { amount: number; method: "card" | "transfer" | "stolen-card" };
export type Intent = { status: "succeeded" | "processing" | "canceled" };
type Call = Payment & { key: string };

export const createIntent = step(
  "payment-intent",
  async ({ method, amount, key }: Call, context): Promise<Intent> => {
    did(context, `pay ${amount} with ${key}, call back ${context.instanceId}`);
    if (method === "stolen-card") return { status: "canceled" };
    return { status: method === "card" ? "succeeded" : "processing" };
  },
);

export const processPayment = workflow("process-payment", async (payment: Payment) => {
  if (payment.amount <= 0) throw new RangeError("The amount must be positive.");
  const key = uuid();
  const webhook = event<Intent>("payment-intent");
  const intent = await createIntent({ ...payment, key });
  if (intent.status !== "processing") return { key, path: "response", ...ensured(intent) };
  return { key, path: "webhook", ...ensured(await webhook) };
});

function ensured(intent: Intent): Intent {
  if (intent.status !== "succeeded") throw new WorkflowError(`The payment is ${intent.status}.`);
  return intent;
}
