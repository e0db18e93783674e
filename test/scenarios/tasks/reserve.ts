/** Reserves the goods. */
export default async () => ({ reserved: true });
