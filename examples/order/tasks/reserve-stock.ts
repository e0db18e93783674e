type Order = { items?: readonly { sku: string; quantity: number }[] };

/** Reserves the goods. A real handler would call the warehouse, with the idempotency key. */
export default async (order: Order, { idempotencyKey }: { idempotencyKey: string }) => ({
  reservation: `reservation-${idempotencyKey}`,
  reserved: (order.items ?? []).reduce((sum, { quantity }) => sum + quantity, 0),
});
