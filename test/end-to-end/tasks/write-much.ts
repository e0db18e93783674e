/** Returns a text of that many characters. */
export default async ({ length }: { length: number }) => ({ text: "x".repeat(length) });
