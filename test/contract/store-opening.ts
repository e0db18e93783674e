import type { Store } from "../../lib/ports/store.ts";

/** An empty store, and how to leave nothing of it behind. */
export type OpenedStore = Readonly<{ store: Store; close(): Promise<void> }>;

/** What an adapter promises beyond the port: commits made at once are done in call order. */
export type StorePromises = Readonly<{ inCallOrder?: true }>;
