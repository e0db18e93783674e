import { describe, expect, test } from "vitest";
import { MAX_ROW_IN_FLIGHT_MS } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { isDeadRow } from "../../../lib/engine/rows/key-rows.ts";
import { lifeOfRow } from "../../../lib/engine/rows/life.ts";
import { openTask } from "../../../lib/engine/rows/open-tickets.ts";
import { asOffered, openRow, rowStateOf } from "../../../lib/engine/rows/task-row.ts";
import { instanceOrder } from "../../../lib/engine/storage/keys.ts";
import { blankInstance, type Image } from "../../../lib/engine/storage/stored-instance.ts";
import type { World } from "../../../lib/engine/world.ts";
import type { Instance, TaskTicket } from "../../../lib/kernel/instance.ts";

const NOW = instantFrom(1_800_000_000_000);
const AN_HOUR_AGO = instantFrom(NOW - MAX_ROW_IN_FLIGHT_MS);
const LONGER_AGO = instantFrom(AN_HOUR_AGO - 1);

const definition = { id: "p", version: 1, hash: "h" };
const blank = blankInstance({ id: "i", tenant: "default", definition, startHash: "s" }, LONGER_AGO);
const task: TaskTicket = {
  on: "task",
  id: "k5.1",
  element: "e",
  type: "work",
  since: LONGER_AGO,
  attempt: 1,
  retries: 2,
} as TaskTicket;

const anInstance = (version: number, ...tickets: readonly TaskTicket[]): Instance => ({
  ...blank,
  version,
  tickets,
});
const erased: Instance = { ...anInstance(9), status: "succeeded", erased: true };

/** A row written by the step that opened the ticket, and one written by a later step. */
const first = { ticket: "k5.1", version: 5 };
const later = { ticket: "k5.1", version: 8 };
const second = { attempt: 2 };

describe("a row", () => {
  test.each([
    ["whose ticket is open is open", first, LONGER_AGO, anInstance(5, task), "open"],
    ["of a version that is past is open with its ticket", first, NOW, anInstance(9, task), "open"],
    ["whose ticket is gone is dead", first, NOW, anInstance(5), "dead"],
    [
      "of another attempt is dead",
      { ...first, ...second },
      NOW,
      anInstance(6, { ...task, attempt: 1 }),
      "dead",
    ],
    ["of an erased instance is dead", first, NOW, erased, "dead"],
    ["whose instance cannot be read stays", first, LONGER_AGO, "unreadable", "unsure"],
    ["without an instance stays while it is young", first, AN_HOUR_AGO, undefined, "unsure"],
    ["without an instance is dead after an hour", first, LONGER_AGO, undefined, "dead"],
    ["of a later step without an instance stays", later, AN_HOUR_AGO, undefined, "unsure"],
    ["of a later step goes after an hour", later, LONGER_AGO, undefined, "dead"],
    ["ahead of its instance stays while it is young", first, AN_HOUR_AGO, anInstance(4), "unsure"],
    ["ahead of its instance is dead after an hour", first, LONGER_AGO, anInstance(4), "dead"],
    ["ahead of it by a later step stays", later, LONGER_AGO, anInstance(7, task), "unsure"],
  ] as const)("%s", (_, row, since, instance, kind) => {
    const attempt = "attempt" in row ? row.attempt : 1;

    const life = lifeOfRow(NOW, { ...row, since }, instance, (read) => {
      const open = openTask(read, row.ticket);
      return open && asOffered(open, { instanceId: "i", again: false, ...row, attempt });
    });

    expect(life.kind).toBe(kind);
    expect(life.kind === "open" && life.found).toEqual(kind === "open" && task);
  });
});

describe("a row of a task", () => {
  const world = { clock: { now: () => NOW } } as World;
  const imageOf = (instance: Instance): Image => ({ instance }) as Image;
  const row = openRow(anInstance(5), task, 1);

  test.each([
    ["is open with its task", anInstance(5, task), "open"],
    ["is early while its task may not be taken", anInstance(6, waiting(task)), "early"],
    ["is dead once the task is at another attempt", anInstance(6, { ...task, ...second }), "dead"],
    [
      "is dead where the commit that won opened another type",
      anInstance(5, { ...task, type: "other" }),
      "dead",
    ],
    ["is dead an hour after a commit that was never made", anInstance(4), "dead"],
    ["is dead an hour after its instance was to start", undefined, "dead"],
  ] as const)("%s", (_, instance, kind) => {
    expect(rowStateOf(world, row, instance && imageOf(instance)).kind).toBe(kind);
  });

  test("of an item stays with it, whatever the attempt", () => {
    const item = { ...task, member: 1 };
    const tried = { ...item, attempt: 3, retries: 0 };

    const state = rowStateOf(world, openRow(anInstance(8), tried, 1), imageOf(anInstance(8, item)));

    expect(state).toMatchObject({ kind: "open", task: { attempt: 3, retries: 0 } });
  });
});

describe("a row of a business key or tag", () => {
  const put = (version: number) => ({
    key: { pk: "default#K#bk#b", sk: instanceOrder(blank) },
    version,
    body: new Uint8Array(),
  });

  test.each([
    ["stays with its instance", LONGER_AGO, anInstance(1), false],
    ["stays without one while it is young", AN_HOUR_AGO, undefined, false],
    ["goes without one after an hour", LONGER_AGO, undefined, true],
    ["stays beside another of its id while it is young", AN_HOUR_AGO, another(), false],
    ["goes beside another of its id after an hour", LONGER_AGO, another(), true],
    ["goes with an erased one", NOW, erased, true],
    ["stays where its instance cannot be read", LONGER_AGO, "unreadable", false],
  ] as const)("%s", (_, putAt, found, isDead) => {
    expect(isDeadRow(NOW, put(putAt), found)).toBe(isDead);
  });
});

function waiting(open: TaskTicket): TaskTicket {
  return { ...open, notBefore: instantFrom(NOW + 1) };
}

function another(): Instance {
  return { ...anInstance(3), startedAt: NOW };
}
