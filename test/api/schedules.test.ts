import { describe, expect, test } from "vitest";
import { aSchedule } from "../support/canned-views.ts";
import { fakeApi } from "./fake-api.ts";

describe("schedules", () => {
  test("are listed in pages", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("GET", "/v1/schedules", { query: "limit=10" });

    expect(answer.json).toEqual({ items: [aSchedule] });
    expect(asked).toEqual([["schedules", { limit: 10 }]]);
  });

  test("are stopped by their id, with 404 for an unknown one", async () => {
    const { api } = await fakeApi();

    const removed = await api("DELETE", `/v1/schedules/${aSchedule.id}`);
    const unknown = await api("DELETE", "/v1/schedules/report~never");

    expect(removed).toMatchObject({ status: 200, json: { removed: true } });
    expect(unknown).toMatchObject({ status: 404, json: { code: "schedule/not-found" } });
  });
});
