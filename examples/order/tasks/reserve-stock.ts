type Order = { items?: readonly { sku: string; quantity: number }[] };

/** Puts the goods aside. A real one would call the warehouse, with the key that it is given. */
export default async (order: Order, { idempotencyKey }: { idempotencyKey: string }) => ({
  reservation: `reservation-${idempotencyKey}`,
  reserved: (order.items ?? []).reduce((sum, { quantity }) => sum + quantity, 0),
});
