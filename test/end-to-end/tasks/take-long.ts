/** A task for the queue of the long ones: its timeout says so. */
export default {
  timeout: "PT2M",
  run: async ({ ms }: { ms: number }) => {
    await new Promise((done) => setTimeout(done, ms));
    return { took: ms };
  },
};
