const STEP = "Do it in a step, and call the step from the workflow.";
const WAIT =
  'Wait with `await delay("30s")` of fermata-engine/workflow, or move the timer into a step.';
const SETTINGS = "Pass the value in the workflow's input, or read it in a step.";
const PURE = "Compute the value without it, or make it a step.";

const named = (hint: string, names: readonly string[]) =>
  names.map((name) => [name, hint] as const);

/** Globals of Node and of browsers that no workflow has, and what to do instead. */
export const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ...named(STEP, ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "BroadcastChannel"]),
  ...named(STEP, ["MessageChannel", "Worker", "WebAssembly", "require"]),
  ...named(STEP, ["Headers", "Request", "Response", "FormData", "Blob", "File"]),
  ...named(STEP, ["ReadableStream", "WritableStream", "TransformStream"]),
  ...named(STEP, ["window", "document", "navigator", "location", "localStorage", "sessionStorage"]),
  ...named(WAIT, ["setTimeout", "setInterval", "setImmediate"]),
  ...named(WAIT, ["clearTimeout", "clearInterval", "clearImmediate"]),
  ...named("Write `await null`, which continues in a microtask too.", ["queueMicrotask"]),
  ...named(SETTINGS, ["process", "Deno", "Bun", "__dirname", "__filename"]),
  ...named("Take the time from `Date.now()`, which is the same on replay.", ["performance"]),
  ...named("Format for readers in a step; a workflow has no locales.", ["Intl"]),
  ...named("Let go of the value; a workflow cannot see when memory is reclaimed.", [
    "WeakRef",
    "FinalizationRegistry",
  ]),
  ...named("Use plain objects; a workflow has one thread.", ["SharedArrayBuffer", "Atomics"]),
  ...named("Copy with `JSON.parse(JSON.stringify(value))`.", ["structuredClone"]),
  ...named("Cancel by `race` with an event or a delay.", ["AbortController", "AbortSignal"]),
  ...named(PURE, ["Buffer", "TextEncoder", "TextDecoder", "URL", "URLSearchParams"]),
  ...named(PURE, ["atob", "btoa"]),
]);

/** What a workflow has of `crypto`. */
export const AVAILABLE_CRYPTO: ReadonlySet<string> = new Set(["randomUUID"]);

/** Methods whose result depends on locale data, which the sandbox has not. */
export const LOCALE_METHODS: ReadonlySet<string> = new Set([
  "toLocaleString",
  "toLocaleDateString",
  "toLocaleTimeString",
  "toLocaleUpperCase",
  "toLocaleLowerCase",
  "localeCompare",
]);

/** The composites of native promises, and what to use instead. */
export const NATIVE_COMPOSITES: ReadonlyMap<string, string> = new Map([
  ["all", "all"],
  ["allSettled", "all"],
  ["any", "any"],
  ["race", "race"],
]);
