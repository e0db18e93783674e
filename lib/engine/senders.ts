/** Every kind of entry that leaves by a use case of its own. */
import { cancelChild } from "./calls/cancel-child.ts";
import { notifyParent } from "./calls/notify-parent.ts";
import { startChild } from "./calls/start-child.ts";
import { sendLeft } from "./events/accept-event.ts";
import { bury } from "./events/dead-letter.ts";
import { cancelBatch } from "./multi-instance/cancel-batch.ts";
import { sendBatch } from "./multi-instance/send-batch.ts";
import { sendMissed } from "./signals/missed.ts";
import type { Senders } from "./world.ts";

export const SENDERS: Senders = {
  startChild,
  cancelChild,
  notifyParent,
  sendBatch,
  cancelBatch,
  sendMissed,
  sendLeft,
  bury,
};
