// The engine as an adapter for a benchmark that runs the same workloads on several engines:
// `create({ dir, hooks })` returns `start(kind, id)` and the like. Run it with the pinned Node. The
// kinds: `seq10` ten steps, `fan100` a hundred at once, `sleep1s` a timer, `wait` a message to one
// instance, which `signal(id)` sends, `waitAny` a signal, which `broadcast()` sends to all.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../lib/api/version.ts";
import { openEngine } from "../lib/embedded/index.ts";
import { fan, messageWaiter, sequence, signalWaiter, sleeper } from "./processes.ts";

/** The kinds whose definition has another name: `wait` is an element there. */
const DEFINITIONS = new Map([
  ["wait", "wait-one"],
  ["waitAny", "wait-any"],
]);
const DAY_MS = 86_400_000;

export async function create({ dir, hooks }) {
  const dataDir = join(dir, "fermata");
  const engine = await openEngine({
    dataDir,
    tasks: { step: () => ({ n: 1 }) },
    onTrail: ({ instanceId, type, element }) => {
      if (type === "instance-ended") hooks.hit(instanceId, "end");
      if (type === "element-entered" && element === "wait") hooks.hit(instanceId, "waiting");
    },
  });
  await engine.deploy(sequence("seq10", 10));
  await engine.deploy(fan("fan100", 100));
  await engine.deploy(sleeper("sleep1s", "PT1S"));
  await engine.deploy(messageWaiter("wait-one", "go"));
  await engine.deploy(signalWaiter("wait-any", "go-all"));
  return {
    name: "fermata",
    variant: "embedded, library",
    version: VERSION,
    durability: "on disk; SQLite WAL, every acknowledged commit flushed (group commit per turn)",
    completion: "push",
    ackMeans: "the instance and what it owes are flushed",
    dataDir,
    start: async (kind, instanceId) => {
      // Counted from the call, before anything is written, as for the other engines.
      if (kind === "sleep1s") hooks.hit(instanceId, "sleep");
      const definition = DEFINITIONS.get(kind) ?? kind;
      await engine.start(definition, { instanceId, variables: { key: instanceId } });
      return { result: () => engine.result(instanceId, { timeoutMs: DAY_MS }) };
    },
    signal: (instanceId) => engine.message({ name: "go", correlationKey: instanceId }),
    broadcast: () => engine.signal("go-all", {}),
    diskBytes: () =>
      readdirSync(dataDir).reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0),
    diskNote: "sizes of the data folder's files",
    stop: () => engine.close(),
  };
}
