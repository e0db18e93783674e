/** Crashes its process until a variable says that it may live. */
export default async ({ mayLive }: { mayLive?: boolean }) => {
  if (mayLive !== true) process.kill(process.pid, "SIGKILL");
  return { lived: true };
};
