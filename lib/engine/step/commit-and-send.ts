/** The whole way of a fact that a queue has brought: settled and sent, asked for again, or parked. */
import type { TicketFact } from "../../kernel/fact.ts";
import type { Invocation, Verdict } from "../../ports/message.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { commitWithRetry } from "./commit-with-retry.ts";
import { afterCommit } from "./dispatch.ts";
import { dropSentRecords, redeliver } from "./redelivery.ts";

/** `mine` looks at each image that won against us, and says whether we may go on. */
export async function commitAndSend(
  world: World,
  image: Image,
  { name, fact }: Readonly<{ name: string; fact: TicketFact }>,
  invocation: Invocation,
  { mine }: Readonly<{ mine?: (current: Image) => boolean }> = {},
): Promise<Verdict> {
  const owner = { own: invocation.id, until: invocation.until };
  const settled = await commitWithRetry(world, image, { name, fact }, owner, mine && { mine });
  switch (settled.kind) {
    case "settled": {
      const sent = await afterCommit(world, settled.plan);
      return dropSentRecords(world, settled.image, sent, invocation.id);
    }
    case "gone":
      return settled.image
        ? redeliver(world, settled.image, name, invocation, fact.kind)
        : "release";
    case "contended":
    case "overtaken": {
      const { tenant, id: instanceId } = image.instance;
      await world.parking.park({ kind: "parked", tenant, instanceId, name, fact });
      world.observe?.({ kind: "outcome-parked", instanceId });
      return "release";
    }
  }
}
