// Patches one source file while it is loaded. The caller must not have imported that file yet.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { type Mutant, patchesOf } from "./protocol.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** From now on its files are loaded with the mutant's patches in them. */
export function plant(mutant: Mutant): void {
  const patches = new Map(patchesOf(mutant).map((patch) => [`${ROOT}${patch.file}`, patch]));
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const patch = url.startsWith("file:") ? patches.get(fileURLToPath(url)) : undefined;
      if (patch === undefined) return loaded;
      const { file, find, replace } = patch;
      const source = String(loaded.source);
      const places = source.split(find).length - 1;
      if (places !== 1) {
        throw new Error(
          `The mutant "${mutant.name}" fits ${places} places in ${file}. Make it fit one again.`,
        );
      }
      return { ...loaded, source: source.replace(find, () => replace) };
    },
  });
}
