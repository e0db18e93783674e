// A program that reaches waiting instances in the folder it is given, one after another: so many
// by a message each, and as many by a signal each. Every call is made when the one before was
// answered and all is at rest. Prints how many commits were acknowledged one after the other for
// them. What a signal's call commits is counted by hand, since the bus's copy works beside it and may
// share a flush with it: the number, the place, the broadcast itself, and its taker's step.

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
