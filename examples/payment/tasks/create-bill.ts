type Context = { idempotencyKey: string };

/** Writes the bill. The key stays the same however often the task runs, so there is one bill. */
export default async ({ orderId }: { orderId: string | number }, { idempotencyKey }: Context) => ({
  bill: { orderId, number: `bill-${idempotencyKey}` },
});
