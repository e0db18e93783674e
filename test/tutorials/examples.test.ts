// The commands of the examples' READMEs, run as a reader would.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { blocksOf, type PageBlock } from "./page-blocks.ts";
import { runPage } from "./run-page.ts";

const house = resolve(import.meta.dirname, "../..");

/** The commands of an example, block by block. */
const commandsOf = (example: string): readonly string[] =>
  blocksOf(readFileSync(join(house, "examples", example, "README.md"), "utf8"))
    .filter(({ info }) => info === "sh")
    .map(({ text }) => text);

const shell = (text: string): PageBlock => ({ info: "sh", text });
const prints = (text: string): PageBlock => ({ info: "text", text });

test.each([
  ["order-code", 2, '…{"status":"shipped","parcel":"parcel-1001"}…'],
  ["approval-code", 1, "…"],
  ["auction", 1, "…waits for the event…bid…"],
  ["fan-out", 1, '…{"first":"sea-1-small.jpg","last":"sea-100-small.jpg","bytes":100592}…'],
])("the commands of examples/%s run as they are written", async (example, count, shown) => {
  const [server = "", first = "", ...others] = commandsOf(example);

  expect([first, ...others]).toHaveLength(count);
  await runPage(
    [{ info: "sh server", text: server }, shell(first), prints(shown), ...others.map(shell)],
    { also: [`examples/${example}`] },
  );
});

test("the commands of the examples in BPMN run beside npm start", async () => {
  // The other orders take half a minute, and its own test runs them on a virtual clock.
  const [order = ""] = commandsOf("order");
  const [approval = ""] = commandsOf("approval");
  const [payment = ""] = commandsOf("payment");

  await runPage(
    [
      { info: "sh server", text: "npm start --" },
      shell(order),
      shell(approval),
      shell(payment),
      prints('…"outcome":"not paid in time"…'),
    ],
    { also: ["examples"] },
  );
});
