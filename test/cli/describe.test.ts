import { describe, expect, test } from "vitest";
import { commandLine, wakingLine } from "../../cli/call-lines.ts";
import { describeEntry } from "../../cli/describe-entry.ts";
import { describeEventAnswer } from "../../cli/describe-event-answer.ts";
import { describeMessageAnswer } from "../../cli/describe-message-answer.ts";
import { awaitedBy, describeWait, describeWaking } from "../../cli/describe-wait.ts";
import { programName } from "../../cli/program-name.ts";
import type { WaitView } from "../../lib/client/index.ts";

const since = "2026-07-01T10:00:00.000Z";
const here = { url: "http://127.0.0.1:7373" };
const wakeWith = { method: "POST", path: "/v1/anything", body: {} };

function aWait(wait: Omit<WaitView, "element" | "since">): WaitView {
  return { element: "decide", since, wakeWith, ...wait };
}

describe("the description of a wait", () => {
  test.each<[Omit<WaitView, "element" | "since">, string]>([
    [{ kind: "signal", name: "approved" }, 'the signal "approved"'],
    [
      { kind: "message", name: "paid", correlationKey: "42" },
      'the message "paid" with the correlation key "42"',
    ],
    [
      { kind: "message", name: "paid", correlationKey: "" },
      'the message "paid" without a correlation key',
    ],
    [{ kind: "event", name: "door-opened" }, 'the event "door-opened"'],
  ])("names what %j waits for", (wait, awaited) => {
    expect(describeWait(aWait(wait), [])).toBe(`decide waits for ${awaited} since ${since}.`);
  });

  test("counts children as one wait, and names the first open one", () => {
    const wait = { kind: "child", process: "order", members: { size: 1_000, open: 7 } } as const;
    const some = aWait({ ...wait, childInstanceId: "c-1" });
    const none = aWait({ ...wait, members: { size: 1_000, open: 0 } });

    expect(describeWait(some, [])).toBe(
      `decide waits for 7 of 1000 calls of the process "order" since ${since}. The first of these is c-1.`,
    );
    expect(describeWait(none, [])).toMatch(
      /^decide waits for 0 of 1000 calls of the process .*Z\.$/,
    );
  });

  test.each(["signal", "message", "event"] as const)("says how to resume a %s", (kind) => {
    expect(describeWaking(aWait({ kind, name: "n" }))).toMatch(/^(Broadcast|Send) it, with .*:$/);
  });

  test("names the assignee of a user task, or its candidates", () => {
    const task = { kind: "task", state: "created", runsHere: false } as const;
    const free = aWait({ ...task, candidateUsers: ["anna"], candidateGroups: ["sales"] });
    const hers = aWait({ ...task, state: "claimed", assignee: "anna", dueDate: since });

    expect(describeWait(free, [])).toMatch(
      /^decide waits to be claimed and completed by anna, the group sales since/,
    );
    expect(describeWait(aWait(task), [])).toMatch(
      /^decide waits to be claimed and completed by any user since/,
    );
    expect(describeWait(hers, [])).toMatch(/waits to be completed by anna since .* due at /);
    expect(awaitedBy(hers)).toBe("a person");
  });

  test("has no command for a timer on a real clock", () => {
    const { wakeWith: _, ...timer } = aWait({ kind: "timer", dueAt: since });

    expect(describeWaking(timer)).toBeUndefined();
    expect(wakingLine("fermata", here, "i1", timer)).toBeUndefined();
  });
});

describe("the command that resumes a wait", () => {
  test.each<[Omit<WaitView, "element" | "since">, string]>([
    [{ kind: "signal", name: "approved" }, "fermata signal approved"],
    [{ kind: "signal", name: "it's over" }, "fermata signal 'it'\\''s over'"],
    [{ kind: "message", name: "paid", correlationKey: "" }, "fermata message paid"],
    [{ kind: "message", name: "paid", correlationKey: "A 7" }, "fermata message paid --key 'A 7'"],
    [{ kind: "message", name: "paid", correlationKey: "-1" }, "fermata message paid --key=-1"],
    [{ kind: "event", name: "door-opened" }, "fermata event door-opened --target i1"],
    [{ kind: "event", name: "-n" }, "fermata event --target i1 -- -n"],
    [
      {
        kind: "task",
        taskId: "i1.k1.1",
        state: "created",
        claimWith: { method: "POST", path: "/c", body: { user: "anna" } },
        wakeWith: { method: "POST", path: "/w", body: { variables: { ok: null } } },
      },
      `fermata claim i1.k1.1 --user anna && fermata complete i1.k1.1 --variables '{"ok":null}'`,
    ],
    [
      { kind: "task", taskId: "i1.k1.1", state: "claimed", assignee: "anna" },
      "fermata complete i1.k1.1 --variables '{}'",
    ],
  ])("is for %j", (wait, line) => {
    expect(wakingLine("fermata", here, "i1", aWait(wait))).toBe(line);
  });

  test("names a server that is not at the default address", () => {
    const there = { url: "http://127.0.0.1:8080", token: "secret" };

    const line = commandLine("fermata", there, ["receipt", "b-1"]);

    expect(line).toBe("fermata receipt b-1 --url http://127.0.0.1:8080");
  });

  test("begins with the command line that the reader uses", () => {
    const inClone = { environment: { npm_package_name: "fermata-engine" } };
    const elsewhere = { environment: { npm_package_name: "their-shop" } };

    expect(programName(inClone)).toBe("npm run -s fermata --");
    expect(programName(elsewhere)).toBe("fermata");
    expect(programName({ environment: {} })).toBe("fermata");
  });
});

describe("the description of an entry", () => {
  test.each([
    ["signal-received", { broadcastId: "b-1" }, "decide: signal received (b-1)"],
    [
      "signal-thrown",
      { broadcastId: "i1:e3.1", name: "settled" },
      'decide: signal "settled" thrown (i1:e3.1)',
    ],
    ["message-received", { messageId: "bank-7" }, "decide: message received (bank-7)"],
    ["event-received", { eventId: "d1" }, "decide: event received (d1)"],
    ["event-sent", { eventId: "d1", name: "door" }, 'event "door" received, kept unread (d1)'],
    ["event-sent", undefined, "event received, kept unread"],
    ["from-the-future", { a: 1 }, 'from-the-future decide {"a":1}'],
  ])("of the type %s", (type, data, words) => {
    expect(describeEntry({ type, element: "decide", data })).toBe(words);
  });
});

describe("the description of an event's outcome", () => {
  test.each([
    [{ id: "e", outcome: "delivered", deliveredCount: 1 }, "delivered."],
    [{ id: "e", outcome: "delivered", deliveredCount: 3 }, "delivered to 3 waits."],
    [{ id: "e", outcome: "queued" }, "no instance waits for it yet; it is kept."],
    [
      { id: "e", outcome: "dropped" },
      "no instance waits for it, and events of its type are not kept; it was dropped.",
    ],
    [{ id: "e" }, "delivery continues. Receipt: fermata receipt e"],
  ] as const)("shows %j", (answer, words) => {
    expect(describeEventAnswer(answer, { program: "fermata", server: here })).toBe(words);
  });
});

describe("the description of a message's outcome", () => {
  const busy = "the waiting instance is busy and takes it in a moment";
  test.each([
    [{ outcome: "delivered", instanceId: "i1" }, undefined, "delivered to i1."],
    [{ outcome: "delivered" }, undefined, "delivered."],
    [{ outcome: "started", instanceId: "i1" }, undefined, "started i1."],
    [
      { outcome: "buffered" },
      undefined,
      `kept for PT1H: no instance waits for it yet, or ${busy}.`,
    ],
    [{ outcome: "buffered" }, "PT10M", `kept for PT10M: no instance waits for it yet, or ${busy}.`],
    [
      { outcome: "buffered" },
      "PT0S",
      "not delivered yet: the waiting instance is busy and takes it in a moment.",
    ],
    [{ outcome: "duplicate" }, undefined, "duplicate: a message with this id was accepted before."],
  ] as const)("shows %j, kept for %s", (answer, ttl, words) => {
    expect(describeMessageAnswer(answer, ttl)).toBe(words);
  });
});
