import { appendFileSync, cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStepJournal, type StepJournal } from "../../../lib/adapters/local/step-journal.ts";
import {
  MAX_DEATHS_WITH_STEP,
  MAX_SUSPECTS_AT_ONCE,
  PAUSE_BEFORE_ALONE_MS,
  WATCHED_HANDLER_MS,
} from "../../../lib/definition/limits.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import type { WatchedStep } from "../../../lib/ports/step-watch.ts";
import { aDataDir } from "../../support/embedded.ts";

const step = (n: number): WatchedStep => ({ instanceId: `i${n}`, name: "t1.1" });

const run = (n: number): WatchedStep => ({ ...step(n), isTask: true });

/** Processes on one folder; each is killed when the next one is opened. */
class Lives {
  readonly #folders = [aDataDir()];
  #alarms: { at: number; ring: () => void }[] = [];
  #now = 1_000_000;

  open(): StepJournal {
    const before = this.folder;
    const folder = aDataDir();
    cpSync(before, folder, { recursive: true });
    this.#folders.push(folder);
    this.#alarms = [];
    return this.reopen();
  }

  /** On the same folder, after a clean end. */
  reopen(): StepJournal {
    return openStepJournal({
      folder: this.folder,
      steady: { now: () => instantFrom(this.#now) as Instant },
      alarm: (ms, ring) => {
        const alarm = { at: this.#now + ms, ring };
        this.#alarms.push(alarm);
        return () => {
          this.#alarms = this.#alarms.filter((it) => it !== alarm);
        };
      },
    });
  }

  get folder(): string {
    return this.#folders.at(-1) ?? "";
  }

  get file(): string {
    return join(this.folder, "steps.log");
  }

  pass(ms: number): void {
    this.#now += ms;
    for (const { at, ring } of this.#alarms.filter((it) => it.at <= this.#now)) {
      if (at <= this.#now) ring();
    }
  }
}

/** Dies this often with this step, each time after it was started. */
function dieWith(lives: Lives, dying: WatchedStep, times: number): void {
  for (let n = 0; n < times; n++) {
    const journal = lives.open();
    lives.pass(PAUSE_BEFORE_ALONE_MS);
    expect(journal.begin(dying)?.kind).toBe("begun");
  }
}

describe("a process that starts after a clean end", () => {
  test("counts nothing, and removes its file at a clean end", () => {
    const lives = new Lives();
    const journal = lives.open();

    expect(journal.begin(step(1))).toBeUndefined();
    expect(existsSync(lives.file)).toBe(true);
    journal.close();

    expect(existsSync(lives.file)).toBe(false);
    expect(lives.open().begin(step(1))).toBeUndefined();
  });
});

describe("a step that was running when the process died", () => {
  test("is poisoned after the maximum number of deaths, and not before", () => {
    const lives = new Lives();
    lives.open();
    dieWith(lives, step(1), MAX_DEATHS_WITH_STEP - 1);

    const last = lives.open();
    lives.pass(PAUSE_BEFORE_ALONE_MS);
    expect(last.begin(step(1))?.kind).toBe("begun");

    const after = lives.open();
    expect(after.begin(step(1))).toEqual({ kind: "poisoned", deaths: MAX_DEATHS_WITH_STEP });
    expect(after.begin(step(2))?.kind).toBe("begun");
  });

  test("runs beside a few others after the first death, and later and alone after the second", () => {
    const lives = new Lives();
    lives.open();
    const second = lives.open();
    for (let n = 0; n <= MAX_SUSPECTS_AT_ONCE; n++) second.begin(step(n));

    const third = lives.open();
    const begun = Array.from({ length: MAX_SUSPECTS_AT_ONCE }, (_, n) => third.begin(run(n)));
    expect(begun.map((it) => it?.kind)).toEqual(begun.map(() => "begun"));
    expect(third.begin(run(MAX_SUSPECTS_AT_ONCE))?.kind).toBe("later");
    expect(third.begin(step(MAX_SUSPECTS_AT_ONCE))?.kind).toBe("begun");

    const fourth = lives.open();
    expect(fourth.begin(step(0))).toEqual({ kind: "later", forMs: PAUSE_BEFORE_ALONE_MS });
    lives.pass(PAUSE_BEFORE_ALONE_MS);
    const alone = fourth.begin(step(0));
    expect(alone?.kind).toBe("begun");
    expect(fourth.begin(step(1))?.kind).toBe("later");
    if (alone?.kind === "begun") alone.end();
    expect(fourth.begin(step(1))?.kind).toBe("begun");
  });

  test("is not counted when it had already ended", () => {
    const lives = new Lives();
    lives.open();
    const journal = lives.open();
    const begun = journal.begin(step(1));
    if (begun?.kind === "begun") begun.end();

    expect(lives.open().suspects).toEqual([]);
  });

  test("keeps its count when a process ends cleanly before it ran", () => {
    const lives = new Lives();
    lives.open();
    dieWith(lives, step(1), 2);
    lives.open().close();

    expect(lives.reopen().suspects).toEqual([{ ...step(1), deaths: 2 }]);
  });

  test("is forgotten when all work is done", () => {
    const lives = new Lives();
    lives.open();
    dieWith(lives, step(1), 2);
    const journal = lives.open();
    journal.relax();

    expect(journal.begin(step(1))).toBeUndefined();
    expect(lives.open().suspects).toEqual([]);
  });

  test("is found although a line of the file was cut off", () => {
    const lives = new Lives();
    lives.open();
    lives.open().begin(step(1));
    appendFileSync(lives.file, '["i2","t1.');

    expect(lives.open().suspects).toEqual([{ ...step(1), deaths: 1 }]);
  });
});

describe("a handler", () => {
  test("that runs long is only watched at first", () => {
    const lives = new Lives();
    lives.open();
    const journal = lives.open();
    journal.begin({ ...step(1), isTask: true });
    lives.pass(WATCHED_HANDLER_MS);

    expect(lives.open().suspects).toEqual([]);
  });

  test("and the step that follows from it count as one", () => {
    const lives = new Lives();
    lives.open();
    dieWith(lives, { ...step(1), isTask: true }, 2);
    const journal = lives.open();
    lives.pass(PAUSE_BEFORE_ALONE_MS);
    const handler = journal.begin({ ...step(1), isTask: true });
    const following = journal.begin(step(1));

    expect([handler?.kind, following?.kind]).toEqual(["begun", "begun"]);
    expect(lives.open().suspects).toEqual([{ ...step(1), deaths: 3 }]);
  });
});
