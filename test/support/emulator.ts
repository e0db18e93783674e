// The emulated AWS that `npm run test:aws` has started, and its clock. See scripts/emulator.

import { z } from "zod";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import { endpointFrom } from "./dynamodb-table.ts";

/** The settings of every SDK client of the emulator; any credentials will do. */
export function emulated() {
  return {
    endpoint: endpointFrom("AWS_ENDPOINT_URL"),
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  };
}

/** The time of queues and schedules, which stands still unless a test lets it pass. */
export type StoppedTime = Readonly<{
  now(): Instant;
  /** Lets time pass; calls back before, and whenever a message or a schedule becomes due. */
  pass(ms: number, atEachStop: () => Promise<void>): Promise<void>;
  goOn(): Promise<void>;
}>;

/** Stops the emulator's clock. */
export async function stopTime(): Promise<StoppedTime> {
  let { nowMs } = await tell({ stop: true });
  return {
    now: () => instantFrom(nowMs),
    async pass(ms, atEachStop) {
      await atEachStop();
      for (let leftMs = ms; leftMs > 0; ) {
        ({ nowMs, leftMs } = await tell({ passMs: leftMs }));
        await atEachStop();
      }
    },
    goOn: async () => void (await tell({ stop: false })),
  };
}

const Told = z.object({ nowMs: z.number(), leftMs: z.number() });

async function tell(order: object): Promise<z.infer<typeof Told>> {
  const answer = await fetch(`${emulated().endpoint}/_fermata/clock`, {
    method: "POST",
    body: JSON.stringify(order),
  });
  return Told.parse(await answer.json());
}
