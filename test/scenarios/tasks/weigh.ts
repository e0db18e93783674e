/** Replaces it by its length. */
export default async ({ bulk }: { bulk: string }) => ({ weight: bulk.length, bulk: null });
