// Rules of HTTP tasks, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

const KEY = '"idempotency-key": context.idempotencyKey,';
const FILE = "lib/adapters/handlers/http-task/http-task.ts";

export const HTTP_MUTANTS: readonly Mutant[] = [
  {
    name: "http-key-per-attempt",
    without: "all attempts carry one key: a service that was called before has done its work",
    scenario: "http-unanswered",
    file: FILE,
    find: KEY,
    replace: `"idempotency-key": (${MARK}, \`\${context.idempotencyKey}-\${context.attempt}\`),`,
  },
  {
    name: "http-key-per-call",
    without: "a call that is repeated after a crash carries the key of the first",
    scenario: "http",
    file: FILE,
    find: KEY,
    replace: `"idempotency-key": (${MARK}, globalThis.httpCalls = (globalThis.httpCalls ?? 0) + 1, String(globalThis.httpCalls)),`,
  },
];
