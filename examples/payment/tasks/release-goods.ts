/** Hands the goods over to the carrier after the payment. */
export default async ({ orderId }: { orderId: string | number }) => ({
  parcel: `parcel-of-${orderId}`,
});
