import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { keptIn, promisesIn } from "../../scripts/acceptance/promises.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/reference/promises.md"), "utf8");

describe("the page of promises", () => {
  test("states every number once, as kept or planned", () => {
    const numbers = promisesIn(page).map(({ number }) => number);
    const states = new Set(promisesIn(page).map(({ state }) => state));

    expect(new Set(numbers).size).toBe(numbers.length);
    expect([...states].sort()).toEqual(["kept", "planned"]);
    expect(keptIn(page).length).toBeGreaterThanOrEqual(101);
  });

  test("has every number that a test carries in its name", () => {
    const known = new Set(promisesIn(page).map(({ number }) => number));

    const unknown = [...numbersInTests()].filter((number) => !known.has(number));

    expect(unknown).toEqual([]);
  });
});

function numbersInTests(): ReadonlySet<string> {
  const named = /(?:test|describe)(?:\.each\([^)]*\))?\(\s*["'`]([^"'`]*)["'`]/g;
  return new Set(
    testFiles().flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(named)].flatMap(([, name = ""]) => [
        ...(name.match(/\b[FRJDS]\d+\b/g) ?? []),
        ...(name.match(/(?<=\()T\d+(?=\))/g) ?? []),
      ]),
    ),
  );
}

function testFiles(): readonly string[] {
  return ["test", "examples"].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => join(root, room, file)),
  );
}
