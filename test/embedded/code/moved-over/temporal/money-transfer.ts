// Temporal, "Run your first Temporal application with the TypeScript SDK": a transfer between two banks.
// Changed: names of errors that are not retried are codes, and 500 attempts are 4.
import {
  BusinessError,
  type StepContext,
  step,
  TaskFailed,
  workflow,
} from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type Transfer = { amount: number; from: string; to: string; reference: string };

const RETRY = {
  retry: {
    maxAttempts: 4,
    backoff: "1s",
    maxBackoff: "1m",
    multiplier: 2,
    nonRetryable: ["INVALID_ACCOUNT", "INSUFFICIENT_FUNDS"],
  },
  timeout: "10m",
};

const BALANCES: Record<string, number> = { "85-150": 2000, "43-812": 0, "99-999": 0 };

/** Account 99-999 is at a bank that is down for the first attempts. */
function book(kind: string, account: string, amount: number, context: StepContext): string {
  const balance = BALANCES[account];
  if (balance === undefined) throw new BusinessError("INVALID_ACCOUNT", `No account ${account}.`);
  if (kind === "withdraw" && balance < amount) {
    throw new BusinessError("INSUFFICIENT_FUNDS", `${account} has ${balance}.`);
  }
  if (account === "99-999" && context.attempt < 3) throw new Error("The bank does not answer.");
  did(context, `${kind} ${amount} ${account}`);
  return `${kind}-${account}`;
}

export const withdraw = step(
  "bank-withdraw",
  async ({ from, amount }: Transfer, context) => book("withdraw", from, amount, context),
  RETRY,
);
export const deposit = step(
  "bank-deposit",
  async ({ to, amount }: Transfer, context) => book("deposit", to, amount, context),
  RETRY,
);
export const refund = step(
  "bank-refund",
  async ({ from, amount }: Transfer, context) => book("refund", from, amount, context),
  RETRY,
);

export const moneyTransfer = workflow("money-transfer", async (transfer: Transfer) => {
  const withdrawn = await withdraw(transfer);
  try {
    const deposited = await deposit(transfer);
    return `Transferred: ${withdrawn}, ${deposited}`;
  } catch (error) {
    const refunded = await refund(transfer);
    const why = error instanceof TaskFailed ? error.code : String(error);
    throw new Error(`The deposit to ${transfer.to} failed (${why}); ${refunded}`);
  }
});
