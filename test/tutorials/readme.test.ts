import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { blocksOf } from "./page-blocks.ts";
import { runPage } from "./run-page.ts";

const readme = readFileSync(join(resolve(import.meta.dirname, "../.."), "README.md"), "utf8");

test("the two commands of the README run a workflow in TypeScript to its end", async () => {
  const found = blocksOf(readme).find(({ text }) => text.includes("dev --no-examples --workflows"));
  const [server = "", start = "", ...others] = found?.text.trim().split("\n") ?? [];

  await runPage(
    [
      { info: "sh server", text: server },
      { info: "sh", text: start },
      { info: "text", text: '…"status":"shipped"…' },
    ],
    { also: ["examples/order-code/workflows"] },
  );

  expect(others).toEqual([]);
});
