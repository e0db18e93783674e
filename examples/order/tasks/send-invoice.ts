/** Sends the invoice; what comes back is added to the order. */
export default async ({ total }: { total: number }, context: { idempotencyKey: string }) => ({
  invoice: { number: `invoice-${context.idempotencyKey}`, amount: total },
});
