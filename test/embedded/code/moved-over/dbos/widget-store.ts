// DBOS, "Fault-tolerant checkout" (widget store): stock is reserved, paid or given back, and dispatched.
// Changed: `recv` with a timeout is a race; dispatching is a function, not a second workflow; the id of the
// payment and the progress, which `setEvent` publishes there, are left out.
import {
  BusinessError,
  delay,
  event,
  race,
  sendEvent,
  step,
  TaskFailed,
  workflow,
} from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type WidgetOrder = { order: string; inStock: boolean };

export const reserveStock = step("widget-reserve", async ({ order, inStock }: WidgetOrder, on) => {
  if (!inStock) throw new BusinessError("NO_STOCK", "No widget is left.");
  did(on, `reserve for ${order}`);
});
export const releaseStock = step("widget-release", async (order: string, context) =>
  did(context, `release of ${order}`),
);
export const setStatus = step(
  "widget-status",
  async ({ order, status }: { order: string; status: string }, context) =>
    did(context, `${order} ${status}`),
);

export const buyWidget = workflow("buy-widget", async (input: WidgetOrder) => {
  const { order } = input;
  await setStatus({ order, status: "pending" });
  if (!(await isReserved(input))) return cancelled(order);
  const payment = await race({
    status: event<string>("payment-status"),
    timeout: delay("120s"),
  });
  if (payment.key !== "status" || payment.value !== "paid") {
    await releaseStock(order);
    return cancelled(order);
  }
  await setStatus({ order, status: "paid" });
  return dispatched(order);
});

async function isReserved(input: WidgetOrder): Promise<boolean> {
  try {
    await reserveStock(input);
    return true;
  } catch (error) {
    if (error instanceof TaskFailed && error.code === "NO_STOCK") return false;
    throw error;
  }
}

async function cancelled(order: string) {
  await setStatus({ order, status: "cancelled" });
  return "cancelled";
}

async function dispatched(order: string) {
  for (let left = 3; left > 0; left--) {
    await delay("1s");
    await setStatus({ order, status: `${left - 1} steps before dispatch` });
  }
  await setStatus({ order, status: "dispatched" });
  return "dispatched";
}

/** The endpoint of the payment provider, which calls `DBOS.send`. */
export const payWidget = workflow(
  "pay-widget",
  async ({ checkout, status }: { checkout: string; status: string }) => {
    const { outcome } = await sendEvent({
      name: "payment-status",
      target: checkout,
      payload: status,
    });
    return outcome;
  },
);
