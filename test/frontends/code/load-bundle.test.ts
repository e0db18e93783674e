import { describe, expect, test } from "vitest";
import { MAX_LOST_TRIES } from "../../../lib/definition/limits.ts";
import type { Loaded, Sandbox } from "../../../lib/definition/sandbox.ts";
import { loadBundle } from "../../../lib/frontends/code/load-bundle.ts";
import { parseSourceMap } from "../../../lib/frontends/code/source-map.ts";

const LOST: Loaded = {
  ok: false,
  problem: { message: "The sandbox was restarted.", stopped: "lost" },
};

/** A sandbox that loses so many loads, since other workflows end its thread. */
function losing(count: number) {
  const seen = { loads: 0 };
  const declared = { workflows: ["w"], steps: [] };
  const program = { declared, open: () => expect.fail("nothing is run") };
  const sandbox: Sandbox = {
    engine: "fake",
    load: async () => (seen.loads++ < count ? LOST : { ok: true, program }),
    close: async () => {},
  };
  return {
    seen,
    load: () => loadBundle(sandbox, { source: "", map: parseSourceMap("") }),
    declared,
  };
}

describe("loading a bundle", () => {
  test("is repeated when other workflows have ended the thread, so that none is refused for them", async () => {
    const { seen, load, declared } = losing(MAX_LOST_TRIES - 1);

    expect(await load()).toEqual({ ok: true, declared });
    expect(seen.loads).toBe(MAX_LOST_TRIES);
  });

  test("comes to an end when it is always lost", async () => {
    const { seen, load } = losing(Number.POSITIVE_INFINITY);

    expect(await load()).toMatchObject({ ok: false, stopped: "lost" });
    expect(seen.loads).toBe(MAX_LOST_TRIES);
  });
});
