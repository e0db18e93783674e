import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MAX_DIAGNOSTICS } from "../../../lib/definition/limits.ts";
import { BPMN_CODES } from "../../../lib/frontends/bpmn/codes.ts";
import {
  file,
  flow,
  process,
  sequence,
  service,
  start,
  timer,
  xml,
} from "../../support/bpmn-xml.ts";
import { compile, errorsOf, warningsOf } from "./compiling.ts";
import { EXTENSION_ERRORS } from "./extension-refusal-cases.ts";
import { LOOP_ERRORS } from "./loop-refusal-cases.ts";
import { NAMED_ERRORS, NAMED_WARNINGS } from "./named-refusal-cases.ts";
import { PERSON_ERRORS, PERSON_WARNINGS } from "./person-refusal-cases.ts";
import { ERRORS, UNSUPPORTED, WARNINGS } from "./refusal-cases.ts";

describe("a BPMN file that cannot run", () => {
  for (const [code, cases] of [
    ...Object.entries({
      ...ERRORS,
      ...NAMED_ERRORS,
      ...PERSON_ERRORS,
      "bpmn/unsupported-element": UNSUPPORTED,
    }),
    ...Object.entries(LOOP_ERRORS),
    ...Object.entries(EXTENSION_ERRORS),
  ]) {
    for (const { why, source, element, line } of cases) {
      test(`is refused as ${code}: ${why} (F1)`, async () => {
        const { ok, diagnostics } = await compile(source);
        const errors = diagnostics.filter(({ severity }) => severity === "error");

        expect(ok).toBe(false);
        expect(new Set(errors.map((error) => error.code))).toEqual(new Set([code]));
        expect(errors).toHaveLength(1);
        if (element !== undefined) expect(errors[0]?.element).toBe(element);
        if (line !== undefined) expect(errors[0]?.line).toBe(line);
        expect(errors[0]?.message).toMatch(/^.+\.$/s);
        expect(errors[0]?.hint).toMatch(/^.+\.$/s);
      });
    }
  }

  test("gets every problem at once, by line (F1)", async () => {
    const source = file(
      process(
        start(),
        xml("serviceTask", { id: "t" }),
        xml("adHocSubProcess", { id: "u" }),
        xml("intermediateCatchEvent", { id: "c" }, timer("timeDuration", "soon")),
        flow("f1", "start", "t"),
        flow("f2", "t", "nowhere"),
      ),
      xml("process", { id: "q", isExecutable: "true" }),
    );

    expect(await errorsOf(source)).toEqual([
      "bpmn/task-without-type",
      "bpmn/unsupported-element",
      "bpmn/invalid-timer",
      "bpmn/dangling-flow",
      "bpmn/no-start-event",
    ]);
  });

  test("gets the rule of the duration that it violates (F11)", async () => {
    const { diagnostics } = await compile(
      sequence(xml("intermediateCatchEvent", { id: "c" }, timer("timeDuration", "PT1.5H"))),
    );

    expect(diagnostics[0]?.message).toContain('"PT1.5H" is not a duration');
    expect(diagnostics[0]?.hint).toContain("PT1H30M");
  });

  test("gets the number of problems that are not listed", async () => {
    const tasks = Array.from({ length: MAX_DIAGNOSTICS + 5 }, (_, n) =>
      xml("serviceTask", { id: `t${n}` }),
    );

    const { diagnostics } = await compile(file(process(start(), ...tasks)));

    expect(diagnostics).toHaveLength(MAX_DIAGNOSTICS + 1);
    expect(diagnostics.at(-1)).toMatchObject({ severity: "error", code: "bpmn/too-many-problems" });
    expect(diagnostics.at(-1)?.message).toMatch(/^\d further/);
  });

  test("gets no endless-loop error when the loop contains a refused task", async () => {
    const inner = xml("subProcess", { id: "s" }, start("i"), xml("serviceTask", { id: "u" }));

    expect(await errorsOf(sequence(inner, flow("f3", "s", "s")))).toEqual([
      "bpmn/task-without-type",
    ]);
  });
});

describe("a BPMN file that runs differently from how it looks", () => {
  for (const [code, cases] of Object.entries({
    ...WARNINGS,
    ...NAMED_WARNINGS,
    ...PERSON_WARNINGS,
  })) {
    for (const { why, source, element, line } of cases) {
      test(`compiles with the warning ${code}: ${why}`, async () => {
        const { ok, diagnostics } = await compile(source);
        const told = diagnostics.find((one) => one.code === code);

        expect(ok).toBe(true);
        expect(told).toMatchObject({ severity: "warning", element, line });
        expect(told?.hint).toMatch(/^.+\.$/s);
      });
    }
  }

  test("is otherwise compiled without a warning", async () => {
    expect(await warningsOf(sequence(service("t")))).toEqual([]);
  });
});

describe("every code of the BPMN front end", () => {
  const headings = readFileSync(
    new URL("../../../docs/reference/diagnostics.md", import.meta.url),
    "utf8",
  )
    .split("\n")
    .filter((line) => line.startsWith("## bpmn/"))
    .map((line) => line.slice("## ".length));

  test("has its heading in the reference, and every heading a code", () => {
    expect(headings.toSorted()).toEqual(BPMN_CODES.toSorted());
  });

  test("is provoked by a case above", () => {
    const provoked = new Set([
      ...Object.keys(ERRORS),
      ...Object.keys(NAMED_ERRORS),
      ...Object.keys(LOOP_ERRORS),
      ...Object.keys(PERSON_ERRORS),
      ...Object.keys(WARNINGS),
      ...Object.keys(NAMED_WARNINGS),
      ...Object.keys(PERSON_WARNINGS),
      "bpmn/unsupported-element",
      "bpmn/too-many-problems",
    ]);

    expect([...provoked].toSorted()).toEqual(BPMN_CODES.toSorted());
  });
});
