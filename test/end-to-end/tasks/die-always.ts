/** Takes its process with it until somebody says that it may live. */
export default async ({ mayLive }: { mayLive?: boolean }) => {
  if (mayLive !== true) process.kill(process.pid, "SIGKILL");
  return { lived: true };
};
