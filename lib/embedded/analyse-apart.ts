import { Worker } from "node:worker_threads";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { analyseBundle } from "../frontends/code/analyse.ts";

/**
 * Analyses a bundle; a large one in a thread of its own, since that can take seconds, in which the
 * engine has to serve others.
 */
export async function analyseApart(source: string): Promise<readonly Diagnostic[]> {
  if (source.length <= LARGE) return analyseBundle(source);
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./analyse-worker.${extension}`, import.meta.url), {
    workerData: source,
    name: "fermata-analysis",
    // Those of the process may be for its own main file, as --eval is.
    execArgv: [],
  });
  const { promise, resolve, reject } = Promise.withResolvers<readonly Diagnostic[]>();
  worker.on("message", resolve);
  worker.on("error", reject);
  worker.on("exit", () => reject(new Error("The thread that analyses bundles has ended.")));
  try {
    return await promise;
  } finally {
    await worker.terminate();
  }
}

/**
 * In characters. Analysing as much takes about 0.1 s for ordinary code and 0.6 s at worst; starting the
 * thread takes 0.2 s.
 */
const LARGE = 100_000;
