// A program that reaches waiting instances in the given folder, one after another: this many by a
// message each, and as many by a signal each. Every call is made after the previous one got its
// response and everything is at rest. Prints how many commits were acknowledged in sequence for
// them. The commits of a signal's call are counted by hand, because the bus's copy runs beside it
// and may share a flush with it: the number, the place, the broadcast itself, and its recipient's
// step.

import { openEngine } from "../../lib/embedded/index.ts";
import { aMessage, aSignal, beside, catching, onMessage, onSignal, sequence } from "./bpmn-xml.ts";

const [, , dataDir = "", count = "0"] = process.argv;
const rounds = Number(count);
const waits = {
  signal: beside(sequence(catching("wait", onSignal("go"))), aSignal("go")),
  message: beside(sequence(catching("wait", onMessage("paid"))), aMessage("paid", { key: "=key" })),
};

const engine = await openEngine({ dataDir, concurrency: 1 });
for (const [id, source] of Object.entries(waits)) {
  await engine.deploy(source.replace('id="p"', () => `id="${id}"`));
}
const COMMITS_OF_A_SIGNAL = 4;
let acknowledged = 0;
for (let n = 0; n < rounds; n++) {
  const key = `k${n}`;
  const before = engine.counters().commits;
  const paid = await engine.start("message", { variables: { key } });
  const gone = await engine.start("signal", {});
  await engine.message({ name: "paid", correlationKey: key });
  await engine.idle();
  acknowledged += engine.counters().commits - before;
  await engine.signal("go", {});
  acknowledged += COMMITS_OF_A_SIGNAL;
  await engine.idle();
  for (const { instanceId } of [paid, gone]) {
    const { status } = await engine.result(instanceId);
    if (status !== "succeeded") throw new Error(`the instance ended ${status}`);
  }
}
await engine.close();
process.stdout.write(`${acknowledged}\n`);
