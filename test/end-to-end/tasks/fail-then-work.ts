/** Fails at its first attempt, and is retried after a pause. */
export default {
  backoff: "PT30S",
  run: async (_input: object, { attempt }: { attempt: number }) => {
    if (attempt === 1) throw new Error("Not yet.");
    return { attempts: attempt };
  },
};
