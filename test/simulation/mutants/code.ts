// Rules of workflows in code, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const CODE_MUTANTS: readonly Mutant[] = [
  {
    name: "session-by-instance",
    without: "a session is used only at the digest that it has been fed",
    scenario: "code-window",
    file: "lib/kernel/code/sessions.ts",
    find: "if (session?.digest !== digest) return undefined;",
    replace: `if (session === undefined) return undefined; if (session.digest !== digest) ${MARK};`,
  },
  {
    name: "fed-in-operation-order",
    without: "outcomes are fed in the order in which they came",
    scenario: "code-all-race",
    file: "lib/kernel/code/replay.ts",
    find: `const recorded = entries.map((entry, at) => ({
    ...(read(elements, entry) ?? damaged(at + 1)),
    now: entry[1],
  }));`,
    replace: `const inOrder = entries.map((entry, at) => ({
    ...(read(elements, entry) ?? damaged(at + 1)),
    now: entry[1],
  }));
  const recorded = inOrder
    .toSorted((a, b) => a.n - b.n)
    .map((it, at) => ({ ...it, now: entries[at]?.[1] ?? runAt }));
  if (recorded.some(({ n }, at) => n !== inOrder[at]?.n)) ${MARK};`,
  },
  {
    name: "replayed-by-another-clock",
    without: "a replay sees the time of the journal",
    scenario: "code-seq",
    file: "lib/kernel/code/replay.ts",
    find: "now: entry[1],",
    replace: `now: (${MARK}, runAt),`,
  },
  {
    name: "seed-from-version",
    without: "randomness is drawn from the instance and its run, not from the version",
    scenario: "code-seq",
    file: "lib/kernel/code/feed.ts",
    find: "seed: `$" + "{before.id} $" + "{runOf(before)}`,",
    replace: `seed: (${MARK}, \`\${before.id} \${before.version}\`),`,
  },
  {
    name: "memo-of-another-version",
    without: "what a feed led to counts only while the instance has the same version",
    scenario: "code-window",
    file: "lib/kernel/code/sessions.ts",
    find: "return session.memos.find((memo) => memo.digest === digest)?.ran;",
    replace: `const memo = session.memos[0]?.ran;
    if (memo) ${MARK};
    return memo;`,
  },
  {
    name: "loser-stays-armed",
    without: "what loses is disarmed in the same commit",
    scenario: "code-all-race",
    file: "lib/kernel/code/open-operations.ts",
    find: "state = disarm(draft, state, operation.n);",
    replace: `${MARK}; state = withoutOperation(state, operation.n);`,
  },
  {
    name: "loser-eats-an-event",
    without: "a wait that lost takes no event",
    scenario: "code-loser",
    file: "lib/kernel/code/open-operations.ts",
    find: "closeTickets(draft, (open) => open.ref === n && !isDeadline(open));\n    return withoutOperation(state, n);",
    replace: `if (draft.tickets.some((open) => open.ref === n && open.on === "event")) ${MARK};
    closeTickets(draft, (open) => open.ref === n && !isDeadline(open) && open.on !== "event");
    return withoutOperation(state, n);`,
  },
  {
    name: "task-dropped-at-return",
    without: "tasks that nobody waits for are done before the end",
    scenario: "code-return-drains",
    file: "lib/kernel/code/finish.ts",
    find: 'const isWork = ({ on }: Ticket): boolean => on === "task" || on === "family" || on === "incident";',
    replace: `const isWork = ({ on }: Ticket): boolean => (on === "task" && (${MARK}), on === "incident");`,
  },
  {
    name: "member-of-another-operation",
    without: "an item of a batch is the operation that it was opened for",
    scenario: "code-fan",
    file: "lib/kernel/code/open-operations.ts",
    find: "(membersOf(state, ticket.ref)?.[member] ?? 0)",
    replace: `(${MARK}, membersOf(state, ticket.ref)?.toReversed()[member] ?? 0)`,
  },
  {
    name: "lost-machine-reused",
    without: "a session whose machine is gone is not used again",
    scenario: "code-sandbox-dies",
    file: "lib/kernel/code/feed.ts",
    find: "if (!(cause instanceof LostMachine) || tries >= MAX_LOST_TRIES) throw cause;",
    replace: `if (cause instanceof LostMachine) ${MARK}; throw cause;`,
  },
  {
    name: "past-of-the-journal-skipped",
    without: "a replay begins with what has left the instance",
    scenario: "code-long",
    file: "lib/kernel/code/feed.ts",
    find: "return [...past.slice(0, gone), ...entries, ...journal];",
    replace: `${MARK}; return [...entries, ...journal];`,
  },
  {
    name: "retry-by-chance-of-the-host",
    without: "the pause before an attempt is drawn from the ticket",
    scenario: "code-retries",
    file: "lib/kernel/code/retry-table.ts",
    find: "const drawn = Number.parseInt(hash(`$" + "{chance} $" + "{attempt}`), 36) / 2 ** 53;",
    replace: `${MARK}; const drawn = Math.random();`,
  },
  {
    name: "two-outcomes-in-one-drain",
    without: "the next outcome is fed only when the code waits again",
    scenario: "code-drains",
    file: "lib/adapters/quickjs/program.ts",
    find: "const ran = this.#runOne(feed);",
    replace: `const opened = all.flatMap(({ operations }) => operations).filter(({ op }) => op !== "close").length;
      const next = feeds[all.length + 1];
      globalThis.fermataHoldsJobs = all.length > 0 && next !== undefined && JSON.parse(next.done).n <= opened;
      if (globalThis.fermataHoldsJobs) ${MARK};
      const ran = this.#runOne(feed);`,
    also: {
      file: "lib/adapters/quickjs/machine.ts",
      find: "this.#exports.qjs_free_value(value);\n      this.#drain();",
      replace:
        "this.#exports.qjs_free_value(value);\n      if (!globalThis.fermataHoldsJobs) this.#drain();",
    },
  },
  {
    name: "fingerprint-unchecked",
    without: "a replay goes on only with the operations that the journal names",
    scenario: "code-does-not-fit",
    file: "lib/kernel/code/replay.ts",
    find: "if (found && elementOf(found) === expected.element) return;",
    replace: `if (found && elementOf(found) !== expected.element) ${MARK}; if (found) return;`,
  },
  {
    name: "newest-engine-used",
    without: "a workflow runs on the engine that it is pinned to",
    scenario: "code-two-engines",
    file: "lib/engine/storage/programs.ts",
    find: 'if (body.runner === "code" && world.sandbox && body.program.engine !== world.sandbox.engine) {',
    replace: `if (body.runner === "code" && body.program.engine !== world.sandbox?.engine) ${MARK};
  if (body.runner === "code" && world.sandbox?.engine === "") {`,
  },
  {
    name: "exhausted-session-reused",
    without: "a session that was stopped is not used again",
    scenario: "code-exhausted",
    file: "lib/kernel/code/feed.ts",
    find: "session.guest.close();\n    return demandRan(ran);",
    replace: `${MARK};
    sessions.checkIn(life, session);
    return demandRan(ran);`,
  },
  {
    name: "session-shared-by-decisions",
    without: "a session is checked out while it is used",
    scenario: "code-side-by-side",
    file: "lib/kernel/code/sessions.ts",
    find: "if (session?.digest !== digest) return undefined;\n    this.#forget(life);",
    replace: `if (session?.digest !== digest) return undefined; ${MARK};`,
  },
  {
    name: "large-step-drops-its-event",
    without: "an incident keeps the event whose step is too large",
    scenario: "code-too-large",
    file: "lib/engine/step/take.ts",
    find: "{ fact, why, hasRoom: true }",
    replace: `{ fact, why, hasRoom: (${MARK}, false) }`,
  },
  {
    name: "large-step-refused-to-its-sender",
    without: "what a workflow opens is no fault of what woke it",
    scenario: "code-too-large",
    file: "lib/engine/drive/instance-request.ts",
    find: `type === "STATE_TOO_LARGE" && !kept?.fact`,
    replace: `type === "STATE_TOO_LARGE" && (${MARK}, kept?.fact !== null)`,
  },
  {
    name: "event-id-not-from-the-ticket",
    without: "another attempt sends the same event again",
    scenario: "code-send",
    file: "lib/embedded/send-tasks.ts",
    find: "id: id ?? idempotencyKey",
    replace: `id: id ?? (${MARK}, \`\${idempotencyKey} \${Math.random()}\`)`,
  },
  {
    name: "message-id-not-from-the-ticket",
    without: "another attempt sends the same message again",
    scenario: "code-send",
    file: "lib/embedded/send-tasks.ts",
    find: "messageId: idempotencyKey",
    replace: `messageId: (${MARK}, \`\${idempotencyKey} \${Math.random()}\`)`,
  },
];
