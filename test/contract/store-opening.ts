import type { Store } from "../../lib/ports/store.ts";

/** An empty store, and how to remove all of it. */
export type OpenedStore = Readonly<{ store: Store; close(): Promise<void> }>;

/** What an adapter promises beyond the port: concurrent commits are applied in call order. */
export type StorePromises = Readonly<{ inCallOrder?: true }>;
