import type { Compiled } from "./definition.ts";

/** An author's mistake, described so that the author can fix it. Codes are promises. */
export type Diagnostic = Readonly<{
  severity: "error" | "warning";
  /** Such as `bpmn/timer-without-value`; each has its heading in docs/reference/diagnostics.md. */
  code: string;
  message: string;
  /** The id of the element, where there is one. */
  element?: string;
  /** The author's file, where the source was made from several. */
  file?: string;
  /** Line and column count from 1. */
  line?: number;
  column?: number;
  hint: string;
}>;

/** Either every process of the source, or every error at once; warnings come with both. */
export type Compilation = Readonly<
  | { ok: true; processes: readonly Compiled[]; diagnostics: readonly Diagnostic[] }
  | { ok: false; diagnostics: readonly Diagnostic[] }
>;

/** Text in, definitions or diagnostics out; reads no files and keeps nothing. */
export type Compiler = (source: string) => Promise<Compilation>;
