import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import { anEngine } from "../support/embedded.ts";
import { startsItself } from "../support/timer-starts.ts";

const SECOND = 1_000;
const DAY = 86_400_000;

/**
 * The local time of a zone at an instant, as the platform shows it: our calendar is not used here.
 */
function wallIn(zone: string) {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    day: "numeric",
    month: "numeric",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
  });
  return (at: number) => {
    const parts = Object.fromEntries(format.formatToParts(at).map((it) => [it.type, it.value]));
    const { weekday = "", day, month, hour, minute } = parts;
    return { weekday, date: `${month}-${day}`, time: Number(hour) * 60 + Number(minute) };
  };
}

/** Every half hour of the year with a wanted local time; of a repeated local time the first. */
function expected(from: number, zone: string, isWanted: (wall: Wall) => boolean): string[] {
  const wallOf = wallIn(zone);
  const found: string[] = [];
  const seen = new Set<string>();
  const step = 30 * 60 * SECOND;
  for (let at = Math.ceil((from + 1) / step) * step; at <= from + 365 * DAY; at += step) {
    const wall = wallOf(at);
    if (!isWanted(wall) || seen.has(`${wall.date} ${wall.time}`)) continue;
    seen.add(`${wall.date} ${wall.time}`);
    found.push(new Date(at).toISOString());
  }
  return found;
}

type Wall = Readonly<{ weekday: string; date: string; time: number }>;

async function begun(engine: EmbeddedEngine, definition: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list({ definition, limit: 200, ...(cursor && { cursor }) });
    found.push(...page.items.map(({ startedAt }) => startedAt));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found.toSorted();
}

describe("a year of timer starts", () => {
  test("F16, R20 follows the local time of three zones, through every change of their clocks", async () => {
    const engine = await anEngine();
    const from = Date.parse((await engine.advanceClock("PT0S")).now);
    // Half past two does not exist on one night in Berlin, and exists twice on another; half past
    // one exists twice in New York.
    const nightly = { timeCycle: "0 30 2 * * *", zone: "Europe/Berlin" };
    const sundays = { timeCycle: "0 30 1,9 ? * SUN", zone: "America/New_York" };
    await engine.deploy(startsItself("nightly", nightly));
    await engine.deploy(startsItself("sundays", sundays));
    await engine.deploy(startsItself("fortnightly", { timeCycle: "R/P14D", zone: "UTC" }));

    const { left } = await engine.advanceClock("P365D");

    expect(left).toEqual([]);
    const atNight = await begun(engine, "nightly");
    expect(atNight).toEqual(expected(from, "Europe/Berlin", ({ time }) => time === 150));
    expect(new Set([364, 365]).has(atNight.length)).toBe(true);
    expect(await begun(engine, "sundays")).toEqual(
      expected(from, "America/New_York", ({ weekday, time }) => {
        return weekday === "Sun" && (time === 90 || time === 570);
      }),
    );
    expect(await begun(engine, "fortnightly")).toEqual(
      Array.from({ length: 26 }, (_, n) => new Date(from + (n + 1) * 14 * DAY).toISOString()),
    );
  });
});
