import { describe, expect, test } from "vitest";
import {
  MAX_INBOX_BYTES,
  MAX_INBOX_EVENTS,
  MAX_REMEMBERED_EVENTS,
} from "../../lib/definition/limits.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { isWelcome } from "../../lib/kernel/decide.ts";
import { fitsInbox, inboxEventFor } from "../../lib/kernel/inbox.ts";
import type { Instance } from "../../lib/kernel/instance.ts";
import type { OnTargetTerminated, QueuedEvent } from "../../lib/kernel/queued-event.ts";
import { aWorkflow, event, race, task, timer } from "../support/generator-runner.ts";
import { aProcess, aStart, aTask } from "../support/graph-builder.ts";
import { anEvent, BEGIN, givenAt, type Play, play } from "../support/play.ts";

const HOUR = 3_600_000;

/** Works first, then waits for an approval. */
const working = () =>
  aWorkflow(function* () {
    yield task("work");
    return yield event("approved");
  });

/** Waits for an approval at once. */
const waiting = () =>
  aWorkflow(function* () {
    return yield event("approved");
  });

const unread = ({ instance }: Play) => instance.inbox.map(({ id }) => id);
const numbered = (count: number, name = "approved"): readonly QueuedEvent[] =>
  Array.from({ length: count }, (_, at) => anEvent(name, { id: `${name}-${at + 1}` }));

describe("an event that is sent to an instance", () => {
  test("D6: D9: is taken by a wait for its name, with its payload", async () => {
    const run = await play(waiting());

    await run.send(anEvent("approved", { payload: { by: "me" } }));

    expect(run.status).toBe("succeeded success");
    expect(run.program.runner.result(run.instance)).toEqual({ by: "me" });
    const { entries } = run.instance.trail;
    expect(entries.find(({ type }) => type === "event-received")).toMatchObject({
      element: "event:approved",
      data: { eventId: "approved-1" },
    });
    expect(run.trail).not.toContain("event-sent");
  });

  test("D6: D9: stays unread without a wait, and is recorded", async () => {
    const run = await play(working());

    await run.send(anEvent("approved"));
    await run.send(anEvent("other"));

    expect(unread(run)).toEqual(["approved-1", "other-1"]);
    expect(run.instance.trail.entries.at(-1)).toMatchObject({
      type: "event-sent",
      data: { eventId: "other-1", name: "other" },
    });
  });

  test("D9: is accepted once, with or without a wait", async () => {
    const run = await play(working());
    await run.send(anEvent("approved"));
    const once = run.instance;

    expect(await run.send(anEvent("approved"))).toEqual({ instance: once, changed: false });
    expect(run.instance.sentEvents).toEqual(["approved-1"]);
  });

  test("D9: is remembered within the limit", async () => {
    const run = await play(waiting());
    const late = anEvent("other", { expiresAt: BEGIN });
    for (let n = 1; n <= MAX_REMEMBERED_EVENTS + 1; n += 1) await run.send({ ...late, id: `${n}` });

    expect(run.instance.sentEvents).toHaveLength(MAX_REMEMBERED_EVENTS);
    expect((await run.decide({ kind: "event-sent", event: { ...late, id: "2" } })).changed).toBe(
      false,
    );
    expect((await run.decide({ kind: "event-sent", event: { ...late, id: "1" } })).changed).toBe(
      true,
    );
  });

  test("D9: that has expired before delivery is remembered and nothing else", async () => {
    const run = await play(waiting());
    const before = run.instance;

    await run.send(anEvent("approved", { expiresAt: BEGIN }));

    expect(run.instance.inbox).toEqual([]);
    expect(run.open).toEqual(["event event:approved"]);
    expect(run.instance.sentEvents).toEqual(["approved-1"]);
    expect(run.instance.trail).toEqual(before.trail);
  });

  test("D9: is ignored once the instance has ended", async () => {
    const run = await play(waiting());
    await run.cancel();

    expect((await run.send(anEvent("approved"))).changed).toBe(false);
  });

  test("D9: resumes the oldest wait", async () => {
    const run = await play(
      aWorkflow(function* () {
        const first = yield race({ one: event("approved"), two: event("approved") });
        return first;
      }),
    );

    await run.send(anEvent("approved"));

    expect(run.program.runner.result(run.instance)).toMatchObject({ winner: "one" });
  });

  test("D9: to a process without such waits stays unread too", async () => {
    const run = await play(aProcess([aStart(), aTask("work")], ["start -> work"]));

    await run.send(anEvent("approved"));

    expect(unread(run)).toEqual(["approved-1"]);
    expect(run.open).toEqual(["task work"]);
  });
});

describe("an inbox", () => {
  test("D9: holds as many events as the limit says, whatever they are called", async () => {
    const run = await play(working());
    for (const each of numbered(MAX_INBOX_EVENTS)) await run.send(each);
    const full = run.instance;

    const over = await run.send(anEvent("other"));

    expect(full.inbox).toHaveLength(MAX_INBOX_EVENTS);
    expect(over).toEqual({ instance: full, changed: false });
    expect(fitsInbox(full, anEvent("other"))).toBe(false);
  });

  test("D9: holds as many bytes of payloads as the limit says, as JSON", () => {
    const empty: Pick<Instance, "inbox"> = { inbox: [] };
    const room = MAX_INBOX_BYTES - JSON.stringify([""]).length;
    const filled = (bytes: number) => anEvent("approved", { payload: `ü${"x".repeat(bytes - 2)}` });

    expect(fitsInbox(empty, filled(room))).toBe(true);
    expect(fitsInbox(empty, filled(room + 1))).toBe(false);
  });

  test("D9: accepts an event when it is full, if a wait takes it", async () => {
    const run = await play(waiting());
    for (const each of numbered(MAX_INBOX_EVENTS, "other")) await run.send(each);

    await run.send(anEvent("approved"));

    expect(run.status).toBe("succeeded success");
  });

  test("D9: does not count expired events, and drops them for new ones", async () => {
    const run = await play(working());
    for (const each of numbered(MAX_INBOX_EVENTS)) await run.send(each);
    run.now = BEGIN + HOUR;

    await run.send(anEvent("approved", { id: "late", at: instantFrom(BEGIN + HOUR) }));

    expect(unread(run)).toEqual(["late"]);
  });

  test("D9: drops what has expired meanwhile, although the event was accepted before", async () => {
    const run = await play(working());
    await run.send(anEvent("approved"));
    run.now = BEGIN + HOUR;

    await run.send(anEvent("other", { expiresAt: instantFrom(BEGIN + 2 * HOUR) }));

    expect(unread(run)).toEqual(["other-1"]);
  });

  test("D9: drops what had expired when the event was accepted, although the instance's time lags", async () => {
    const run = await play(working());
    await run.send(anEvent("approved"));

    await run.send(anEvent("approved", { id: "late", at: instantFrom(BEGIN + HOUR) }));

    expect(unread(run)).toEqual(["late"]);
  });

  test("D9: gives the oldest of a name first, and never one that has expired", async () => {
    const run = await play(working());
    await run.send(anEvent("other"));
    await run.send(anEvent("approved", { id: "brief", expiresAt: instantFrom(BEGIN + 1) }));
    await run.send(anEvent("approved", { id: "first" }));
    await run.send(anEvent("approved", { id: "second" }));
    await run.complete("work");
    const ticket = run.waitForEvent("event:approved");
    const at = (ms: number) => inboxEventFor(run.instance, ticket, instantFrom(BEGIN + ms))?.id;

    expect([at(0), at(1), at(HOUR)]).toEqual(["brief", "first", undefined]);
  });

  test("D6: D9: is read by a wait that opens later", async () => {
    const run = await play(working());
    await run.send(anEvent("other", { expiresAt: instantFrom(BEGIN + 1) }));
    await run.send(anEvent("approved", { id: "brief", expiresAt: instantFrom(BEGIN + 1) }));
    await run.send(anEvent("approved", { id: "first" }));
    await run.send(anEvent("approved", { id: "second" }));
    await run.complete("work");
    run.now = BEGIN + 1;
    const first = { eventId: "first", seq: undefined };

    await run.event("event:approved", first);

    expect(run.status).toBe("succeeded success");
    expect(run.trail.slice(-2)).toEqual(["event-received event:approved", "instance-ended"]);
  });

  test("D9: gives no event twice, and drops what has expired of the name that is read", async () => {
    const run = await play(
      aWorkflow(function* () {
        yield task("work");
        yield event("approved");
        return yield event("approved");
      }),
    );
    await run.send(anEvent("other", { expiresAt: instantFrom(BEGIN + 1) }));
    await run.send(anEvent("approved", { id: "brief", expiresAt: instantFrom(BEGIN + 1) }));
    await run.send(anEvent("approved", { id: "first" }));
    await run.send(anEvent("approved", { id: "second" }));
    await run.complete("work");
    run.now = BEGIN + 1;
    const first = { eventId: "first", seq: undefined };

    const expired = await run.event("event:approved", { eventId: "brief", seq: undefined });
    await run.event("event:approved", first);
    const left = unread(run);
    const again = await run.event("event:approved", first);

    expect(expired.changed).toBe(false);
    expect(left).toEqual(["other-1", "second"]);
    expect(again.changed).toBe(false);
    expect(run.open).toEqual(["event event:approved"]);
  });
});

describe("an event that was broadcast", () => {
  const twice = () =>
    aWorkflow(function* () {
      yield event("approved");
      return yield event("approved");
    });

  test("D10: is taken once by each instance, by its number among those of its name", async () => {
    const run = await play(twice());

    await run.event("event:approved", { eventId: "e4", seq: 4 });
    const again = await run.event("event:approved", { eventId: "e4", seq: 4 });
    const seen = run.instance.seenEvents;
    await run.event("event:approved", { eventId: "e3", seq: 3 });

    expect(again.changed).toBe(false);
    expect(seen).toEqual({ approved: { low: 0, above: [[4, 4]] } });
    expect(run.status).toBe("succeeded success");
  });

  test("is distinguished by name, even by names that every object has", async () => {
    const run = await play(
      aWorkflow(function* () {
        yield event("constructor");
        return yield event("approved");
      }),
    );

    await run.event("event:constructor", { eventId: "e1", seq: 1 });

    expect(run.instance.seenEvents).toEqual({ constructor: { low: 1, above: [] } });
    expect((await run.event("event:approved", { eventId: "e1", seq: 1 })).changed).toBe(true);
  });

  test("leaves the inbox unchanged", async () => {
    const run = await play(twice());
    await run.send(anEvent("other"));

    await run.event("event:approved", { eventId: "other-1", seq: 1 });

    expect(unread(run)).toEqual(["other-1"]);
  });

  test("does not resume other waits", async () => {
    const run = await play(
      aWorkflow(function* () {
        return yield timer(1);
      }),
    );
    const [ticket] = run.instance.tickets;
    const fact = { kind: "event-received", eventId: "e1", seq: 1, payload: null } as const;

    expect(isWelcome(run.instance, { ...fact, ticket: ticket?.id ?? "" }, givenAt(BEGIN))).toBe(
      false,
    );
  });
});

describe("a race of events", () => {
  test("D7: has one winner; the losing event stays unread", async () => {
    const run = await play(
      aWorkflow(function* () {
        const first = yield race({ yes: event("yes"), no: event("no"), late: timer(HOUR) });
        yield task("after");
        return first;
      }),
    );
    const { open } = run;

    await run.send(anEvent("no", { payload: 1 }));
    const loser = await run.send(anEvent("yes", { payload: 2 }));
    const decided = run.open;
    await run.complete("after");

    expect(open).toEqual(["event event:yes", "event event:no", "timer timer"]);
    expect(decided).toEqual(["task after"]);
    expect(loser.instance.inbox).toMatchObject([{ id: "yes-1" }]);
    expect(run.program.runner.result(run.instance)).toEqual({ winner: "no", value: 1 });
  });
});

const ENDS: Record<string, (run: Play) => Promise<unknown>> = {
  "succeeded success": (run) => run.complete("work"),
  "failed failure": (run) => run.fail("work", { code: "E" }),
  "cancelled cancel": (run) => run.cancel(),
  "failed timeout": (run) => {
    run.now = BEGIN + HOUR - 1;
    const [deadline] = run.instance.tickets;
    return run.deliver({ kind: "timer-due", ticket: deadline?.id ?? "" });
  },
};

const POLICIES: readonly OnTargetTerminated[] = ["discard", "broadcast", "deadLetter"];

describe("the unread events of an instance", () => {
  const busy = () =>
    aWorkflow(function* () {
      return yield task("work");
    });

  test.each(Object.keys(ENDS).flatMap((kind) => POLICIES.map((policy) => [kind, policy] as const)))(
    "D11: when it is %s are handled as their type said: %s",
    async (kind, policy) => {
      const run = await play(busy(), { deadline: BEGIN + HOUR - 1, holdsBack: true });
      const sent = anEvent("approved", { onTargetTerminated: policy });
      await run.send(sent);
      await run.send({ ...sent, id: "brief", expiresAt: instantFrom(BEGIN + 1) });
      run.now = BEGIN + 1;

      await ENDS[kind]?.(run);

      const [targetStatus] = kind.split(" ");
      const effects = run.instance.outbox.map(({ effect }) => effect);
      expect(run.status).toBe(kind);
      expect(run.instance.inbox).toEqual([]);
      expect(effects.filter(({ kind: each }) => each === "send-event" || each === "bury")).toEqual(
        {
          discard: [],
          broadcast: [{ kind: "send-event", event: sent }],
          deadLetter: [{ kind: "bury", event: sent, targetStatus }],
        }[policy],
      );
    },
  );

  test("D11: are passed on in the order in which they were sent, each under its own id", async () => {
    const run = await play(busy(), { holdsBack: true });
    for (const each of numbered(3)) await run.send({ ...each, onTargetTerminated: "deadLetter" });

    await run.cancel();

    const buried = run.instance.outbox.filter(({ effect }) => effect.kind === "bury");
    expect(buried.map(({ effect }) => effect.kind === "bury" && effect.event.id)).toEqual([
      "approved-1",
      "approved-2",
      "approved-3",
    ]);
    expect(new Set(run.instance.outbox.map(({ id }) => id)).size).toBe(run.instance.outbox.length);
  });
});
