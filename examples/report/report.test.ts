import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const here = import.meta.dirname;

describe("the report example", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-report-"));
    engine = await openEngine({ dataDir, clock: "virtual", tasks: join(here, "tasks") });
    await engine.deploy(readFileSync(join(here, "report.bpmn"), "utf8"));
  });

  afterEach(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  const reports = async () => (await engine.list({ definition: "report", limit: 200 })).items;

  test("starts by itself every working day at nine in Berlin", async () => {
    await engine.advanceClock("P7D");

    const daily = (await reports()).filter(({ variables }) => variables.period === "day");
    const wall = new Intl.DateTimeFormat("en-GB", {
      timeZone: "Europe/Berlin",
      hour: "2-digit",
      minute: "2-digit",
    });
    expect(daily).toHaveLength(5);
    for (const { startedAt, status, variables } of daily) {
      expect(wall.format(Date.parse(startedAt))).toBe("09:00");
      expect(status).toBe("succeeded");
      expect(variables.title).toBe("Report of the day");
    }
  });

  test("runs once a month, and stops when its schedule is removed", async () => {
    await engine.removeSchedule("report~every-working-day");

    await engine.advanceClock("P31D");

    const schedules = (await engine.schedules()).items;
    expect(schedules).toMatchObject([{ id: "report~end-of-month", text: "0 0 17 LW * ?" }]);
    const titles = (await reports()).map(({ variables }) => variables.title);
    expect(new Set(titles)).toEqual(new Set(["Report of the month"]));
  });
});
