// Restate, "Workflows" (user sign-up): a link in a mail resolves a durable promise of the workflow.
// Changed: the promise is an event to the instance, whose id is the id of the user; status queries are left out.
import { event, instance, step, uuid, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type User = { name: string; email: string };

export const createUser = step("signup-create-user", async ({ name }: User, context) =>
  did(context, `create ${name}`),
);
export const sendLink = step(
  "signup-send-link",
  async ({ user, secret }: { user: User; secret: string }, context) =>
    did(context, `link for ${context.instanceId} to ${user.email}: ${secret}`),
);

export const signUp = workflow("sign-up", async (user: User) => {
  const userId = instance.id;
  await createUser(user);
  const secret = uuid();
  await sendLink({ user, secret });
  const clicked = await event<{ secret: string }>("link-clicked");
  return { userId, verified: clicked.secret === secret };
});
