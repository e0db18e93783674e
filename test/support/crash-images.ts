import { cpSync } from "node:fs";
import { aDataDir } from "./embedded.ts";

/**
 * Copies a data folder after every commit, before anything that the commit asks for is done: what a
 * process finds that is started after a crash at that moment.
 */
export function crashImages<T>(dataDir: string, noteAt: () => T) {
  const images: Readonly<{ dataDir: string; noted: T }>[] = [];
  let isTaken = false;
  const onTrail = () => {
    if (isTaken) return;
    isTaken = true;
    // The other entries of the same commit are reported in the same turn.
    queueMicrotask(() => {
      isTaken = false;
    });
    const image = aDataDir();
    cpSync(dataDir, image, { recursive: true });
    images.push({ dataDir: image, noted: noteAt() });
  };
  return { images, onTrail };
}
