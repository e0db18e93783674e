/** Fails at its first attempt. */
export default {
  backoff: "PT1S",
  run: async (_input: object, { attempt }: { attempt: number }) => {
    if (attempt === 1) throw new Error("The first attempt stumbles.");
    return { stumbled: attempt - 1 };
  },
};
