// Temporal, samples-typescript "saga": an account with an address, a client and a bank account.
// Changed: compensations are calls of steps; log lines through sinks are left out.
import { BusinessError, step, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type OpenAccount = { accountId: string; address: string; email: string; iban: string };

/** A call of one of the services. It refuses values that contain "bad". */
export const callService = step(
  "account-service",
  async ({ call, value }: { call: string; value: string }, context) => {
    if (value.includes("bad")) throw new BusinessError("REFUSED", `${call} refused ${value}`);
    did(context, `${call} ${value}`);
  },
  { timeout: "3s" },
);

export const openAccount = workflow("open-account", async (request: OpenAccount) => {
  const { accountId, address, email, iban } = request;
  const undo: (() => Promise<unknown>)[] = [];
  const compensation = (call: string) => () => callService({ call, value: accountId });

  await callService({ call: "create account", value: accountId });
  try {
    await callService({ call: "add address", value: address });
    undo.unshift(compensation("clear addresses"));
    await callService({ call: "add client", value: email });
    undo.unshift(compensation("remove client"));
    await callService({ call: "add bank account", value: iban });
    undo.unshift(compensation("disconnect bank accounts"));
  } catch (error) {
    await compensate(undo);
    throw error;
  }
});

/** Compensates in order. One that fails is skipped, as in the sample. */
async function compensate(undo: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const one of undo) {
    try {
      await one();
    } catch {}
  }
}
