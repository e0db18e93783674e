import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkedBundle } from "../../../lib/embedded/checked-bundle.ts";
import { folderWith } from "../../bundler/author-folder.ts";

const checked = (text: string) => checkedBundle(join(folderWith({ "order.ts": text }), "order.ts"));

const SDK = 'import { step, workflow } from "fermata-engine/workflow";';

describe("a bundle that is checked", () => {
  test("gets what the analysis finds beside what cannot be imported", async () => {
    const { ok, diagnostics } = await checked(`${SDK}
import { hostname } from "node:os";
export const order = workflow("order", () => Promise.all([hostname(), fetch("a")]));`);

    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([
      { severity: "error", code: "code/node-module", file: "order.ts", line: 2 },
      { severity: "warning", code: "code/native-promise", file: "order.ts", line: 3 },
      { severity: "error", code: "code/not-in-workflow", file: "order.ts", line: 3 },
    ]);
  });

  test("is used with its warnings", async () => {
    const { ok, diagnostics } = await checked(
      `${SDK}\nexport const order = workflow("order", () => Promise.all([import.meta.url]));`,
    );

    expect(ok).toBe(true);
    expect(diagnostics.map(({ code }) => code)).toEqual(["code/suspicious", "code/native-promise"]);
  });

  test("is not analysed where steps could not be told from workflows", async () => {
    const { ok, diagnostics } = await checked(`${SDK}
const mark = (_: unknown) => {};
export @mark class Late {}
export const order = workflow("order", () => Late);
export const s = step("s", () => fetch("a"));`);

    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([{ code: "code/syntax", file: "order.ts", line: 3 }]);
  });

  test("has the problems of its syntax alone, if there are any", async () => {
    const { ok, source, diagnostics } = await checked(`${SDK}\nexport const = fetch;`);

    expect([ok, source]).toEqual([false, undefined]);
    expect(diagnostics).toMatchObject([{ code: "code/syntax", line: 2 }]);
  });
});
