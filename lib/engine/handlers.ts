/** Every kind of message and the use case that handles it. */
import { advanceOne } from "./drive/advance.ts";
import { driveTask } from "./drive/drive.ts";
import { fireTimer } from "./drive/fire-timer.ts";
import { handleOffer } from "./events/offer-event.ts";
import { handleWakeMailbox } from "./messages/wake-mailbox.ts";
import { cancelItems } from "./multi-instance/cancel-batch.ts";
import { sendBatchPage } from "./multi-instance/send-batch.ts";
import { deliverPage, fanOut, pageShard, watch } from "./signals/fan-out.ts";
import { recheckMissed } from "./signals/missed.ts";
import { fireStart } from "./timer-starts/fire.ts";
import type { Handlers } from "./world.ts";

export const HANDLERS: Handlers = {
  task: driveTask,
  timer: fireTimer,
  "timer-start": fireStart,
  parked: advanceOne,
  look: advanceOne,
  owed: advanceOne,
  broadcast: fanOut,
  watch,
  shard: pageShard,
  page: deliverPage,
  missed: recheckMissed,
  members: sendBatchPage,
  "cancel-members": cancelItems,
  offer: handleOffer,
  poke: handleWakeMailbox,
};
