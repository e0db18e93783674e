// Inngest, "Email sequence" example: what a new user gets depends on a click in the welcome mail.
// Changed: the trigger is the start of an instance; `match: "data.userId"` is the key of a message.
import { delay, message, race, step, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type NewUser = { userId: string; email: string };

export const sendMail = step(
  "sequence-mail",
  async ({ to, subject }: { to: string; subject: string }, context) =>
    did(context, `${subject} to ${to}`),
);
export const planOf = step("sequence-plan", async (userId: string) =>
  userId.startsWith("paying-") ? "pro" : "trial",
);

export const emailSequence = workflow("email-sequence", async ({ userId, email }: NewUser) => {
  await sendMail({ to: email, subject: "welcome" });
  const click = await waitForMessage("mail-clicked", userId, "3d");
  if (click !== null) {
    await delay("1d");
    await sendMail({ to: email, subject: "tips for professionals" });
    return { clicked: click.link };
  }
  if ((await planOf(userId)) === "trial") await sendMail({ to: email, subject: "trial offer" });
  return { clicked: null };
});

/** `step.waitForEvent` with its timeout: the payload, or null when the time is over. */
async function waitForMessage(name: string, key: string, timeout: string) {
  const first = await race({ came: message<{ link: string }>(name, key), over: delay(timeout) });
  return first.key === "came" ? first.value : null;
}
