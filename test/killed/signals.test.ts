// Kills the engine with SIGKILL among messages and in the middle of a signal to many, and compares
// at the end what it was asked for, what handlers did (the ledger), what it says (receipt,
// histories, lists) and what its store holds. The long form, ten times as many: FERMATA_LONG=1.

import { beforeAll, describe, expect, it } from "vitest";
import { AFTERWARDS, killDuringFanOut, type SeenFanOut } from "../support/killed-fan-out.ts";
import { AFTER, ANSWER } from "../support/killed-waits.ts";
import { NOTHING_LEFT } from "../support/left-in-store.ts";

const TIMES = process.env.FERMATA_LONG === "1" ? 10 : 1;
const CROWD = {
  waiter: 1_000 * TIMES,
  host: 60 * TIMES,
  race: 60 * TIMES,
  reader: 120 * TIMES,
};
const WAITING = CROWD.waiter + CROWD.host + CROWD.race;

describe(`an engine that is killed during a signal to ${WAITING} waits`, () => {
  let seen: SeenFanOut;
  beforeAll(async () => {
    seen = await killDuringFanOut(CROWD);
  }, 1_200_000);

  it("was killed while some waits had the signal and others did not", () => {
    const between = seen.kills.filter(
      ({ waiting, isAccepted }) => isAccepted && waiting > 0 && waiting < WAITING,
    );
    expect(between.length).toBeGreaterThanOrEqual(1);
  });

  it("has ended every instance once, and has no other", () => {
    expect([...seen.listed.keys()].sort()).toEqual([...seen.ids.keys()].sort());
    for (const id of seen.ids.keys()) {
      expect([id, seen.results.get(id)?.status]).toEqual([id, "succeeded"]);
      expect([id, count(id, "instance-ended"), count(id, "task-completed", AFTER)]).toEqual([
        id,
        1,
        1,
      ]);
    }
  });

  it("gave every wait the signal once, or the message that was faster (F30, F54)", () => {
    for (const [id, kind] of seen.ids) {
      if (kind === "reader") continue;
      const received = [count(id, "signal-received"), count(id, "message-received")];
      const isAnswered = seen.answered.has(id) && received[1] === 1;
      expect([id, received]).toEqual([id, isAnswered ? [0, 1] : [1, 0]]);
    }
  });

  it("has either taken a message or still keeps it (F35)", () => {
    const taken = [...seen.answered].filter((id) => count(id, "message-received") === 1);
    const kept = [...seen.answered].filter((id) => !taken.includes(id));
    expect([...seen.left.mail].sort()).toEqual(
      kept.map((id) => `${ANSWER} ${id} ${id}-answer`).sort(),
    );
  });

  it("gave every reader both events, each once and in their order, although both came twice", () => {
    for (const [id, kind] of seen.ids) {
      if (kind !== "reader") continue;
      const entries = seen.histories.get(id) ?? [];
      const letters = entries.flatMap(({ type, data }) =>
        type === "message-received" ? [data] : [],
      );
      expect([id, letters]).toEqual([id, [{ messageId: `${id}-1` }, { messageId: `${id}-2` }]]);
    }
  });

  it("ran the task after each wait under one key, and never twice in one process", () => {
    const keys = new Map([...seen.ids.keys()].map((id) => [id, new Set<string>()]));
    const runs = new Set<string>();
    const doubles: string[] = [];
    for (const { life, key, attempt, element } of seen.ledger) {
      const run = `life ${life}: ${key} attempt ${attempt} of ${element}`;
      if (runs.has(run)) doubles.push(run);
      runs.add(run);
      if (element === AFTER) keys.get(key.split(":")[0] ?? "")?.add(key);
    }
    expect(doubles).toEqual([]);
    for (const [id, ran] of keys) expect([id, ran.size]).toEqual([id, 1]);
  });

  it("has freed the keys of waits that the signal closed: a new wait with the key is reached", () => {
    const outcomes = [...seen.takenAgain.values()];
    expect(outcomes).toEqual(Array((CROWD.host + CROWD.race) / 2).fill("delivered"));
  });

  it("counts in a complete receipt exactly the waits that received the signal, despite kills", () => {
    const { receipt } = seen;
    expect(receipt).toMatchObject({ complete: true, started: 0, expired: 0, failed: [] });
    expect(receipt.matched).toBe(receipt.delivered + receipt.skipped);
    const received = [...seen.histories.values()].filter((entries) =>
      entries.some(({ type }) => type === "signal-received"),
    );
    expect(receipt.delivered).toBe(received.length);
  });

  it("has nothing armed: no wait, no task, no row, nothing due, and a new signal finds no wait", () => {
    const { waits, tasks, reachedAfterwards, left } = seen;
    expect({ waits, tasks, reachedAfterwards }).toEqual({
      waits: 0,
      tasks: 0,
      reachedAfterwards: 0,
    });
    // Entries in mailboxes that a kill has left are not removed at once; their keys are free.
    const due = left.due.filter((key) => !key.includes(AFTERWARDS));
    expect({ ...left, mail: [], subs: [], due }).toEqual(NOTHING_LEFT);
  });

  const count = (id: string, type: string, element?: string): number =>
    (seen.histories.get(id) ?? []).filter(
      (it) => it.type === type && (element === undefined || it.element === element),
    ).length;
});
