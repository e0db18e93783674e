// Inngest, "Building flows for lost customers": a reminder a day after the last product, unless it is bought.
// Changed: a further product does not cancel the run and start another one; it begins the day anew in a loop.
import { CorrelationTaken, delay, message, race, step, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type Cart = { userId: string; product: string };

export const remind = step(
  "cart-reminder",
  async ({ userId, products }: { userId: string; products: string[] }, context) =>
    did(context, `remind ${userId} of ${products.join(" and ")}`),
);

export const watchCart = workflow("watch-cart", async ({ userId, product }: Cart) => {
  try {
    return await outcomeOf(userId, [product]);
  } catch (error) {
    // One instance at a time waits for the messages of a user.
    if (error instanceof CorrelationTaken) return "already watched";
    throw error;
  }
});

async function outcomeOf(userId: string, products: string[]) {
  for (;;) {
    const next = await race({
      bought: message("cart-purchased", userId),
      added: message<{ product: string }>("cart-product-added", userId),
      abandoned: delay("24h"),
    });
    if (next.key === "bought") return "bought";
    if (next.key === "abandoned") break;
    products.push(next.value.product);
  }
  await remind({ userId, products });
  return "reminded";
}
