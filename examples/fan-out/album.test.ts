import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { album } from "./workflows/album.ts";

describe("the fan-out (D23)", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-fan-out-"));
    engine = await openEngine({
      dataDir,
      clock: "virtual",
      workflows: join(import.meta.dirname, "workflows"),
    });
  });

  afterAll(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  const madeOf = (pictures: number) => engine.start(album, { input: { name: "sea", pictures } });

  /** The numbers of the operations that completed, from all pages of the history. */
  async function completionsOf(instanceId: string) {
    const done: (number | undefined)[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.history(instanceId, { limit: 200, ...(cursor && { cursor }) });
      const completed = page.items.filter(({ type }) => type === "task-completed");
      done.push(...completed.map(({ occurrence }) => occurrence));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return done;
  }

  test("runs a hundred tasks in one all, each once, and keeps their order (R23)", async () => {
    const started = await madeOf(100);

    const { status, result } = await engine.result(started);

    expect(status).toBe("succeeded");
    expect(result).toMatchObject({ first: "sea-1-small.jpg", last: "sea-100-small.jpg" });
    const done = await completionsOf(started.instanceId);
    expect(done).toHaveLength(100);
    expect(new Set(done).size).toBe(100);
  });

  test("of more tasks than may be open at a time fails with the reason", async () => {
    const started = await madeOf(257);

    const { status, error } = await engine.result(started);

    expect(status).toBe("failed");
    expect(error?.message).toMatch(/256 operations open/);
  });
});
