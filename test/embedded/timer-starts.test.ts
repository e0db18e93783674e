import { describe, expect, onTestFinished, test } from "vitest";
import { type EmbeddedEngine, serveEngine } from "../../lib/embedded/index.ts";
import { checkedApi, sendTo } from "../support/api-client.ts";
import { flow, service } from "../support/bpmn-xml.ts";
import { anEngine, trailOf } from "../support/embedded.ts";
import { startingAt, startsBothWays, startsItself } from "../support/timer-starts.ts";

/** When instances of this definition started, the earliest first, as minutes after `from`. */
async function begun(engine: EmbeddedEngine, definition: string, from: number): Promise<number[]> {
  const { items } = await engine.list({ definition, limit: 200 });
  return items.map(({ startedAt }) => (Date.parse(startedAt) - from) / MINUTE).toReversed();
}

const MINUTE = 60_000;
const nowOf = async (engine: EmbeddedEngine) => Date.parse((await engine.advanceClock("PT0S")).now);

describe("a timer start event", () => {
  test("F16 with a duration starts one instance, that long after the deployment", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    const { definitions } = await engine.deploy(startsItself("late", { timeDuration: "PT10M" }));

    const early = await engine.advanceClock("PT9M59S");
    const due = await engine.advanceClock("PT1S");
    const after = await engine.advanceClock("P30D");

    expect(definitions[0]?.warnings).toMatchObject([{ code: "bpmn/start-timer-from-deploy" }]);
    expect([early.fired, due.fired, after.fired]).toEqual([0, 1, 0]);
    expect(await begun(engine, "late", from)).toEqual([10]);
    const [only] = (await engine.list({ definition: "late" })).items;
    expect(only).toMatchObject({ variables: {}, activeElements: ["work"] });
    expect(await trailOf(engine, only?.instanceId ?? "")).toContain("element-completed begin");
  });

  test("F16 with a date starts one instance then, and at once if it has passed", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    const date = new Date(from + 90 * MINUTE).toISOString();
    await engine.deploy(startsItself("ahead", { timeDate: date }));
    await engine.deploy(startsItself("past", { timeDate: "2019-10-01T12:00:00Z" }));

    const atOnce = await engine.advanceClock("PT0S");
    await engine.advanceClock("P1D");

    expect(atOnce.left).toEqual([]);
    expect(await begun(engine, "past", from)).toEqual([0]);
    expect(await begun(engine, "ahead", from)).toEqual([90]);
  });

  test("F16 with R3 starts three instances and stops; three again after a changed source", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    await engine.deploy(startsItself("thrice", { timeCycle: "R3/PT10M" }));

    await engine.advanceClock("PT25M");
    const [halfway] = (await engine.schedules()).items;
    await engine.advanceClock("PT2H");
    const [over] = (await engine.schedules()).items;
    await engine.deploy(startsItself("thrice", { timeCycle: "R3/PT10M" }));
    await engine.advanceClock("PT2H");
    await engine.deploy(startsItself("thrice", { timeCycle: "R3/PT10M" }, { name: "changed" }));
    await engine.advanceClock("PT2H");

    expect(halfway).toMatchObject({ fired: 2, remaining: 1, kind: "cycle", text: "R3/PT10M" });
    expect(halfway?.nextDue).toBe(new Date(from + 30 * MINUTE).toISOString());
    expect(over).toMatchObject({ fired: 3, remaining: 0, enabled: true });
    expect(over).not.toHaveProperty("nextDue");
    expect(await begun(engine, "thrice", from)).toEqual([10, 20, 30, 275, 285, 295]);
  });

  test("F16 starts three again after enabling, and a duration counts from then", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    await engine.deploy(startsItself("thrice", { timeCycle: "R3/PT10M" }));
    await engine.deploy(startsItself("late", { timeDuration: "PT10M" }));
    await engine.advanceClock("PT15M");

    await engine.disable("thrice");
    await engine.disable("late");
    await engine.advanceClock("PT45M");
    await engine.enable("thrice");
    await engine.enable("late");
    await engine.advanceClock("PT3H");

    expect(await begun(engine, "thrice", from)).toEqual([10, 70, 80, 90]);
    expect(await begun(engine, "late", from)).toEqual([10, 70]);
  });

  test("F4 starts nothing while disabled, and a redeployment then stays disabled", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    await engine.deploy(startsItself("often", { timeCycle: "R/PT1H" }));
    await engine.advanceClock("PT90M");

    await engine.disable("often");
    await engine.disable("often");
    const [disabled] = (await engine.schedules()).items;
    await engine.advanceClock("P1D");
    await engine.deploy(startsItself("often", { timeCycle: "R/PT1H" }, { name: "second" }));
    await engine.advanceClock("P1D");
    const [redeployed] = (await engine.schedules()).items;
    const view = await engine.definition("often");
    await engine.enable("often");
    await engine.enable("often");
    await engine.advanceClock("PT1H");

    expect(disabled).toMatchObject({ enabled: false });
    expect(disabled).not.toHaveProperty("nextDue");
    expect(redeployed).toMatchObject({ enabled: false, definition: { id: "often", version: 2 } });
    expect(view.startEvents[0]).not.toHaveProperty("nextDue");
    expect(await begun(engine, "often", from)).toEqual([60, 90 + 2 * 1_440 + 60]);
    expect((await engine.list({ definition: "often" })).items[0]?.definition.version).toBe(2);
  });

  test("F5 that a new version lacks fires no more; running instances continue", async () => {
    const engine = await anEngine({ tasks: {} });
    await engine.deploy(startsItself("often", { timeCycle: "R/PT1H" }));
    await engine.advanceClock("PT2H");

    await engine.deploy(startsItself("often", { timeDate: "2999-01-01T00:00:00Z" }));
    await engine.advanceClock("P1D");

    const { items } = await engine.list({ definition: "often" });
    expect(items.map(({ status, definition }) => [status, definition.version])).toEqual([
      ["suspended", 1],
      ["suspended", 1],
    ]);
    expect((await engine.schedules()).items).toMatchObject([{ kind: "date", fired: 0 }]);
  });

  test("F6, F16 stops when undeployed, and returns with the same source", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    const source = startsItself("twice", { timeCycle: "R2/PT1H" });
    await engine.deploy(source);
    await engine.advanceClock("PT1H");

    await engine.undeploy("twice");
    const gone = (await engine.schedules()).items;
    await engine.advanceClock("P1D");
    await engine.deploy(source);
    await engine.advanceClock("P1D");

    expect(gone).toEqual([]);
    expect(await begun(engine, "twice", from)).toEqual([60, 60 + 1_440 + 60, 60 + 1_440 + 120]);
    const versions = (await engine.list({ definition: "twice" })).items.map(
      ({ definition }) => definition.version,
    );
    expect(versions).toEqual([1, 1, 1]);
  });

  test("R20 with cron follows the local time of its zone", async () => {
    const engine = await anEngine();
    await engine.advanceClock("P1D");
    await engine.deploy(
      startsItself("morning", { timeCycle: "0 0 9 * * MON-FRI", zone: "Europe/Berlin" }),
    );

    await engine.advanceClock("P7D");

    const { items } = await engine.list({ definition: "morning" });
    const local = new Intl.DateTimeFormat("en-GB", {
      timeZone: "Europe/Berlin",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
    const shown = new Set(items.map(({ startedAt }) => local.format(Date.parse(startedAt))));
    expect(items).toHaveLength(5);
    expect(shown).toEqual(
      new Set(["Mon", "Tue", "Wed", "Thu", "Fri"].map((day) => `${day} 09:00`)),
    );
    const [schedule] = (await engine.schedules()).items;
    expect(schedule).toMatchObject({ kind: "cron", zone: "Europe/Berlin", fired: 5 });
    expect(schedule).not.toHaveProperty("remaining");
  });

  test("may be combined with a plain start and other timers, each with its own count", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    await engine.deploy(startsBothWays("both", { timeCycle: "R1/PT30M" }));
    await engine.deploy(
      startsItself(
        "several",
        { timeCycle: "R1/PT10M" },
        {
          more: [
            startingAt("other", { timeCycle: "R2/PT15M" }),
            service("second"),
            flow("f3", "other", "second"),
          ].join(""),
        },
      ),
    );
    const { instanceId } = await engine.start("both");

    await engine.advanceClock("P1D");

    expect((await engine.get(instanceId)).activeElements).toEqual(["work"]);
    expect(await begun(engine, "both", from)).toEqual([0, 30]);
    expect(await begun(engine, "several", from)).toEqual([10, 15, 30]);
    await expect(engine.start("several")).rejects.toMatchObject({
      code: "definition/not-startable",
      message: expect.stringContaining('the timer "begin"'),
    });
  });

  test("runs the first tasks of its instances", async () => {
    const ran: string[] = [];
    const engine = await anEngine({
      tasks: { work: (_, { instanceId }) => void ran.push(instanceId) },
      source: startsItself("busy", { timeCycle: "R3/PT1M" }),
    });

    const { left } = await engine.advanceClock("PT10M");

    expect(left).toEqual([]);
    expect(new Set(ran).size).toBe(3);
    const { items } = await engine.list({ definition: "busy" });
    expect(items.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  test("computes its value when it is deployed and when it is enabled", async () => {
    const engine = await anEngine();
    const from = await nowOf(engine);
    await engine.deploy(startsItself("computed", { timeDuration: '=duration("PT" + "20M")' }));
    await engine.deploy(startsItself("tomorrow", { timeDate: '=now() + duration("P1D")' }));

    await engine.advanceClock("P2D");
    await engine.disable("tomorrow");
    await engine.enable("tomorrow");
    await engine.advanceClock("P2D");

    expect(await begun(engine, "computed", from)).toEqual([20]);
    expect(await begun(engine, "tomorrow", from)).toEqual([1_440, 3 * 1_440]);
  });
});

describe("a schedule", () => {
  test("is listed and stopped over HTTP, and returns when its definition is enabled", async () => {
    const engine = await anEngine({ source: startsItself("often", { timeCycle: "R/PT1H" }) });
    const { url, close } = await serveEngine(engine, { port: 0 });
    onTestFinished(close);
    const api = await checkedApi(sendTo(url));

    const listed = await api("GET", "/v1/schedules");
    const shown = await api("GET", "/v1/definitions/often");
    const removed = await api("DELETE", "/v1/schedules/often~begin");
    const again = await api("DELETE", "/v1/schedules/often~begin");
    const unknown = await api("DELETE", "/v1/schedules/often");
    const after = await api("GET", "/v1/schedules");
    await engine.advanceClock("P1D");
    const while_ = (await engine.list({ definition: "often" })).items;
    await engine.disable("often");
    await engine.enable("often");
    await engine.advanceClock("PT1H");

    expect(listed).toMatchObject({ status: 200, json: { items: [{ id: "often~begin" }] } });
    expect(shown).toMatchObject({
      json: { startEvents: [{ kind: "timer", nextDue: expect.any(String) }] },
    });
    expect(removed).toMatchObject({ status: 200, json: { removed: true } });
    expect(again).toMatchObject({ status: 404, json: { code: "schedule/not-found" } });
    expect(unknown).toMatchObject({ status: 404, json: { code: "schedule/not-found" } });
    expect(after).toMatchObject({ json: { items: [] } });
    expect(while_).toEqual([]);
    expect((await engine.list({ definition: "often" })).items).toHaveLength(1);
  });
});
