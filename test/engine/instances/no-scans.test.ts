// A hundred thousand instances, written as the engine writes them but without running them one by
// one, and pages of every filter: the store counts what each of them reads.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalStore, openLocalStore } from "../../../lib/adapters/local/store.ts";
import { formatInstant, instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Engine } from "../../../lib/engine/engine.ts";
import {
  instanceKey,
  instanceOrder,
  type Phase,
  phaseView,
  shardFor,
} from "../../../lib/engine/storage/keys.ts";
import type { Item, Write } from "../../../lib/ports/store.ts";
import type { InstanceFilter, InstanceView } from "../../../lib/shapes/instances.ts";
import { sequence, service } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const MANY = 100_000;
const DEFINITIONS = ["p", "q", "r", "s"];
/** The listing of this one is sharded. */
const SPREAD = { definition: "s", shards: 8 };
const PHASES: readonly Phase[] = ["live", "incident", "succeeded", "failed", "cancelled"];
const BEGIN = 1_800_000_000_000;
const SECOND = 1_000;

describe("with 100,000 instances stored, a page of 50", () => {
  let engine: Engine;
  let store: LocalStore;
  const folder = mkdtempSync(join(tmpdir(), "fermata-crowd-"));

  beforeAll(async () => {
    store = openLocalStore({ folder });
    const world = aPlainWorld({ store, settings: { retentionMs: 900 * 86_400_000 } });
    engine = world.engine;
    const samples = await samplesIn(world, store);
    for (let from = 0; from < MANY; from += 500) {
      const slice = Array.from({ length: 500 }, (_, n) => crowded(samples, from + n)).flat();
      await Promise.all(slice.map((write) => store.commit([write])));
    }
    world.moveTo(BEGIN + (MANY + 1) * SECOND);
  }, 240_000);

  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const at = (n: number) => formatInstant(instantFrom(BEGIN + n * SECOND));
  const everyFilter: readonly InstanceFilter[] = [
    {},
    { definition: "q" },
    { definition: "s" },
    { status: "succeeded" },
    { status: "failed", definition: "p" },
    { status: "suspended" },
    { status: "suspended", definition: "r" },
    { incident: true },
    { incident: true, definition: "s" },
    { businessKey: "all alike" },
    { tag: "everybody" },
    { startedAfter: at(500), startedBefore: at(40_000) },
    { definition: "p", startedBefore: at(40_000) },
    { status: "cancelled", startedAfter: at(500), startedBefore: at(40_000) },
    { tag: "everybody", startedBefore: at(500) },
    { businessKey: "all alike", startedAfter: at(500), startedBefore: at(900) },
  ];

  /** What a page shows, and how many items were read for it. */
  const page = async (filter: InstanceFilter, cursor?: string) => {
    const [before, keys] = [store.reads, store.keysRead];
    const shown = await engine.list(filter, { limit: 50, ...(cursor && { cursor }) });
    return { ...shown, reads: store.reads - before, keys: store.keysRead - keys };
  };

  test.each(everyFilter.map((filter) => [JSON.stringify(filter), filter] as const))(
    "is full, and so is the next: %s",
    async (_, filter) => {
      const first = await page(filter);
      const second = await page(filter, first.nextCursor);

      for (const { items, reads, keys } of [first, second]) {
        expect(items).toHaveLength(50);
        expect(reads).toBeLessThanOrEqual(80);
        // Four definitions and all phases: 20 views, and 35 more for the shards of one.
        expect(keys).toBeLessThanOrEqual(400);
        expect(items.map(orderOf)).toEqual(items.map(orderOf).toSorted().reverse());
      }
      const [last, next] = [first.items.at(-1), second.items[0]];
      expect(last && next && orderOf(last) > orderOf(next)).toBe(true);
    },
  );

  const few: readonly InstanceFilter[] = [
    { businessKey: "rare 7" },
    { tag: "everybody", businessKey: "rare 7" },
    { status: "running" },
    { status: "running", definition: "p" },
    { tag: "everybody", incident: true },
    { tag: "everybody", definition: "q", status: "failed" },
    { businessKey: "nobody's" },
    { definition: "none" },
  ];

  test.each(few.map((filter) => [JSON.stringify(filter), filter] as const))(
    "with a selective filter reads no more, and continues: %s",
    async (_, filter) => {
      const first = await page(filter);
      const second = first.nextCursor ? await page(filter, first.nextCursor) : first;

      for (const { reads } of [first, second]) expect(reads).toBeLessThanOrEqual(80);
    },
  );

  test("by a rare key finds all that have it", async () => {
    const { items, nextCursor, reads } = await page({ businessKey: "rare 7" });

    expect(items.map(({ instanceId }) => instanceId)).toEqual(["i50007", "i00007"]);
    expect([nextCursor, reads]).toEqual([undefined, 2]);
  });

  test("of incidents, and of instances to purge, reads no more", async () => {
    const before = store.reads;
    const { items } = await engine.incidents({ definition: "p" }, { limit: 50 });
    const between = store.reads;
    const filter = { endedBefore: at(60_000), status: "failed" } as const;
    const purge = await engine.purge({ filter, dryRun: true, limit: 50 });

    expect(items).toHaveLength(50);
    expect(between - before).toBeLessThanOrEqual(80);
    expect(purge.matched).toBe(50);
    expect(store.reads - between).toBeLessThanOrEqual(80);
  });
});

const orderOf = ({ startedAt, instanceId }: InstanceView): string => `${startedAt} ${instanceId}`;

/** One real instance of each kind and definition: all others are copies of them. */
async function samplesIn({ engine, drain }: ReturnType<typeof aPlainWorld>, store: LocalStore) {
  const samples = new Map<string, Item>();
  for (const definition of DEFINITIONS) {
    const source = sequence(service("work")).replace('id="p"', `id="${definition}"`);
    await engine.deploy({ notation: "bpmn", source });
    if (definition === SPREAD.definition) await engine.setListing(definition, SPREAD);
    for (const phase of PHASES) {
      const instanceId = `sample-${definition}-${phase}`;
      const over = phase === "failed" && { deadline: "PT0S" };
      await engine.start(definition, { instanceId, ...over });
      await drain();
      await bringTo(engine, phase, instanceId);
      await drain();
      const [item] = await store.get([instanceKey("default", instanceId)]);
      if (item) samples.set(`${definition} ${phase}`, item);
    }
  }
  return samples;
}

async function bringTo(engine: Engine, phase: Phase, instanceId: string): Promise<void> {
  const { items } = await engine.tasks({ instanceId }, { limit: 1 });
  const taskId = items[0]?.taskId ?? "";
  if (phase === "succeeded") await engine.completeTask(taskId);
  if (phase === "cancelled") await engine.cancel(instanceId);
  if (phase === "incident") await engine.failTask(taskId, { message: "no", retries: 0 });
}

/** The n-th copy, with its rows. */
function crowded(samples: ReadonlyMap<string, Item>, n: number): readonly Write[] {
  const definition = DEFINITIONS[n % DEFINITIONS.length] ?? "";
  const phase = PHASES[Math.floor(n / DEFINITIONS.length) % PHASES.length] ?? "live";
  const sample = samples.get(`${definition} ${phase}`);
  if (sample === undefined) throw new Error(`there is no ${phase} ${definition}`);
  const id = `i${String(n).padStart(5, "0")}`;
  const startedAt = instantFrom(BEGIN + n * SECOND);
  const order = instanceOrder({ startedAt, id });
  const businessKey = n % 2 === 0 ? "all alike" : `rare ${n % 50_000}`;
  const shard = definition === SPREAD.definition ? shardFor(id, SPREAD.shards) : 0;
  const packed: object = JSON.parse(new TextDecoder().decode(sample.body));
  const changed = { ...packed, ls: shard, a: startedAt, bk: businessKey, tg: ["everybody"] };
  const body = new TextEncoder().encode(JSON.stringify(changed));
  const view = phaseView("default", phase, definition, shard);
  const rows = [`default#K#bk#${businessKey}`, "default#K#tag#everybody"].map(
    (pk): Write => ({
      put: { key: { pk, sk: order }, version: startedAt, body: new Uint8Array() },
      when: "newer",
    }),
  );
  const key = instanceKey("default", id);
  const { expiresAt: _, ...kept } = sample;
  return [{ put: { ...kept, key, body, listed: { view, order } }, when: "absent" }, ...rows];
}
