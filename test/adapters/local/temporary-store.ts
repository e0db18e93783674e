import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type LocalStore,
  type LocalStoreOptions,
  openLocalStore,
} from "../../../lib/adapters/local/store.ts";

/** An empty folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fermata-local-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store in the folder that is closed when the test ends. */
export function openedIn(
  folder: string,
  options: Omit<LocalStoreOptions, "folder"> = {},
): LocalStore {
  const store = openLocalStore({ folder, ...options });
  onTestFinished(() => store.close());
  return store;
}
