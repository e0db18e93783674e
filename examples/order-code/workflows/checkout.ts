import {
  all,
  BusinessError,
  delay,
  event,
  race,
  step,
  TaskFailed,
  workflow,
} from "fermata-engine/workflow";

export type Order = Readonly<{
  orderId: string;
  total: number;
  /** "declined" shows what happens when the bank refuses. */
  card?: string;
  /** How long the customer may cancel; two days by default. */
  cancelWithin?: string;
}>;

/** Steps run outside of the sandbox. Real ones would call the services named in their comments. */

/** Warehouse: the reservation is found again by the order, so holding twice is harmless. */
export const holdItems = step("hold-items", async ({ orderId }: Order) => `hold-${orderId}`);

/** Payment provider: the idempotency key is the same for every attempt, so it charges once. */
export const takePayment = step(
  "take-payment",
  async ({ total, card }: Order, { idempotencyKey }) => {
    if (card === "declined") {
      throw new BusinessError("CARD_DECLINED", `The bank declined ${total}.`);
    }
    return { paymentId: `payment-${idempotencyKey}`, amount: total };
  },
  { retry: { maxAttempts: 5, backoff: "2s", multiplier: 2 }, timeout: "10m" },
);

export const refundPayment = step("refund-payment", async (payment: { paymentId: string }) => ({
  refunded: payment.paymentId,
}));

export const releaseItems = step("release-items", async ({ orderId }: Order) => ({ orderId }));

/** Carrier: returns the number of the parcel. */
export const shipParcel = step("ship-parcel", async ({ orderId }: Order) => `parcel-${orderId}`);

/** Runs in the sandbox, and is replayed there: it only calls steps and waits. */
export const checkout = workflow("checkout", async (order: Order) => {
  const paid = await paymentOf(order);
  if (paid === undefined) return { status: "cancelled" as const, reason: "card declined" };

  const first = await race({
    cancelled: event<{ reason?: string } | null>("cancel-order"),
    window: delay(order.cancelWithin ?? "2d"),
  });
  if (first.key === "cancelled") {
    await all([refundPayment(paid), releaseItems(order)]);
    return { status: "cancelled" as const, reason: first.value?.reason ?? "no reason given" };
  }

  const parcel = await shipParcel(order);
  return { status: "shipped" as const, parcel };
});

/** The payment, with the items held; undefined if the card was declined. */
async function paymentOf(order: Order) {
  try {
    const { payment } = await all({ items: holdItems(order), payment: takePayment(order) });
    return payment;
  } catch (error) {
    if (!(error instanceof TaskFailed) || error.code !== "CARD_DECLINED") throw error;
    await releaseItems(order);
    return undefined;
  }
}
