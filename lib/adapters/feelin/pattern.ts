/**
 * Matches regular expressions. They are JavaScript's, in Unicode mode, but JavaScript's own engine
 * backtracks: a short pattern may run for years. RE2 takes time that grows with the text alone, so
 * it can be charged in steps; it matches whatever it supports. The rest (lookahead,
 * back-references) is run by JavaScript under a watchdog. All patterns of a decision share a
 * limited time.
 */
import { type Context, createContext, Script } from "node:vm";
import { RE2JS } from "re2js";
import { MAX_COMPILED_PATTERNS, MAX_PATTERN_LENGTH } from "./limits.ts";
import { toLinear } from "./linear-pattern.ts";
import { charge, EvaluationFailed, type Run } from "./run.ts";

/** A pattern, ready to match. */
export type Pattern = Readonly<{
  native: RegExp;
  /** Without repetitions, groups and alternatives: no engine has anything to backtrack to. */
  isPlain: boolean;
  linear: RE2JS | undefined;
  /** Characters of a text for which RE2 would find other lines, or words, than JavaScript. */
  odd: RegExp | undefined;
}>;

/** Compiles a pattern; undefined when it is invalid. */
export function compilePattern(run: Run, source: string, flags = ""): Pattern | undefined {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new EvaluationFailed(`a pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  const name = `${flags}/${source}`;
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const pattern = timed(run, () => tryCompile(source, flags));
  if (pattern === undefined) return undefined;
  compiled.set(name, pattern);
  const [oldest] = compiled.keys();
  if (compiled.size > MAX_COMPILED_PATTERNS && oldest !== undefined) compiled.delete(oldest);
  return pattern;
}

/** Whether the pattern is found anywhere in the text. */
export function isFound(run: Run, pattern: Pattern, text: string): boolean {
  return search(run, pattern, text, {
    linear: (engine) => engine.test(text),
    native: () => text.search(pattern.native) !== -1,
  });
}

/** All matches, one after the other, with their groups. */
export function findAll(run: Run, pattern: Pattern, text: string): readonly RegExpMatchArray[] {
  // One search takes linear time; a search for each of many matches may not.
  const end = busyMs() + run.budget.patternMs;
  return search(run, pattern, text, {
    linear: (engine) => [...inTime(end, charged(run, engine.matchAll(text)))],
    native: () => [...charged(run, text.matchAll(pattern.native))],
  });
}

type Search<T> = Readonly<{ linear: (engine: RE2JS) => T; native: () => T }>;

function search<T>(run: Run, pattern: Pattern, text: string, by: Search<T>): T {
  const { isPlain, native, odd } = pattern;
  // At most, every character meets every part of the pattern.
  const pay = (size: number) => charge(run, 1 + Math.ceil((size * text.length) / 16));
  if (isPlain) {
    pay(native.source.length / 4);
    return timed(run, by.native);
  }
  const linear = odd?.test(text) ? undefined : pattern.linear;
  if (linear === undefined) return watched(run, by.native);
  pay(linear.programSize());
  return timed(run, () => by.linear(linear));
}

const compiled = new Map<string, Pattern>();

function tryCompile(source: string, flags: string): Pattern | undefined {
  const native = tryTo(() => new RegExp(source, `gu${flags}`));
  if (native === undefined) return undefined;
  const isPlain = !/[*+?{|(]/.test(source);
  const text = isPlain ? undefined : toLinear(source, flags);
  const fold = flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0;
  const linear =
    text === undefined ? undefined : tryTo(() => RE2JS.compile(text, RE2JS.LOOKBEHINDS | fold));
  return { native, isPlain, linear, odd: oddFor(source, flags) };
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function oddFor(source: string, flags: string): RegExp | undefined {
  const lines = flags.includes("m") && /[$^]/.test(source) ? "\\r\\u2028\\u2029" : "";
  const words = flags.includes("i") && /\\[bw]/i.test(source) ? "\\u017f\\u212a" : "";
  return lines + words === "" ? undefined : new RegExp(`[${lines}${words}]`);
}

function* charged(run: Run, matches: Iterable<RegExpMatchArray>): Iterable<RegExpMatchArray> {
  for (const match of matches) {
    charge(run, match.length);
    yield match;
  }
}

function* inTime<T>(end: number, items: Iterable<T>): Iterable<T> {
  for (const item of items) {
    if (busyMs() > end) throw tooSlow();
    yield item;
  }
}

function timed<T>(run: Run, work: () => T): T {
  if (run.budget.patternMs <= 0) throw tooSlow();
  const begun = busyMs();
  try {
    return work();
  } finally {
    run.budget.patternMs -= busyMs() - begun;
  }
}

/** CPU time of this thread: load of the machine does not count against a pattern. */
function busyMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The watchdog costs a fraction of a millisecond; it uses wall-clock time. */
function watched<T>(run: Run, work: () => T): T {
  return timed(run, () => {
    const results: T[] = [];
    box.work = () => {
      results.push(work());
    };
    try {
      realm ??= createContext({ call: () => box.work() });
      CALL.runInContext(realm, { timeout: Math.ceil(run.budget.patternMs) });
    } catch (error) {
      if (!isTimeout(error)) throw error;
      run.budget.patternMs = 0;
      throw tooSlow();
    }
    const [result] = results;
    if (result === undefined) throw new EvaluationFailed("a pattern gave no result");
    return result;
  });
}

const tooSlow = () =>
  new EvaluationFailed(
    "its patterns, and those of other expressions in the same step, take too long to match; " +
      "do without lookahead, back-references and large counts such as {900}, or match shorter text",
  );

/** The error comes from the other realm, so it is not an instance of our Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}

// The realm is no security boundary, only a way to call: node:vm alone can end running code.
const box: { work: () => void } = { work: () => undefined };
let realm: Context | undefined;
const CALL = new Script("call()");
