// Inngest, "Rollbacks" and "Inngest errors": a picture by one provider, and by another one if the first fails.
// Changed: a NonRetriableError is an error with a code; the notification of the user is left out.
import { BusinessError, step, TaskFailed, TimedOut, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

type Request = { provider: string; prompt: string };

export const draw = step("picture-draw", async ({ provider, prompt }: Request, context) => {
  did(context, `ask ${provider}, attempt ${context.attempt}`);
  if (prompt === "") throw new BusinessError("NO_PROMPT", "There is nothing to draw.");
  if (prompt.includes(`not ${provider}`)) throw new Error(`${provider} is overloaded.`);
  return `${provider}: ${prompt}`;
});

export const picture = workflow("picture", async (prompt: string) => {
  try {
    return await draw({ provider: "first", prompt }, { retry: { maxAttempts: 2, backoff: "5s" } });
  } catch (error) {
    if (!(error instanceof TaskFailed) || error.code !== undefined) throw error;
    const { type, attempts } = error;
    const drawn = await draw({ provider: "second", prompt }, { timeout: "1m" }).catch(tooLate);
    return `${drawn} (${type} failed ${attempts} times before)`;
  }
});

function tooLate(error: unknown): string {
  if (error instanceof TimedOut) return "no picture";
  throw error;
}
