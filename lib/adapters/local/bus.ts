import type { Announcement, Bus } from "../../ports/bus.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";

/** Receives announcements about instances, in this process. */
export type AnnouncementListener = (announcement: Announcement) => void | Promise<void>;

/** A bus inside one process: the work queue is the only receiver of a broadcast. */
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
