import { event, race, sleepUntil, step, workflow } from "fermata-engine/workflow";

export type Auction = Readonly<{
  item: string;
  /** The instant at which bidding ends, as "2030-01-31T12:00:00Z". */
  endsAt: string;
  /** The lowest bid that counts. */
  minimum: number;
}>;

export type Bid = Readonly<{ bidder: string; amount: number }>;

export const tellWinner = step("tell-winner", async (won: Bid & { item: string }) => ({
  sent: `${won.bidder}, ${won.item} is yours for ${won.amount}.`,
}));

/** The highest bid until the instant wins; of two equal bids, the earlier. */
export const auction = workflow("auction", async ({ item, endsAt, minimum }: Auction) => {
  let highest: Bid | undefined;
  let bids = 0;

  // Never settles: the end of the auction disarms the wait for the next bid.
  async function takeBids(): Promise<never> {
    for (;;) {
      const bid = await event<Bid>("bid");
      bids += 1;
      if (bid.amount >= minimum && bid.amount > (highest?.amount ?? 0)) highest = bid;
    }
  }

  await race([sleepUntil(endsAt), takeBids()]);
  if (highest === undefined) return { sold: false as const, bids };
  await tellWinner({ item, ...highest });
  return { sold: true as const, bids, to: highest.bidder, for: highest.amount };
});
