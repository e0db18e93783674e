// A program that runs this many ten-task instances in the given folder, each after the previous one
// has ended, and prints how many writes of the store were acknowledged for them.

import { openEngine } from "../../lib/embedded/index.ts";
import { end, extensions, file, flow, job, start, process as workflow, xml } from "./bpmn-xml.ts";

const [, , dataDir = "", count = "0"] = process.argv;
const tasks = Array.from({ length: 10 }, (_, n) => `t${n + 1}`);
const path = ["start", ...tasks, "end"];

const engine = await openEngine({ dataDir, tasks: { work: () => ({}) }, concurrency: 1 });
await engine.deploy(
  file(
    workflow(
      ...[start(), end()],
      ...tasks.map((id) => xml("serviceTask", { id }, extensions(job("work")))),
      ...path.slice(1).map((to, n) => flow(`f${n}`, path[n] ?? "", to)),
    ),
  ),
);
const before = engine.counters().writes;
for (let n = 0; n < Number(count); n++) {
  const { instanceId } = await engine.start("p", {});
  const { status } = await engine.result(instanceId);
  if (status !== "succeeded") throw new Error(`the instance ended ${status}`);
}
const acknowledged = engine.counters().writes - before;
await engine.close();
process.stdout.write(`${acknowledged}\n`);
