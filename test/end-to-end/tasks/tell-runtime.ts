/** Reports its runtime. */
export default async (_input: object, { idempotencyKey }: { idempotencyKey: string }) => ({
  node: process.version,
  key: idempotencyKey,
});
