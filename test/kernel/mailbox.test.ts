import { describe, expect, test } from "vitest";
import {
  MAX_BUFFERED_MESSAGES,
  MAX_MAILBOX_BYTES,
  MAX_REMEMBERED_MESSAGES,
  MAX_WAITERS_PER_MAILBOX,
} from "../../lib/definition/limits.ts";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import { jsonBytes } from "../../lib/kernel/json-bytes.ts";
import {
  type Buffered,
  emptyBox,
  endOf,
  hasRoom,
  hasTaker,
  isCrowded,
  isSameTarget,
  type Mailbox,
  messageFor,
  pruned,
  type Remembered,
  rememberedAs,
  type Sub,
  subOf,
  takenFrom,
  withId,
  withMessage,
  withoutDead,
  withoutSubs,
  withoutTarget,
  withSub,
} from "../../lib/kernel/mailbox.ts";

const NOW = instantFrom(1_800_000_000_000);
const later = (ms: number): Instant => instantFrom(NOW + ms);

const aMessage = (mid: string, rest: Partial<Buffered> = {}): Buffered => ({
  mid,
  payload: {},
  expiresAt: later(1),
  ...rest,
});
const anId = (mid: string, until = later(1)): Remembered => ({ mid, until, body: "b" });
const aSub = (processId: string, instanceId = `${processId}-1`): Sub => ({
  processId,
  instanceId,
  ticket: "m1.1",
  since: NOW,
  version: 1,
});
const aBox = (parts: Partial<Mailbox> = {}): Mailbox => ({
  ...emptyBox({ name: "paid", key: "4711" }),
  ...parts,
});
const mids = ({ bufs }: Mailbox) => bufs.map(({ mid }) => mid);

const first = { instanceId: "p-1", ticket: "m1.1" };
const second = { instanceId: "q-1", ticket: "m1.1" };
const definition = { definitionId: "r" };

describe("rule 1: one wait per process id", () => {
  test("a wait takes the place of its process id, and of no other", () => {
    const box = withSub(withSub(aBox(), aSub("p")), aSub("q"));

    const replaced = withSub(box, aSub("p", "p-2"));

    expect(subOf(replaced, "p")).toEqual(aSub("p", "p-2"));
    expect(subOf(replaced, "q")).toEqual(aSub("q"));
    expect(subOf(replaced, "r")).toBeUndefined();
    expect(replaced.subs).toHaveLength(2);
  });

  test("a closed wait leaves its place, and the messages that were only for it", () => {
    const box = aBox({
      subs: [aSub("p"), aSub("q")],
      bufs: [aMessage("any"), aMessage("both", { for: [first, second] })],
    });

    const left = withoutDead(box, aSub("p"));

    expect(left.subs).toEqual([aSub("q")]);
    expect(left.bufs).toEqual([aMessage("any"), aMessage("both", { for: [second] })]);
  });

  test("a mailbox from which no wait leaves is the same", () => {
    const box = aBox({ subs: [aSub("p")] });

    expect(withoutSubs(box, () => false)).toBe(box);
    expect(withoutSubs(box, () => true).subs).toEqual([]);
  });

  test("a mailbox is crowded at the limit, and not before", () => {
    const subs = Array.from({ length: MAX_WAITERS_PER_MAILBOX }, (_, n) => aSub(`p${n}`));

    expect(isCrowded(aBox({ subs }))).toBe(true);
    expect(isCrowded(aBox({ subs: subs.slice(1) }))).toBe(false);
  });
});

describe("rule 2: messages leave in the order in which they came", () => {
  test("a wait takes the oldest message that has not expired", () => {
    const gone = aMessage("gone", { expiresAt: NOW });
    const box = aBox({ bufs: [gone, aMessage("old"), aMessage("new")] });

    expect(messageFor(box, first, NOW)?.mid).toBe("old");
    expect(messageFor(aBox({ bufs: [gone] }), first, NOW)).toBeUndefined();
  });

  test("a message comes behind the others, and its id is remembered", () => {
    const box = withMessage(aBox({ bufs: [aMessage("old")] }), aMessage("new"), anId("new"));

    expect(mids(box)).toEqual(["old", "new"]);
    expect(rememberedAs(box, "new")).toEqual(anId("new"));
    expect(rememberedAs(box, "old")).toBeUndefined();
  });

  test("a message that is taken leaves, one that is passed over stays", () => {
    const box = aBox({ bufs: [aMessage("a"), aMessage("b")] });

    expect(mids(withoutTarget(box, "a", first, true))).toEqual(["b"]);
    expect(withoutTarget(box, "a", first, false)).toEqual(box);
  });

  test("only so many ids are remembered, the latest, each for its time", () => {
    const ids = Array.from({ length: MAX_REMEMBERED_MESSAGES + 1 }, (_, n) => anId(`m${n}`));
    const full = ids.reduce(withId, aBox({ bufs: [aMessage("gone", { expiresAt: NOW })] }));

    expect(pruned(full, NOW).ids).toEqual(ids.slice(1));
    expect(pruned(full, NOW).bufs).toEqual([]);
    expect(pruned(full, later(1)).ids).toEqual([]);
  });

  test("a mailbox has room for so many messages; expired ones do not count", () => {
    const bufs = Array.from({ length: MAX_BUFFERED_MESSAGES }, (_, n) => aMessage(`m${n}`));

    expect(hasRoom(aBox({ bufs: bufs.slice(1) }), aMessage("new"), NOW)).toBe(true);
    expect(hasRoom(aBox({ bufs }), aMessage("new"), NOW)).toBe(false);
    expect(hasRoom(aBox({ bufs }), aMessage("new"), later(1))).toBe(true);
  });

  test("a mailbox has room for so many bytes", () => {
    const empty = aMessage("m", { payload: { a: "" } });
    const room = MAX_MAILBOX_BYTES - jsonBytes({ ...aBox(), bufs: [empty] });

    const fits = aMessage("m", { payload: { a: "x".repeat(room) } });
    const isTooMuch = aMessage("m", { payload: { a: "x".repeat(room + 1) } });

    expect(hasRoom(aBox(), fits, NOW)).toBe(true);
    expect(hasRoom(aBox(), isTooMuch, NOW)).toBe(false);
  });
});

describe("rule 3: a message for several", () => {
  const several = aBox({ bufs: [aMessage("a", { for: [first, second, definition] })] });

  test("is taken by its targets and by no other", () => {
    expect(messageFor(several, first, NOW)?.mid).toBe("a");
    expect(messageFor(several, { ...first, ticket: "m2.1" }, NOW)).toBeUndefined();
    expect(messageFor(several, { ...first, instanceId: "x" }, NOW)).toBeUndefined();
  });

  test("stays for the others when one has taken it, and leaves with the last", () => {
    const once = withoutTarget(several, "a", first, true);
    const twice = withoutTarget(once, "a", second, false);
    const last = withoutTarget(twice, "a", definition, false);

    expect(once.bufs).toEqual([aMessage("a", { for: [second, definition], taken: true })]);
    expect(messageFor(once, first, NOW)).toBeUndefined();
    expect(twice.bufs).toEqual([aMessage("a", { for: [definition], taken: true })]);
    expect(last.bufs).toEqual([]);
  });

  test("is a message like any other when none of them has taken it", () => {
    const targets = [first, second, definition];

    const left = targets.reduce((box, it) => withoutTarget(box, "a", it, false), several);

    expect(left.bufs).toEqual([aMessage("a")]);
  });

  test("starts a definition only where it is kept for that one", () => {
    const taken = takenFrom(several, "a", "r");

    expect(taken?.bufs).toEqual([aMessage("a", { for: [first, second], taken: true })]);
    expect(takenFrom(several, "a", "other")).toBeUndefined();
    expect(takenFrom(several, "b", "r")).toBeUndefined();
    expect(takenFrom(aBox({ bufs: [aMessage("a")] }), "a", "r")).toBeUndefined();
  });

  test("tells its targets apart by their kind, too", () => {
    expect(isSameTarget(definition, { definitionId: "r" })).toBe(true);
    expect(isSameTarget(definition, { definitionId: "s" })).toBe(false);
    expect(isSameTarget(definition, first)).toBe(false);
    expect(isSameTarget(first, definition)).toBe(false);
  });
});

describe("a stored mailbox", () => {
  test("has a taker where a wait and a message are there, or a message has targets", () => {
    const bufs = [aMessage("a")];

    expect(hasTaker(aBox({ bufs }))).toBe(false);
    expect(hasTaker(aBox({ subs: [aSub("p")] }))).toBe(false);
    expect(hasTaker(aBox({ subs: [aSub("p")], bufs }))).toBe(true);
    expect(hasTaker(aBox({ bufs: [aMessage("a", { for: [definition] })] }))).toBe(true);
  });

  test("ends with the last message or id, and never while somebody waits", () => {
    const bufs = [aMessage("a", { expiresAt: later(5) })];
    const ids = [anId("a", later(7))];

    expect(endOf(aBox(), NOW)).toBe(NOW);
    expect(endOf(aBox({ bufs }), NOW)).toBe(later(5));
    expect(endOf(aBox({ bufs, ids }), NOW)).toBe(later(7));
    expect(endOf(aBox({ bufs, ids, subs: [aSub("p")] }), NOW)).toBeUndefined();
  });
});
