import { describe, expect, onTestFinished, test } from "vitest";
import { serveEngine } from "../../lib/embedded/index.ts";
import { anEngine } from "../support/embedded.ts";
import { startsItself } from "../support/timer-starts.ts";
import { say } from "./recording-terminal.ts";

describe("fermata schedules", () => {
  test("lists the armed timer starts, and stops one", async () => {
    const engine = await anEngine();
    await engine.deploy(startsItself("hourly", { timeCycle: "0 0 * * * *", zone: "Asia/Tokyo" }));
    await engine.deploy(startsItself("thrice", { timeCycle: "R3/PT1M" }));
    await engine.deploy(startsItself("once", { timeDuration: "PT1M" }));
    await engine.advanceClock("PT2M");
    await engine.disable("thrice");
    const { url, close } = await serveEngine(engine, { port: 0 });
    onTestFinished(close);
    const ask = (...args: readonly string[]) => say(["schedules", ...args, "--url", url]);

    const listed = await ask();
    const asJson = await ask("--json");
    const removed = await ask("rm", "hourly~begin");
    const again = await ask("rm", "hourly~begin");
    const wrong = await ask("stop", "hourly~begin");
    const incomplete = await ask("rm");

    const rows = listed.out.map((row) => row.split("\t"));
    expect(rows.map(([id]) => id)).toEqual(["hourly~begin", "once~begin", "thrice~begin"]);
    expect(rows[0]?.slice(2, 4)).toEqual(["0 0 * * * *", "Asia/Tokyo"]);
    expect(rows[0]?.at(-1)).toBe("no end");
    expect(rows[1]?.slice(4)).toEqual(["never", "1", "0"]);
    expect(rows[2]?.slice(4)).toEqual(["disabled", "2", "1"]);
    expect(JSON.parse(asJson.out.join()).items).toHaveLength(3);
    expect(removed).toMatchObject({ exitCode: 0, out: ["hourly~begin is stopped"] });
    expect(again).toMatchObject({ exitCode: 1 });
    expect([wrong.exitCode, incomplete.exitCode]).toEqual([2, 2]);
  });
});
