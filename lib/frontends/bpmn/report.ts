import type { Diagnostic } from "../../definition/diagnostic.ts";
import { MAX_DIAGNOSTICS } from "../../definition/limits.ts";
import type { BpmnCode } from "./codes.ts";
import { idOf } from "./source.ts";
import type { XmlElement } from "./xml.ts";

/** What is wrong with one element, and what to write instead. */
type Finding = Readonly<{
  code: BpmnCode;
  at: XmlElement;
  message: string;
  hint: string;
}>;

/** Collects every diagnostic of one compilation, in the order in which they are found. */
export type Report = Readonly<{
  /** The file cannot run as it is. Returns undefined, so that a parser can end with it. */
  refuse(finding: Finding): undefined;
  /** The file runs, though perhaps not as its author expects. */
  warn(finding: Finding): void;
  hasErrors(): boolean;
  /** By line; beyond the limit only their number is given. */
  diagnostics(): readonly Diagnostic[];
}>;

/** An empty report. */
export function startReport(): Report {
  const found: Diagnostic[] = [];
  const omitted = { error: 0, warning: 0 };
  let errors = 0;

  function add(severity: Diagnostic["severity"], { code, at, message, hint }: Finding): void {
    if (found.length >= MAX_DIAGNOSTICS) {
      omitted[severity] += 1;
      return;
    }
    const id = idOf(at);
    const element = id === "" ? {} : { element: id };
    found.push({ severity, code, message, ...element, line: at.line, hint });
  }

  return {
    refuse(finding) {
      errors += 1;
      add("error", finding);
      return undefined;
    },
    warn: (finding) => add("warning", finding),
    hasErrors: () => errors > 0,
    diagnostics() {
      const byLine = found.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
      const more = omitted.error + omitted.warning;
      if (more === 0) return byLine;
      const severity = omitted.error > 0 ? "error" : "warning";
      const message = `${more} further problems are not listed.`;
      const hint = "Fix the ones above, then check the file again.";
      return [...byLine, { severity, code: "bpmn/too-many-problems", message, hint }];
    },
  };
}
