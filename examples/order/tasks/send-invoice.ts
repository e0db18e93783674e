/** Sends the invoice; the result is added to the variables of the order. */
export default async ({ total }: { total: number }, context: { idempotencyKey: string }) => ({
  invoice: { number: `invoice-${context.idempotencyKey}`, amount: total },
});
