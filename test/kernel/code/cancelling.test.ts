import { describe, expect, test } from "vitest";
import { itemName } from "../../../lib/kernel/batch.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { Ticket } from "../../../lib/kernel/instance.ts";
import { run } from "../../support/code-play.ts";
import { anEvent, type Play } from "../../support/play.ts";

describe("cancelling", () => {
  const WAITS: Readonly<Record<string, string>> = {
    task: 'await task("a");',
    "task with a timeout": 'await task("a", null, { timeout: "1h" });',
    batch: 'await all(Array.from({ length: 12 }, (_, n) => task("a", n)));',
    timer: 'await delay("1h");',
    event: 'await event("e");',
    signal: 'await signal("s");',
    message: 'await message("m", "1");',
    race: 'await race([task("a"), delay("1h"), event("e")]);',
    "un-awaited task after the return": 'task("a"); return 1;',
  };

  const factFor = ({ on, id: ticket }: Ticket): Fact => {
    const payload = {};
    if (on === "timer") return { kind: "timer-due", ticket };
    if (on === "event") return { kind: "event-received", ticket, eventId: "e1", seq: 1, payload };
    if (on === "signal") {
      return { kind: "signal-received", ticket, broadcastId: "b1", seq: 1, payload };
    }
    if (on === "message") return { kind: "message-received", ticket, messageId: "m1", payload };
    const name = on === "family" ? itemName(ticket, 0) : ticket;
    return { kind: "task-completed", ticket: name, variables: {} };
  };

  test.each(Object.keys(WAITS))(
    "D14: R16: ends a workflow at a %s, once; a late outcome does not bring it back",
    async (name) => {
      let before: readonly Ticket[] = [];
      const order = await run(WAITS[name] ?? "", async (it) => {
        before = it.instance.tickets;
        await it.cancel("enough");
        expect((await it.cancel()).changed).toBe(false);
        it.now += 7_200_000;
        for (const ticket of before)
          expect((await it.deliver(factFor(ticket))).changed).toBe(false);
        expect((await it.send(anEvent("e"))).changed).toBe(false);
      });

      expect(before).not.toEqual([]);
      expect(order.status).toBe("cancelled cancel");
      expect(order.instance.tickets).toEqual([]);
      expect(order.trail).toContain("cancel-requested");
    },
  );

  test("D14: notes in history each operation that is cut short", async () => {
    const order = await run(WAITS.batch ?? "", async (it: Play) => {
      await it.completeMember("a", 3);
      await it.cancel();
    });

    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(11);
  });
});
