import { expect, test } from "vitest";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { STORE_TROUBLE_EVERY_MS, troubleLog } from "../../lib/embedded/trouble-log.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";

const full = new EngineError("store/disk-full", {
  happened: "Full",
  where: "here",
  fix: "Free some space.",
  retryable: true,
});

test("store errors are logged once a minute, with the number of those in between", () => {
  const told: string[] = [];
  let now = 0;
  const tell = troubleLog((message) => told.push(message), { now: () => instantFrom(now) });

  for (const at of [0, 1, STORE_TROUBLE_EVERY_MS - 1, STORE_TROUBLE_EVERY_MS]) {
    now = at;
    tell(`at ${at}.`, full);
  }

  expect(told).toEqual(["at 0.", "at 60000. (2 more of this kind since the last one.)"]);
});

test("other errors are all logged", () => {
  const told: string[] = [];
  const tell = troubleLog((message) => told.push(message), { now: () => instantFrom(0) });

  tell("one", new Error("first"));
  tell("two", new Error("second"));

  expect(told).toEqual(["one", "two"]);
});
