import { describe, expect, test } from "vitest";
import { Agenda, MAX_SLEEP_MS, noAlarm } from "../../../lib/adapters/local/agenda.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import { ManualTime } from "../../support/manual-time.ts";

describe("an agenda", () => {
  test("wakes at the millisecond, not before", async () => {
    const { time, woken, wait } = opened();
    wait(1_234);

    await time.pass(1_233);
    expect(woken).toEqual([]);
    await time.pass(1);
    expect(woken).toEqual([1_234]);
  });

  test("sets no alarm while nothing waits", () => {
    const { time } = opened();

    expect(time.alarms).toBe(0);
  });

  test("never sleeps longer than a second, and has one alarm only", async () => {
    const { time, wait } = opened();
    wait(86_400_000);
    wait(86_400_001);

    for (let n = 0; n < 10; n++) {
      expect(time.alarms).toBe(1);
      await time.pass(MAX_SLEEP_MS);
    }
  });

  test("follows a clock that jumps forward within a second", async () => {
    const { time, woken, wait } = opened();
    wait(3_600_000);

    time.jump(3_600_000);
    await time.pass(MAX_SLEEP_MS);

    expect(woken).toHaveLength(1);
  });

  test("wakes nothing early or twice when the clock jumps back", async () => {
    const { time, woken, wait } = opened();
    wait(1_000);
    wait(10_000);
    await time.pass(1_000);
    expect(woken).toHaveLength(1);

    time.jump(-5_000);
    await time.pass(13_999);
    expect(woken).toHaveLength(1);
    await time.pass(1);
    expect(woken).toHaveLength(2);
  });

  test("rings for an instant that comes after the clock jumped back", async () => {
    const { time, woken, wait } = opened();
    wait(500);
    time.jump(-3_600_000);
    wait(-3_600_000 + 10);
    await time.pass(10);

    expect(woken).toEqual([-3_600_000 + 10]);
  });

  test("also wakes entries that become due while others are woken", () => {
    const agenda = new Agenda({ clock: new ManualTime(), alarm: noAlarm });
    let [first, second]: (Instant | undefined)[] = [undefined, agenda.now()];
    const woken: string[] = [];
    agenda.add({
      nextDue: () => first,
      wake() {
        first = undefined;
        woken.push("first");
      },
    });
    agenda.add({
      nextDue: () => second,
      wake(now) {
        second = undefined;
        first = now;
        woken.push("second");
      },
    });

    expect(woken).toEqual(["second", "first"]);
  });

  test("wakes nothing after it is stopped", async () => {
    const { time, agenda, woken, wait } = opened();
    wait(1_000);
    agenda.stop();
    await time.pass(5_000);

    expect(woken).toEqual([]);
    expect(time.alarms).toBe(0);
  });
});

/** An agenda with one waiter for several instants, in milliseconds after the start. */
function opened() {
  const time = new ManualTime();
  const start = time.now();
  const agenda = new Agenda({ clock: time, alarm: time.alarm });
  let dues: Instant[] = [];
  const woken: number[] = [];
  agenda.add({
    nextDue: () => dues.toSorted((a, b) => a - b)[0],
    wake(now) {
      for (const due of dues) if (due <= now) woken.push(due - start);
      dues = dues.filter((due) => due > now);
    },
  });
  const wait = (ms: number) => {
    dues.push(instantFrom(start + ms));
    agenda.look();
  };
  return { time, agenda, woken, wait };
}
