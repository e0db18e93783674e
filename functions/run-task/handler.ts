import type { SQSRecord } from "aws-lambda";
import type { Engine } from "../../lib/engine/engine.ts";
import { processAlarm } from "../../lib/ports/alarm.ts";
import type { BatchFunction, Workbench } from "../middleware/batch.ts";
import { whileHeld } from "../middleware/heartbeat.ts";
import { onlyMessages } from "../middleware/only-messages.ts";
import { perMessage } from "../middleware/per-message.ts";

export type RunTaskOptions = Readonly<{
  bench: Workbench;
  /** Whether messages of this queue are handled for longer than their visibility timeout. */
  isLong: (record: SQSRecord) => boolean;
}>;

/** Handles attempts from the task queues; the engine runs each, and what follows from it. */
export function runTask(
  engine: Pick<Engine, "handle">,
  { bench, isLong }: RunTaskOptions,
): BatchFunction {
  const { queue, telemetry, alarm = processAlarm } = bench;
  return perMessage(
    (message, invocation) => engine.handle(onlyMessages(message), invocation),
    bench,
    {
      mayContinue: true,
      during: (record, work, forMs) => {
        if (!isLong(record)) return work();
        const onTrouble = (error: unknown) =>
          telemetry.log("warn", "message-not-held", { messageId: record.messageId, error });
        return whileHeld(record, work, { queue, alarm, forMs, onTrouble });
      },
    },
  );
}
