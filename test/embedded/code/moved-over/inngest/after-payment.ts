// Inngest, "Step parallelism" guide: after a payment, a mail is sent while the user is updated.
// Changed: steps are declared outside of the function. `Promise.all` stays as it was.
import { step, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type Charge = { email: string; amount: number };

export const confirm = step("after-payment-mail", async ({ email }: Charge, context) => {
  did(context, `mail to ${email}`);
  return `mail-${email}`;
});
export const updateUser = step(
  "after-payment-user",
  async ({ amount }: Charge, context) => {
    if (context.attempt < 3) throw new Error("The database is busy.");
    did(context, `charged ${amount}`);
    return { charged: amount, updatedAt: new Date(0) };
  },
  { retry: { maxAttempts: 3, backoff: "10s" } },
);

export const afterPayment = workflow("after-payment", async (charge: Charge) => {
  const mail = confirm(charge);
  const update = updateUser(charge);
  const [mailId, user] = await Promise.all([mail, update]);
  return { mailId, ...user };
});
