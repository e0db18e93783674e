/** Tells what runs it. */
export default async (_input: object, { idempotencyKey }: { idempotencyKey: string }) => ({
  node: process.version,
  key: idempotencyKey,
});
