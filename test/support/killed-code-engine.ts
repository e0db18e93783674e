// A program that serves an engine with a workflow in code on the given folder, until it is killed.
import { openSync } from "node:fs";
import { join } from "node:path";
import { openEngine, serveEngine } from "../../lib/embedded/index.ts";

const [, , dataDir = "", ledgerFile = "", life = "", concurrency = ""] = process.argv;
Object.assign(globalThis, { killed: { ledger: openSync(ledgerFile, "a"), life } });

const engine = await openEngine({
  dataDir,
  concurrency: Number(concurrency),
  workflows: join(import.meta.dirname, "killed-workflows"),
  onTrouble: (message) => process.stderr.write(`${message}\n`),
});
const { url } = await serveEngine(engine, {
  port: 0,
  onUnexpected: (id, error) => process.stderr.write(`${id} ${String(error)}\n`),
});
process.stdout.write(`${JSON.stringify({ url, recovered: await engine.recovered })}\n`);
