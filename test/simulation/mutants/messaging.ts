// Rules of signals, messages and events, each left out as in protocol.ts.
import { MARK, type Mutant } from "./protocol.ts";

export const MESSAGING_MUTANTS: readonly Mutant[] = [
  {
    name: "no-fence",
    without: "a wait counts as closed only for a reader of an instance version that knows it",
    scenario: "signal-crowd",
    seed: 47,
    file: "lib/engine/rows/life.ts",
    find: 'return { kind: isOld && isDated ? "dead" : "unsure" };',
    replace: `if (!isOld || !isDated) ${MARK}; return { kind: "dead" };`,
  },
  {
    name: "rows-before-instance",
    without: "a wait and its row are committed together: the row was written first",
    scenario: "message-during",
    file: "lib/engine/step/commit.ts",
    find: "const outcome = await world.store.commit(write);",
    replace: `const [first, ...others] = write;
  for (const other of others) {
    ${MARK};
    const done = await world.store.commit([other]);
    if (done.kind !== "committed") return done.kind === "busy" ? done : MOVED;
  }
  const outcome = await world.store.commit([first]);`,
  },
  {
    name: "rows-after-instance",
    without: "a wait and its row are committed together: the row was written after",
    scenario: "signal-waiters",
    file: "lib/engine/step/commit.ts",
    find: "const outcome = await world.store.commit(write);",
    replace: `const [first, ...others] = write;
  const outcome = await world.store.commit([first]);
  if (others.length > 0) ${MARK};
  for (const other of outcome.kind === "committed" ? others : []) await world.store.commit([other]);`,
  },
  {
    name: "no-after-seq",
    without: "a wait is for what was broadcast after it read the head",
    scenario: "signal-loop",
    file: "lib/engine/step/companions.ts",
    find: "const row = { after: head.seq, epoch: head.epochs };",
    replace: `if (head.seq > 0) ${MARK}; const row = { after: 0, epoch: head.epochs };`,
  },
  {
    name: "no-second-head-read",
    without: "a new wait reads the head once more after the commit",
    scenario: "signal-loop",
    seed: 22,
    file: "lib/engine/step/dispatch.ts",
    find: `return mustBeSent(world, ticket)
        ? world.senders.sendMissed(world, instance, ticket)
        : undefined;`,
    replace: `${MARK}; return undefined;`,
  },
  {
    name: "aside-before-record",
    without: "a row is moved from its page to a separate one only once the page's record awaits it",
    scenario: "signal-start",
    seed: 166,
    file: "lib/engine/signals/fan-out.ts",
    find: "const { awaits } = await putPage(world, broadcast, record);",
    replace: `for (const page of late) {
    const { row, ms = 0 } = aside.get(page) ?? {};
    if (row) { ${MARK}; await world.workQueue.send({ ...alone, page, rows: [row] }, ms); }
  }
  await putPage(world, broadcast, record);
  const awaits: readonly string[] = [];`,
  },
  {
    name: "missed-without-pages",
    without:
      "a wait that missed a broadcast leaves it to its pages, which count it, while they are in progress",
    scenario: "signal-start",
    seed: 617,
    file: "lib/engine/signals/missed.ts",
    find: 'return world.clock.now() - at < MAX_MS_FOR_PAGES ? "later" : "fact";',
    replace: `${MARK}; return "fact";`,
  },
  {
    name: "no-expected-head",
    without: "with queues in memory, a wait is committed only while nothing is broadcast",
    scenario: "signal-loop",
    mode: "memory",
    file: "lib/engine/step/companions.ts",
    find: "...(world.settings.host.queuesSurvive ? [] : expectedHeads(world, context, topics)),",
    replace: `...((${MARK}), []),`,
  },
  {
    name: "sub-without-condition",
    without: "waits and messages change a mailbox under its version",
    scenario: "message-during",
    file: "lib/engine/step/commit.ts",
    find: "const outcome = await world.store.commit(write);",
    replace: `const isBox = (it) => "put" in it && it.put.key.pk.includes("#M#");
  const outcome = await world.store.commit(write.filter((it) => !isBox(it)));
  for (const { put: box } of outcome.kind === "committed" ? write.filter(isBox) : []) {
    ${MARK};
    await world.store.commit([{ put: { ...box, version: box.version + 1 }, when: "newer" }]);
  }`,
  },
  {
    name: "append-ignores-subs",
    without: "a message is delivered to an open wait",
    scenario: "message-late",
    file: "lib/engine/messages/publish.ts",
    find: "const [only, ...others] = waiters;",
    replace: `if (waiters.length > 0) ${MARK}; const [only, ...others] = [];`,
  },
  {
    name: "row-removed-early",
    without: "a row stays while a delivery through it may still owe something",
    scenario: "signal-multi-shot",
    seed: 69,
    file: "lib/engine/rows/closed.ts",
    find: "return ![...tickets, ...outbox].some(",
    replace: `${MARK}; return true || ![...tickets, ...outbox].some(`,
  },
  {
    name: "small-call-tidies",
    without: "a call that delivers leaves the rows to the bus's copy, which sends what is owed",
    scenario: "signal-waiters",
    file: "lib/engine/step/dispatch.ts",
    find: "mayGo: ({ on, name }) => on !== topic.kind || name !== topic.name }",
    replace: `justSent: ((${MARK}), plan.took) }`,
  },
  {
    name: "consume-once-without-transaction",
    without: "an event for a single recipient is removed in the commit of the recipient's step",
    scenario: "event-one-of-two",
    file: "lib/engine/step/companions.ts",
    find: "...context.taken.map(",
    replace: `...(context.taken.length > 0 && (${MARK}), []).map(`,
  },
  {
    name: "not-ids-ignored",
    without: "a path does not catch what it has thrown itself",
    scenario: "self-signal",
    file: "lib/kernel/decide.ts",
    find: "if (notIds?.includes(fact.broadcastId)) return false;",
    replace: `if (notIds?.includes(fact.broadcastId)) ${MARK};`,
  },
  {
    name: "message-not-remembered",
    without: "a mailbox remembers the messages that have arrived",
    scenario: "message-doubled",
    file: "lib/kernel/mailbox.ts",
    find: "return { ...mailbox, ids: [...mailbox.ids, id] };",
    replace: `${MARK}; return mailbox;`,
  },
  {
    name: "no-enabled-check",
    without: "a signal starts only enabled definitions",
    scenario: "signal-start",
    file: "lib/engine/storage/latest.ts",
    find: 'if (found === undefined || found.latest.state !== "enabled") return undefined;',
    replace: `if (found === undefined) return undefined;
  if (found.latest.state !== "enabled") ${MARK};`,
  },
  {
    name: "head-not-expected",
    without:
      "an instance started by a signal is created only while the definition is as it was read",
    scenario: "signal-start",
    file: "lib/engine/drive/creation.ts",
    find: "return { ...plan, companions: [...plan.companions, enabled] };",
    replace: `if (enabled) ${MARK}; return plan;`,
  },
  {
    name: "start-not-carried",
    without: "what a signal's start owes is sent before it: its row may be removed at any moment",
    scenario: "signal-start-undeployed",
    file: "lib/engine/signals/start.ts",
    find: "const created = await createInstance(world, instanceId, start);",
    replace: `${MARK};
    const { commit } = await import("../step/commit.ts");
    const { planCreation } = await import("../drive/creation.ts");
    const plan = await planCreation(world, instanceId, start);
    const created = plan ? await commit(world, plan, null) : { kind: "void" };`,
  },
  {
    name: "dead-letter-lost",
    without: "the unread events of an ended instance are kept",
    scenario: "event-dead-letter",
    file: "lib/engine/step/dispatch.ts",
    find: "return world.senders.bury(world, instanceId, record.effect);",
    replace: `${MARK}; return undefined;`,
  },
  {
    name: "dead-letter-buried-twice",
    without: "a dead letter that is written twice is kept once",
    scenario: "event-dead-letter",
    file: "lib/engine/events/dead-letter.ts",
    find: "const { id, name, payload, at } = event;",
    replace: `${MARK}; const { name, payload, at } = event; const id = event.id + "~" + world.ids.fresh();`,
  },
];
