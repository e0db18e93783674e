type Order = { total: number; card?: string };
type Context = { attempt: number; idempotencyKey: string };

/**
 * Charges the card. The first attempt always fails, so that a retry can be seen; the pause before
 * the next one is in the model (`retryBackoff`).
 */
export default async (order: Order, { attempt, idempotencyKey }: Context) => {
  if (attempt === 1) throw new Error("The payment provider did not answer in time.");
  if (order.card === "declined") throw new CardDeclined(`The bank declined ${order.total}.`);
  return { charge: `charge-${idempotencyKey}` };
};

/** A thrown `BusinessError` is not retried: the boundary event in the model catches its code. */
class CardDeclined extends Error {
  override readonly name = "BusinessError";
  readonly code = "CARD_DECLINED";
}
