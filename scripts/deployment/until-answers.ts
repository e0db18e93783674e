import type { Client } from "../../lib/client/index.ts";

const WITHIN_MS = 60_000;

/** Waits until the API of a deployment reports that it is healthy. */
export async function untilAnswers(client: Client): Promise<void> {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const failure = await client.health().then(
      () => undefined,
      (cause: unknown) => cause,
    );
    if (failure === undefined) return;
    if (Date.now() > deadline) {
      throw new Error(`The API did not answer within ${WITHIN_MS / 1_000} s: ${String(failure)}`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
}
