import { SimulatedStore, type StoreWorld } from "../../lib/adapters/simulated/store.ts";
import { storeContract } from "./store.contract.ts";

storeContract("the simulated store", opened({}), { inCallOrder: true });
storeContract("the simulated store in a world", opened({ turn: async () => undefined }));

function opened(world: StoreWorld) {
  return async () => {
    const store = new SimulatedStore(world);
    return { store, close: () => store.close() };
  };
}
