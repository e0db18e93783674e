import { describe, expect, test } from "vitest";
import { EngineError } from "../../lib/ports/engine-error.ts";
import { fakeApi } from "./fake-api.ts";

describe("health", () => {
  test.each([
    ["real", {}],
    ["virtual", { clock: { advance: () => Promise.reject(new Error("unused")) } }],
  ])("reports that the clock is %s", async (clock, extras) => {
    const { api } = await fakeApi({ extras });

    const answer = await api("GET", "/v1/health");

    expect(answer).toMatchObject({ status: 200, json: { status: "ok", version: "1.2.3", clock } });
  });

  test.each(["store/files-removed", "store/corrupt"] as const)(
    "is 503 and the reason once the engine has stopped: %s",
    async (code) => {
      const checkRunning = () => {
        throw new EngineError(code, {
          happened: "store.db is not what it was",
          where: "a folder",
          fix: "Restore it.",
          retryable: false,
          stopsEngine: true,
        });
      };
      const { api } = await fakeApi({ extras: { checkRunning } });

      const answer = await api("GET", "/v1/health");

      expect(answer).toMatchObject({
        status: 503,
        headers: { "retry-after": "1" },
        json: { status: 503, code, detail: "store.db is not what it was. Restore it." },
      });
    },
  );
});

describe("recovering", () => {
  test("answers with the report", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/recover", { json: {} });

    expect(answer).toMatchObject({ status: 200, json: { rearmed: 1, skipped: 2 } });
  });
});

describe("advancing the clock", () => {
  test("moves a virtual one", async () => {
    const told: string[] = [];
    const advance = async (by: string) => {
      told.push(by);
      const left = ["task live:1 is running"];
      return { now: "2026-07-02T10:00:00.000Z", fired: 2, left };
    };
    const { api } = await fakeApi({ extras: { clock: { advance } } });

    const answer = await api("POST", "/v1/clock/advance", { json: { by: "P1D" } });

    expect(answer).toMatchObject({
      status: 200,
      json: { fired: 2, left: ["task live:1 is running"] },
    });
    expect(told).toEqual(["P1D"]);
  });

  test("is refused by a real one", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/clock/advance", { json: { by: "P1D" } });

    expect(answer).toMatchObject({ status: 409, json: { code: "request/clock-not-virtual" } });
  });

  test.each([{}, { by: 1 }, { by: "" }, { by: "-P1D" }, { by: "P101Y" }, { by: "P1D", to: 1 }])(
    "is refused with %j",
    async (json) => {
      const { api } = await fakeApi();

      const answer = await api("POST", "/v1/clock/advance", { json });

      expect(answer.status).toBe(400);
    },
  );
});
