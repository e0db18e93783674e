import { delay, event, race, step, workflow } from "fermata-engine/workflow";

export type Expense = Readonly<{
  employee: string;
  amount: number;
  /** How long the manager has; seven days by default. */
  decideWithin?: string;
  /** Time between two reminders; a day by default. */
  remindEvery?: string;
  /** How long an approval can be revoked before it is paid; a day by default. */
  finalAfter?: string;
}>;

export type Decision = Readonly<{ approved: boolean; by: string }>;
export type Revocation = Readonly<{ by: string }>;

export const remindManager = step("remind-manager", async ({ employee }: Expense) => ({
  sent: `${employee} is waiting for your decision.`,
}));

export const payOut = step("pay-out", async (expense: Expense, { idempotencyKey }) => ({
  transfer: `transfer-${idempotencyKey}`,
  amount: expense.amount,
}));

/** Approved, rejected, revoked or too late; an approval is final after a day. */
export const expense = workflow("expense", async (request: Expense) => {
  const first = await race({
    decided: event<Decision>("decide"),
    revoked: event<Revocation>("revoke"),
    late: delay(request.decideWithin ?? "7d"),
    // Never settles: when another member wins, its open delay or reminder is disarmed with it.
    reminding: remindAgain(request),
  });
  if (first.key === "revoked") return { status: "revoked" as const, by: first.value.by };
  if (first.key === "late") return { status: "expired" as const };

  const { approved, by } = first.value;
  if (!approved) return { status: "rejected" as const, by };

  const then = await race({
    revoked: event<Revocation>("revoke"),
    final: delay(request.finalAfter ?? "1d"),
  });
  if (then.key === "revoked") return { status: "revoked" as const, by: then.value.by };

  const { transfer } = await payOut(request);
  return { status: "paid" as const, by, transfer };
});

async function remindAgain(request: Expense): Promise<never> {
  for (;;) {
    await delay(request.remindEvery ?? "1d");
    await remindManager(request);
  }
}
