import type { Announcement, Bus } from "../../ports/bus.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";

/** Hears what happens to instances, in this process. */
export type AnnouncementListener = (announcement: Announcement) => void | Promise<void>;

/** A bus inside one process: those who fan out are the only ones who hear of a broadcast. */
export function localBus({
  work,
  announce,
}: Readonly<{ work: WorkQueue; announce?: AnnouncementListener }>): Bus {
  return {
    async publish({ tenant, broadcastId }) {
      await work.send({ kind: "broadcast", tenant, broadcastId });
      return true;
    },
    ...(announce && {
      announce: async (announcement) => {
        await announce(announcement);
      },
    }),
  };
}
