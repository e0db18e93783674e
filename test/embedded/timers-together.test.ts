import { describe, expect, test } from "vitest";
import { end, file, flow, process, service, start, timer, xml } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const BRANCHES = Array.from({ length: 5 }, (_, n) => n + 1);

/** Timers side by side, each followed by a task. */
const SIDE_BY_SIDE = file(
  process(
    start(),
    xml("parallelGateway", { id: "fork" }),
    flow("f", "start", "fork"),
    ...BRANCHES.flatMap((n) => [
      flow(`a${n}`, "fork", `pause${n}`),
      xml(
        "intermediateCatchEvent",
        { id: `pause${n}` },
        timer("timeDuration", `PT${n > 3 ? 2 : 1}S`),
      ),
      flow(`b${n}`, `pause${n}`, `work${n}`),
      service(`work${n}`),
      flow(`c${n}`, `work${n}`, `end${n}`),
      end(`end${n}`),
    ]),
  ),
);

describe("timers of one instance that are due together", () => {
  test.each([
    ["virtual", 0],
    ["virtual", 5],
    ["real", 5],
  ] as const)("F10 run what follows once: %s clock, tasks of %i ms", async (clock, takesMs) => {
    const runs: string[] = [];
    const engine = await anEngine({
      clock,
      source: SIDE_BY_SIDE,
      tasks: {
        work: async (_: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
          runs.push(idempotencyKey);
          await new Promise((resolve) => setTimeout(resolve, takesMs));
        },
      },
    });

    const { instanceId } = await engine.start("p", {});
    const advanced = clock === "virtual" && (await engine.advanceClock("PT3S"));
    await engine.result(instanceId, { timeoutMs: 10_000 });
    await engine.idle();

    if (advanced) expect(advanced).toMatchObject({ fired: BRANCHES.length, left: [] });
    expect(runs.length).toBe(BRANCHES.length);
    expect(new Set(runs).size).toBe(BRANCHES.length);
  });
});
