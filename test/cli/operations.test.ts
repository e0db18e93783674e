import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type EmbeddedEngine, openEngine, serveEngine } from "../../lib/embedded/index.ts";
import { damageInstance } from "../support/damage.ts";
import { processOf } from "./process-of.ts";
import { say } from "./recording-terminal.ts";

describe("fermata, for operators,", () => {
  let folder: string;
  let engine: EmbeddedEngine;
  let server: Awaited<ReturnType<typeof serveEngine>>;
  const ask = (...args: readonly string[]) =>
    say(args, { environment: { FERMATA_URL: server.url } });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "fermata-cli-"));
    engine = await openEngine({ dataDir: folder });
    server = await serveEngine(engine, { port: 0 });
    await engine.deploy(processOf("waiting", "pay-by-hand"));
    for (const id of ["w1", "w2", "w3"]) {
      await engine.start("waiting", { instanceId: id, businessKey: `key ${id}`, tags: ["vip"] });
    }
    for (const instanceId of ["w1", "w2"]) {
      const { items } = await engine.tasks({ instanceId });
      await engine.fail(items[0]?.taskId ?? "", { message: "no card", retries: 0 });
    }
  });

  afterEach(async () => {
    await server.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  test("lists instances by business key, by tag and by time", async () => {
    const byKey = await ask("ls", "--business-key", "key w2");
    const byTag = await ask("ls", "--tag", "vip", "--json");
    const none = await ask("ls", "--before", "2020-01-01T00:00:00Z");

    expect(byKey.out.join("\n")).toMatch(/^w2\twaiting v1/);
    expect(byKey.out.join("\n")).not.toContain("w1");
    expect(JSON.parse(byTag.out.join(""))).toMatchObject({ items: [{}, {}, {}] });
    expect(none.out.join("\n")).not.toContain("w1");
  });

  test("starts with tags", async () => {
    await ask("start", "waiting", "--id", "w4", "--tag", "a", "--tag", "b");

    expect(await engine.list({ tag: "b" })).toMatchObject({ items: [{ tags: ["a", "b"] }] });
  });

  test("lists incidents, and shows which it would resolve", async () => {
    const listed = await ask("incidents", "--type", "JOB_NO_RETRIES");
    const dry = await ask("resolve", "--definition", "waiting");

    expect(listed.out.map((line) => line.slice(0, 2))).toEqual(["w2", "w1"]);
    expect(listed.out[0]).toMatch(/JOB_NO_RETRIES\tpay\tno card/);
    expect(dry).toMatchObject({ exitCode: 0 });
    expect(dry.out.at(-1)).toBe("2 match; --yes resolves them");
    expect((await engine.incidents()).items).toHaveLength(2);
  });

  test("resolves all that match, those of an instance, or a single one", async () => {
    const all = await ask("resolve", "--element", "pay", "--yes", "--retries", "2");
    expect(all.out.at(-1)).toBe("2 of 2 resolved, 0 already gone, 0 refused");
    const { items } = await engine.tasks({ instanceId: "w1" });
    expect(items).toMatchObject([{ retries: 2 }]);

    await engine.fail(items[0]?.taskId ?? "", { message: "still no card", retries: 0 });
    const [incident] = (await engine.get("w1")).incidents;
    const one = await ask("resolve", "w1", incident?.incidentId ?? "");
    const none = await ask("resolve", "w1");

    expect(one.out).toEqual([`w1: ${incident?.incidentId} resolved`]);
    expect(none.out).toEqual(["w1 has no open incident"]);
    expect(await ask("resolve", "w1", "--tag", "vip")).toMatchObject({ exitCode: 2 });
  });

  test("sets variables, of the process and of an open element", async () => {
    const set = await ask("set", "w3", "total=42", "note=some text");
    const local = await ask("set", "w3", "total=1", "--scope", "pay", "--json");
    const wrong = await ask("set", "w3", "total=1", "--scope", "nowhere");

    expect(set).toMatchObject({ exitCode: 0, out: ["w3: total, note set"] });
    expect((await engine.get("w3")).variables).toEqual({ total: 42, note: "some text" });
    expect(JSON.parse(local.out.join(""))).toEqual({ patched: true });
    expect(wrong).toMatchObject({ exitCode: 1 });
    expect(wrong.errors.join("\n")).toContain("instance/scope-not-found");
    expect(await ask("set", "w3")).toMatchObject({ exitCode: 2 });
  });

  test("purges ended instances, once it is confirmed", async () => {
    await engine.cancel("w1");
    await engine.cancel("w2");

    const dry = await ask("purge", "--status", "cancelled");
    const kept = await engine.list({ status: "cancelled" });
    const old = await ask("purge", "--ended-before", "2020-01-01T00:00:00Z", "--yes");
    const done = await ask("purge", "--definition", "waiting", "--yes", "--json");

    expect(dry.out.at(-1)).toBe("2 match; --yes erases them");
    expect(kept.items).toHaveLength(2);
    expect(old.out.at(-1)).toBe("0 of 0 erased, 0 already gone, 0 refused");
    expect(JSON.parse(done.out.join(""))).toMatchObject({ matched: 2, purged: 2, gone: 0 });
    expect((await engine.list()).items.map(({ instanceId }) => instanceId)).toEqual(["w3"]);
  });

  test("shows the number of shards of a definition's list, and raises it", async () => {
    const before = await ask("listing", "waiting");
    const raised = await ask("listing", "waiting", "--shards", "8", "--json");
    const lowered = await ask("listing", "waiting", "--shards", "4");
    const wrong = await ask("listing", "waiting", "--shards", "3");
    await ask("start", "waiting", "--id", "w4");

    expect(before.out.join("\n")).toMatch(/^definition +waiting\nshards +1$/);
    expect(JSON.parse(raised.out.join(""))).toEqual({ definition: "waiting", shards: 8 });
    expect(lowered).toMatchObject({ exitCode: 1 });
    expect(lowered.errors.join("\n")).toContain("definition/fewer-shards");
    expect(wrong).toMatchObject({ exitCode: 2 });
    expect((await ask("ls")).out.map((line) => line.slice(0, 2))).toEqual(["w4", "w3", "w2", "w1"]);
  });

  test("S3 recovers, and prints the counts", async () => {
    const once = await ask("recover");
    const all = await ask("recover", "--all", "--json");

    expect(once.exitCode).toBe(0);
    expect(once.out.join("\n")).toMatch(/unreadable +0/);
    expect(JSON.parse(all.out.join(""))).toEqual({
      resumed: 0,
      rearmed: 0,
      timersFired: 0,
      resent: 0,
      mailboxesPoked: 0,
      broadcastsResumed: 0,
      eventsOffered: 0,
      skipped: 3,
      unreadable: 0,
      failed: 0,
      troubles: [],
    });
  });

  test("S3 R17 names what a recovery could not read, and exits as incomplete", async () => {
    await server.close();
    await engine.close();
    await damageInstance(folder, "w2");
    engine = await openEngine({ dataDir: folder });
    server = await serveEngine(engine, { port: 0 });

    const all = await ask("recover", "--all");

    expect(all.exitCode).toBe(1);
    expect(all.out.join("\n")).toMatch(/nothing to do +2\nunreadable +1\n/);
    expect(all.errors).toEqual([
      expect.stringMatching(/^fermata: instance w2: .*\[store\/corrupt\]$/),
    ]);
  });
});
