import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MUTANTS } from "./mutants/all-mutants.ts";
import { SCENARIOS } from "./scenarios/all-scenarios.ts";

/** Rows of the table of races, each as its cells. */
const rows = readFileSync("docs/explanation/simulation.md", "utf8")
  .split("## Mutants")[1]
  ?.split("## Models")[0]
  ?.split("\n")
  .filter((line) => line.startsWith("| ") && line.includes("`"))
  .map((line) => line.split("|").map((cell) => cell.trim()));

const namesIn = (cell = ""): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

describe("the table of races in the documentation", () => {
  test("names scenarios and mutants that exist", () => {
    const scenarios = new Set(SCENARIOS.map(({ name }) => name));
    const mutants = new Set(MUTANTS.map(({ name }) => name));

    expect(rows?.length).toBeGreaterThan(5);
    expect(
      (rows ?? []).flatMap(([, , cell]) => namesIn(cell)).filter((it) => !scenarios.has(it)),
    ).toEqual([]);
    expect(
      (rows ?? []).flatMap(([, , , cell]) => namesIn(cell)).filter((it) => !mutants.has(it)),
    ).toEqual([]);
  });
});
