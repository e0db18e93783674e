// The engine as an adapter of a benchmark that puts several engines through the same workloads:
// `create({ dir, hooks })` answers with `start(kind, id)` and the like. Run it with the pinned Node.
// The engine has no signals yet: `wait` parks on a timer that is far away, and nothing wakes it.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../lib/api/version.ts";
import { openEngine } from "../lib/embedded/index.ts";
import { fan, sequence, sleeper } from "./processes.ts";

const DAY_MS = 86_400_000;

export async function create({ dir, hooks }) {
  const dataDir = join(dir, "fermata");
  const engine = await openEngine({
    dataDir,
    tasks: { step: () => ({ n: 1 }) },
    onTrail: ({ instanceId, type, element }) => {
      if (type === "instance-ended") hooks.hit(instanceId, "end");
      if (type === "element-entered" && element === "nap") hooks.hit(instanceId, "waiting");
    },
  });
  await engine.deploy(sequence("seq10", 10));
  await engine.deploy(fan("fan100", 100));
  await engine.deploy(sleeper("sleep1s", "PT1S"));
  await engine.deploy(sleeper("wait", "P30D"));
  return {
    name: "fermata",
    variant: "embedded, library",
    version: VERSION,
    durability: "on disk; SQLite WAL, every acknowledged commit flushed (group commit per turn)",
    completion: "push",
    ackMeans: "the instance and what it owes are flushed",
    noSignal: "signals come with a later release",
    dataDir,
    start: async (kind, instanceId) => {
      // Counted from the call, before anything is written: no kinder to us than to others.
      if (kind === "sleep1s") hooks.hit(instanceId, "sleep");
      await engine.start(kind, { instanceId });
      return { result: () => engine.result(instanceId, { timeoutMs: DAY_MS }) };
    },
    diskBytes: () =>
      readdirSync(dataDir).reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0),
    diskNote: "sizes of the data folder's files",
    stop: () => engine.close(),
  };
}
