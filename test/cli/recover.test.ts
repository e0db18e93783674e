import { describe, expect, test } from "vitest";
import { aService } from "../support/http-service.ts";
import { say } from "./recording-terminal.ts";

const report = {
  resumed: 1,
  rearmed: 0,
  timersFired: 0,
  resent: 1,
  mailboxesPoked: 0,
  broadcastsResumed: 0,
  eventsOffered: 0,
  skipped: 0,
  unreadable: 0,
  troubles: [],
};

describe("fermata recover --all", () => {
  test.each([
    [0, 0],
    [3, 1],
  ])("with %i skipped on the first of two pages ends with exit code %i", async (failed, code) => {
    const { port } = await aService(({ path, body }) => ({
      headers: { "content-type": "application/json" },
      body: JSON.stringify(
        JSON.stringify([path, body]).includes("page-two")
          ? { ...report, failed: 0 }
          : { ...report, failed, nextCursor: "page-two" },
      ),
    }));
    const environment = { FERMATA_URL: `http://127.0.0.1:${port}` };

    const { exitCode, out, errors } = await say(["recover", "--all"], { environment });

    expect(exitCode).toBe(code);
    expect(out.join("\n")).toMatch(/messages sent again +2/);
    expect(out.join("\n")).toMatch(new RegExp(`failed, run again +${failed}`));
    expect(errors.join().includes("run this command again")).toBe(failed > 0);
  });
});
