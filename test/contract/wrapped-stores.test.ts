// Stores that count the calls to other stores: their users must not notice.

import { observedStore } from "../../functions/observed-world.ts";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { Ledger } from "../../lib/cost/ledger.ts";
import { meteredStore } from "../../lib/cost/metered-store.ts";
import type { Store } from "../../lib/ports/store.ts";
import { HeardTelemetry } from "../support/queue-events.ts";
import { storeContract } from "./store.contract.ts";

storeContract(
  "the store of a function",
  opened((store) => observedStore(store, new HeardTelemetry())),
  { inCallOrder: true },
);
storeContract(
  "the store of an estimate",
  opened((store) => meteredStore(store, new Ledger())),
);

function opened(wrapped: (store: Store) => Store) {
  return async () => {
    const store = wrapped(new SimulatedStore());
    return { store, close: () => store.close() };
  };
}
