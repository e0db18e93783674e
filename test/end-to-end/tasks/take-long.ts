/** A task for the queue of long tasks, because of its timeout. */
export default {
  timeout: "PT2M",
  run: async ({ ms }: { ms: number }) => {
    await new Promise((done) => setTimeout(done, ms));
    return { took: ms };
  },
};
