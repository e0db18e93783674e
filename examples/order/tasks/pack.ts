/** Packs the parcel. */
export default async (_order: object, { idempotencyKey }: { idempotencyKey: string }) => ({
  parcel: `parcel-${idempotencyKey}`,
});
