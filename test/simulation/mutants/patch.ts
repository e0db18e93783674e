// Patches one source file while it is loaded. The caller must not have imported that file yet.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./protocol.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** From now on the file is loaded with the mutant's patch in it. */
export function plant({ name, file, find, replace }: Mutant): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith("file:") || fileURLToPath(url) !== `${ROOT}${file}`) return loaded;
      const source = String(loaded.source);
      const places = source.split(find).length - 1;
      if (places !== 1) {
        throw new Error(
          `The mutant "${name}" fits ${places} places in ${file}. Make it fit one again.`,
        );
      }
      return { ...loaded, source: source.replace(find, () => replace) };
    },
  });
}
