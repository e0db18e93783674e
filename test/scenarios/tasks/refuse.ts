/** Fails until somebody says that it may. */
export default async ({ allowed }: { allowed?: boolean }) => {
  if (allowed !== true) throw new Error("Nobody has allowed this.");
  return { done: true };
};
