/** The exports of a module. */
export type Exports = Readonly<Record<string, unknown>>;

/** It has an `import()` of its own, which tools that rewrite the one in this file do not reach. */
const IMPORTER = "data:text/javascript,export const native = (url) => import(url);";

/** Imports a module with Node itself, even where a test runner loads the engine. */
export async function nativeImport(url: string): Promise<Exports> {
  const { native } = (await import(/* @vite-ignore */ IMPORTER)) as {
    native: (url: string) => Promise<Exports>;
  };
  return native(url);
}
