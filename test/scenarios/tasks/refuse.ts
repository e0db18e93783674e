/** Fails until a variable allows it. */
export default async ({ allowed }: { allowed?: boolean }) => {
  if (allowed !== true) throw new Error("This was not allowed.");
  return { done: true };
};
