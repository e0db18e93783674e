import { describe, expect, test } from "vitest";
import { httpHandlers } from "../../functions/run-task/http-handlers.ts";
import { taskHandlers } from "../../functions/run-task/task-handlers.ts";
import { declaredHandlers } from "../../functions/task-manifest.ts";
import { HandlerRuns } from "../../lib/adapters/handlers/handler-runs.ts";
import { realClock } from "../../lib/adapters/node/clock.ts";

const clock = realClock();
const NOTHING_SET = { httpAllowHosts: undefined, httpAllowPrivate: [], httpSecrets: {} };

describe("the HTTP task of a deployed installation", () => {
  test("is known to every function, with the settings of the one that runs it", () => {
    const runs = new HandlerRuns();
    const builtIn = httpHandlers(NOTHING_SET, { runs, clock });
    const running = taskHandlers({ manifest: {}, bundled: {}, arns: {}, builtIn, runs, clock });

    const { run: _, ...known } = declaredHandlers({}).get("fermata:http") ?? {};
    const { run: __, ...here } = running.get("fermata:http") ?? {};
    expect(known).toEqual(here);
    expect(here).toEqual({ timeoutMs: 45_000, isolate: false, exclusive: false });
  });

  test("is replaced by a handler of the installation", async () => {
    const runs = new HandlerRuns();
    const builtIn = httpHandlers(NOTHING_SET, { runs, clock });
    const declared = { timeoutMs: 1_000, isolate: true, exclusive: false };
    const manifest = { "fermata:http": declared };
    const bundled = {
      "fermata:http": { timeout: 1_000, isolate: true, run: () => ({ own: true }) },
    };
    const running = taskHandlers({ manifest, bundled, arns: {}, builtIn, runs, clock });

    expect(declaredHandlers(manifest).get("fermata:http")).toMatchObject(declared);
    expect(running.get("fermata:http")).toMatchObject(declared);
  });

  test("calls only the hosts that the environment lists", async () => {
    const runs = new HandlerRuns();
    const builtIn = httpHandlers({ ...NOTHING_SET, httpAllowHosts: [] }, { runs, clock });
    const outcome = await builtIn.get("fermata:http")?.run(
      { url: "https://api.example.com/" },
      {
        taskId: "one.k1",
        instanceId: "one",
        ticket: "k1",
        element: "call",
        idempotencyKey: "one:k1",
        attempt: 1,
        headers: {},
      },
    );

    expect(outcome).toMatchObject({ kind: "failed", retries: 0 });
    expect(outcome).toHaveProperty("message", expect.stringContaining("none of allowHosts"));
  });
});
