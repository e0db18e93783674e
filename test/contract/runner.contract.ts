// What every runner must show through `decide`, whatever its notation.
import { describe, expect, test } from "vitest";
import type { Variables } from "../../lib/definition/json.ts";
import { valueAt } from "../../lib/engine/storage/paths.ts";
import type { Fact } from "../../lib/kernel/fact.ts";
import type { Instance, Ticket } from "../../lib/kernel/instance.ts";
import type { Program } from "../../lib/kernel/runner.ts";
import { anEvent, BEGIN, committed, type Play, play } from "../support/play.ts";

/** The same small workflows in the notation of each runner. */
export type RunnerPrograms = Readonly<{
  /** One task of type `work` with two attempts; then the end. */
  oneTask: () => Program;
  /** A task `work`, then a timer of an hour, then a task `after`. */
  taskThenTimer: () => Program;
  /** A task `work` against a timer of an hour; `on-time` or `too-late` follows the winner. */
  race: () => Program;
  /** The signal `closed` or the message `paid` with the key `42`; then a task `after`. */
  signalled: () => Program;
  messaged: () => Program;
  /** These two against a timer of an hour; `on-signal`, `on-message` or `on-timer` follows. */
  firstOf: () => Program;
  /** A timer of an hour, or the variable `approved` set to true; then a task `after`. */
  assigned: (() => Program) | "refused";
  /** The outcome of an instance whose task has no attempt left. */
  exhausted: "incident" | "failed";
  /** The outcome of a wait for a message that another instance waits for. */
  taken: "incident" | "failed";
  /** The outcome of variables that come with the resolution of a kept fact. */
  patch: "taken" | "refused";
}>;

const HOUR = 3_600_000;

/** Runs the suite for one runner. */
export function describeRunner(name: string, programs: RunnerPrograms): void {
  const { oneTask, taskThenTimer, race, exhausted, patch, taken } = programs;
  const { signalled, messaged, firstOf, assigned } = programs;

  describe(`${name}, as a runner`, () => {
    test("runs a new instance up to its first waits", async () => {
      const run = await play(oneTask(), { variables: { amount: 3 } });

      expect(openOf(run)).toEqual(["task work"]);
      expect(run.status).toBe("live");
      expect(run.active).toHaveLength(1);
    });

    test("gives a task its input", async () => {
      const run = await play(oneTask(), { variables: { amount: 3 } });

      const { variables } = run.program.runner.taskInput(run.instance, taskOf(run, "work"));

      expect(variables).toMatchObject({ amount: 3 });
    });

    test("reports the locations of user values: each once, none within another", async () => {
      const run = await play(taskThenTimer(), { variables: { amount: 3, customer: { id: 7 } } });
      await complete(run, "work", { list: [1, 2] });

      const { state } = run.instance;
      const places = run.program.runner.places(state);
      const names = places.map((place) => JSON.stringify(place).slice(0, -1));

      const values = places.map((place) => valueAt(state, place));
      expect(values).toEqual(expect.arrayContaining([3, { id: 7 }]));
      // A journal is not in the state: the engine knows where its values are.
      expect(JSON.stringify([values, run.instance.journal?.entries])).toContain("[1,2]");
      for (const name of names) {
        expect(names.filter((other) => other.startsWith(name))).toEqual([name]);
      }
    });

    test("continues from wait to wait and ends succeeded", async () => {
      const run = await play(taskThenTimer());
      await complete(run, "work");
      const pausing = openOf(run);
      await fire(run);
      const after = openOf(run);
      await complete(run, "after");

      expect(pausing).toEqual(["timer"]);
      expect(after).toEqual(["task after"]);
      expect(run.status).toBe("succeeded success");
      expect(run.instance.tickets).toEqual([]);
    });

    test("leaves a result", async () => {
      const run = await play(oneTask());
      await complete(run, "work", { receipt: "r-1" });

      expect(run.program.runner.result(run.instance)).toMatchObject({ receipt: "r-1" });
    });

    test("consumes a ticket once", async () => {
      const run = await play(taskThenTimer());
      const fact = completion(taskOf(run, "work"));
      await run.deliver(fact);
      const once = run.instance;

      const twice = await run.deliver(fact);

      expect(twice).toEqual({ instance: once, changed: false });
    });

    test("F17: F18: ignores facts that are late, early, duplicated or invalid", async () => {
      const run = await play(taskThenTimer());
      const work = taskOf(run, "work");
      await complete(run, "work");
      const { id } = timerOf(run);
      const waiting = run.instance;

      for (const fact of [
        completion(work),
        { kind: "timer-due", ticket: id },
        { kind: "timer-due", ticket: "t99.1" },
        { kind: "task-completed", ticket: id, variables: {} },
        { kind: "started", input: { variables: {} } },
      ] satisfies Fact[]) {
        expect(await run.deliver(fact)).toEqual({ instance: waiting, changed: false });
      }
    });

    test("F7: leaves nothing armed when it is cancelled, and does not cancel twice", async () => {
      const run = await play(race());

      await run.cancel("enough");
      const again = await run.cancel();

      expect(run.status).toBe("cancelled cancel");
      expect(run.instance.tickets).toEqual([]);
      expect(again.changed).toBe(false);
    });

    test("F21: ends failed by timeout at its deadline, before a later timer", async () => {
      const run = await play(race(), { deadline: BEGIN + 1_000 });
      run.now = BEGIN + 1_000;
      const deadline = run.instance.tickets.find(
        (ticket) => ticket.on === "timer" && ticket.deadline,
      );

      await run.deliver({ kind: "timer-due", ticket: deadline?.id ?? "" });

      expect(run.status).toBe("failed timeout");
      expect(run.instance.tickets).toEqual([]);
    });

    test("keeps its deadline while it runs, and drops it at the end", async () => {
      const run = await play(oneTask(), { deadline: BEGIN + HOUR });
      const { open } = run;

      await complete(run, "work");

      expect(open).toHaveLength(2);
      expect(run.status).toBe("succeeded success");
      expect(run.instance.tickets).toEqual([]);
    });

    test("gives a failed task its next attempt under the same ticket", async () => {
      const run = await play(oneTask());
      const { id } = taskOf(run, "work");

      await fail(run, "work", { retryAfterMs: 5_000 });

      expect(taskOf(run, "work")).toMatchObject({
        id,
        attempt: 2,
        retries: 1,
        notBefore: BEGIN + 5_000,
      });
      expect(run.status).toBe("live");
    });

    test(`without an attempt left leaves ${exhausted === "failed" ? "a failed instance" : "an incident"}`, async () => {
      const run = await play(oneTask());
      await fail(run, "work");

      await fail(run, "work");

      if (exhausted === "failed") {
        expect(run.status).toBe("failed failure");
        expect(run.instance.error?.message).toBe("it broke");
      } else {
        expect(run.status).toBe("live");
        expect(run.open).toEqual(["incident work"]);
      }
    });

    test.each(["work", "timer"])(
      "disarms what loses a race against the %s, in one commit",
      async (winner) => {
        const run = await play(race());
        const both = run.instance.tickets;

        await (winner === "work" ? complete(run, "work") : fire(run));
        const decided = run.instance;
        run.now = BEGIN + 2 * HOUR;
        for (const ticket of both) await run.deliver(outcomeOf(ticket));

        expect(both).toHaveLength(2);
        expect(openOf(run)).toEqual([winner === "work" ? "task on-time" : "task too-late"]);
        expect(run.instance).toBe(decided);
      },
    );

    test.each([
      ["signal", () => signalled(), { name: "closed" }],
      ["message", () => messaged(), { name: "paid", key: "42" }],
    ] as const)("waits for a %s by name, and continues when it comes", async (on, of, what) => {
      const run = await play(of());
      const [ticket] = run.instance.tickets;

      await run.deliver(outcomeOf(waitOf(run, on)));

      expect(ticket).toMatchObject({ on, ...what });
      expect(openOf(run)).toEqual(["task after"]);
      expect(run.trail.find((line) => line.startsWith(`${on}-received`))).toBeDefined();
      expect(
        run.instance.trail.entries.find(({ type }) => type === `${on}-received`)?.data,
      ).toMatchObject(on === "signal" ? { broadcastId: "b1" } : { messageId: "m1" });
    });

    test.each([
      ["signal", () => signalled()],
      ["message", () => messaged()],
    ] as const)("F17: takes a %s once", async (on, of) => {
      const run = await play(of());
      const fact = outcomeOf(waitOf(run, on));
      await run.deliver(fact);
      const once = run.instance;

      expect(await run.deliver(fact)).toEqual({ instance: once, changed: false });
    });

    test("F36: ignores a signal from before its wait began", async () => {
      const run = await play(signalled());
      const ticket = { ...waitOf(run, "signal"), row: { after: 1, epoch: 1 } };
      run.instance = { ...run.instance, tickets: [ticket] };

      const { changed } = await run.deliver(outcomeOf(ticket));

      expect(changed).toBe(false);
    });

    const failsIfTaken = taken === "failed" ? test : undefined;
    failsIfTaken?.("F46: fails at a message that another instance waits for", async () => {
      const run = await play(messaged(), { taken: ["paid/42"] });

      expect(run.status).toBe("failed failure");
      expect(run.instance.error).toMatchObject({ code: "CORRELATION_TAKEN" });
    });

    const stopsIfTaken = taken === "incident" ? test : undefined;
    stopsIfTaken?.(
      "F46: stops at a message that another instance waits for, until that wait is closed",
      async () => {
        const run = await play(messaged(), { taken: ["paid/42"] });
        const [incident] = run.instance.tickets;
        run.taken.clear();
        await resolve(run);

        expect(incident).toMatchObject({ on: "incident", type: "UNHANDLED_ERROR_EVENT" });
        expect(incident).toMatchObject({ message: expect.stringContaining('the key "42"') });
        expect(openOf(run)).toEqual(["message"]);
      },
    );

    test.each(["signal", "message", "timer"] as const)(
      "F54: D7: lets the %s win a race, in one commit, and leaves nothing of the others",
      async (winner) => {
        const run = await play(firstOf());
        const all = run.instance.tickets;
        run.now = BEGIN + HOUR;

        await run.deliver(outcomeOf(waitOf(run, winner)));
        const decided = run.instance;
        for (const ticket of all) await run.deliver(outcomeOf(ticket));

        expect(all.map(({ on }) => on).toSorted()).toEqual(["message", "signal", "timer"]);
        expect(openOf(run)).toEqual([`task on-${winner}`]);
        expect(run.instance).toBe(decided);
      },
    );

    test("D9: keeps an event without a wait, once", async () => {
      const run = await play(oneTask());
      await run.send(anEvent("approved"));

      const again = await run.send(anEvent("approved"));

      expect(again.changed).toBe(false);
      expect(run.instance.inbox.map(({ id }) => id)).toEqual(["approved-1"]);
      expect(openOf(run)).toEqual(["task work"]);
    });

    test("D11: passes on its unread events at its end", async () => {
      const run = await play(oneTask(), { holdsBack: true });
      const event = anEvent("approved", { onTargetTerminated: "deadLetter" });
      await run.send(event);

      await complete(run, "work");

      const effects = run.instance.outbox.map(({ effect }) => effect);
      expect(effects).toContainEqual({ kind: "bury", event, targetStatus: "succeeded" });
      expect(run.instance.inbox).toEqual([]);
    });

    test("turns a thrown error into an incident that keeps the fact, and takes the fact when resolved", async () => {
      const program = taskThenTimer();
      const fault = { isThere: false };
      const run = await play(faulty(program, fault));
      const { state } = run.instance;
      fault.isThere = true;
      await complete(run, "work");

      const { tickets, state: after } = run.instance;
      fault.isThere = false;
      const [incident] = tickets;
      await run.deliver({ kind: "incident-resolved", ticket: incident?.id ?? "" });

      expect(tickets).toMatchObject([{ on: "incident", type: "UNKNOWN", message: "broken" }]);
      expect(after).toEqual(state);
      expect(openOf(run)).toEqual(["timer"]);
    });

    test("turns an error thrown at the start into an incident too", async () => {
      const fault = { isThere: true };
      const run = await play(faulty(oneTask(), fault));
      const { tickets } = run.instance;
      fault.isThere = false;

      await run.deliver({ kind: "incident-resolved", ticket: tickets[0]?.id ?? "" });

      expect(tickets).toHaveLength(1);
      expect(openOf(run)).toEqual(["task work"]);
    });

    test("starts with the variables of the resolution, which override those of the start", async () => {
      const fault = { isThere: true };
      const run = await play(faulty(oneTask(), fault), { variables: { amount: 3, rate: 1 } });
      fault.isThere = false;

      await resolve(run, { variables: { rate: 2 } });

      const { variables } = run.program.runner.taskInput(run.instance, taskOf(run, "work"));
      expect(variables).toMatchObject({ amount: 3, rate: 2 });
    });

    test("counts the attempts that the resolution of a kept failure sets", async () => {
      const fault = { isThere: false };
      const run = await play(faulty(oneTask(), fault));
      fault.isThere = true;
      await fail(run, "work");
      fault.isThere = false;

      await resolve(run, { retries: 7 });

      expect(taskOf(run, "work")).toMatchObject({ attempt: 2, retries: 7 });
    });

    test(`has variables that come with the resolution of a kept fact ${patch}`, async () => {
      const fault = { isThere: false };
      const run = await play(faulty(taskThenTimer(), fault), { variables: { rate: 1 } });
      fault.isThere = true;
      await complete(run, "work");
      fault.isThere = false;

      const [before] = run.instance.tickets;
      await resolve(run, { variables: { rate: 2 } });
      const [after] = run.instance.tickets;
      const { variables } = run.program.runner.view(run.instance);
      if (patch === "refused") await resolve(run);

      expect(variables).toEqual({ rate: patch === "taken" ? 2 : 1 });
      if (patch === "refused") {
        expect(after).toMatchObject({ message: expect.stringContaining("without variables") });
        expect(keptBy(after)).toEqual(keptBy(before));
      }
      expect(openOf(run)).toEqual(["timer"]);
    });

    const refusesVariables = assigned === "refused" ? test : undefined;
    refusesVariables?.("refuses variables that are set from outside", async () => {
      const run = await play(race());

      await run.deliver(APPROVED);

      const incident = run.instance.tickets.find(({ on }) => on === "incident");
      expect(incident).toMatchObject({ type: "NON_DETERMINISM" });
      expect(openOf(run)).toEqual(["task work", "timer", "incident"]);
    });

    const waiting = assigned === "refused" ? race : assigned;
    const waits = assigned === "refused" ? undefined : test;

    waits?.("continues when the variable that it waits for is set, in one commit", async () => {
      const run = await play(waiting());
      const { id } = timerOf(run);

      const { changed } = await run.deliver(APPROVED);
      const after = openOf(run);
      run.now = BEGIN + HOUR;
      const late = await run.deliver({ kind: "timer-due", ticket: id });
      await complete(run, "after");

      expect(changed).toBe(true);
      expect(after).toEqual(["task after"]);
      expect(late.changed).toBe(false);
      expect(run.status).toBe("succeeded success");
    });

    waits?.("is not resumed by a variable that nothing waits for any more", async () => {
      const run = await play(waiting());
      await fire(run);

      await run.deliver(APPROVED);

      const open = openOf(run).filter((ticket) => ticket !== "incident");
      expect(open).toEqual(["task after"]);
    });

    test("can be cancelled even when it could not start", async () => {
      const run = await play(faulty(oneTask(), { isThere: true }));

      await run.cancel();

      expect(run.status).toBe("cancelled cancel");
    });

    test("decides the same from the same input, also from a stored copy", async () => {
      for (const program of [oneTask(), taskThenTimer(), race()]) {
        const run = await play(program);
        const fact = completion(taskOf(run, "work"));
        const one = await run.decide(fact);
        run.instance = stored(run.instance);

        const two = await run.decide(fact);

        expect(two).toEqual(one);
      }
    });

    test("numbers history without gaps and never uses a ticket id twice", async () => {
      const run = await play(taskThenTimer());
      const ids = run.instance.tickets.map(({ id }) => id);
      await complete(run, "work");
      ids.push(...run.instance.tickets.map(({ id }) => id));
      await fire(run);
      ids.push(...run.instance.tickets.map(({ id }) => id));

      const { entries, next } = run.instance.trail;
      expect(new Set(ids).size).toBe(3);
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, at) => at + 1));
      expect(next).toBe(entries.length + 1);
    });
  });
}

const APPROVED: Fact = { kind: "variables-patched", variables: { approved: true } };

/** Does all its work on the draft and then throws: none of that work may be visible. */
function faulty({ definition, runner }: Program, fault: { isThere: boolean }): Program {
  const breakNow = () => {
    if (fault.isThere) throw new Error("broken");
  };
  return {
    definition,
    runner: {
      ...runner,
      start: (draft, input) => runner.start(draft, input).then(breakNow),
      resume: (draft, fact, ticket) => runner.resume(draft, fact, ticket).then(breakNow),
    },
  };
}

const stored = (instance: Instance): Instance => {
  const copy: Instance = JSON.parse(JSON.stringify(instance));
  return { ...committed(copy), version: instance.version };
};

/** Tasks by type, timers without a name: elements have different names in each notation. */
function openOf({ instance }: Play): readonly string[] {
  return instance.tickets.map((ticket) =>
    ticket.on === "task" ? `task ${ticket.type}` : ticket.on,
  );
}

function taskOf({ instance }: Play, type: string) {
  for (const ticket of instance.tickets) {
    if (ticket.on === "task" && ticket.type === type) return ticket;
  }
  throw new Error(`No task of type "${type}" is open.`);
}

function timerOf({ instance }: Play) {
  for (const ticket of instance.tickets) if (ticket.on === "timer") return ticket;
  throw new Error("No timer is open.");
}

const completion = ({ id }: Ticket, variables: Variables = {}): Fact => ({
  kind: "task-completed",
  ticket: id,
  variables,
});

function waitOf({ instance }: Play, on: "signal" | "message" | "timer"): Ticket {
  const found = instance.tickets.find((ticket) => ticket.on === on);
  if (found === undefined) throw new Error(`No ${on} is waited for.`);
  return found;
}

function outcomeOf(ticket: Ticket): Fact {
  const { id } = ticket;
  switch (ticket.on) {
    case "timer":
      return { kind: "timer-due", ticket: id };
    case "signal":
      return { kind: "signal-received", ticket: id, broadcastId: "b1", seq: 1, payload: {} };
    case "message":
      return { kind: "message-received", ticket: id, messageId: "m1", payload: {} };
    case "continuation":
    case "event":
    case "child":
    case "incident":
    case "task":
    case "family":
      return completion(ticket);
  }
}

const complete = (run: Play, type: string, variables: Variables = {}) =>
  run.deliver(completion(taskOf(run, type), variables));

function fail(run: Play, type: string, how: Readonly<{ retryAfterMs?: number }> = {}) {
  const { id, attempt } = taskOf(run, type);
  return run.deliver({ kind: "task-failed", ticket: id, attempt, message: "it broke", ...how });
}

function resolve(
  run: Play,
  how: Readonly<{ variables?: Variables; retries?: number }> = {},
): Promise<unknown> {
  const incident = run.instance.tickets.find(({ on }) => on === "incident");
  return run.deliver({ kind: "incident-resolved", ticket: incident?.id ?? "", ...how });
}

const keptBy = (ticket: Ticket | undefined) =>
  ticket?.on === "incident" ? ticket.kept : "no incident";

function fire(run: Play) {
  const { id, dueAt } = timerOf(run);
  run.now = Math.max(run.now, dueAt);
  return run.deliver({ kind: "timer-due", ticket: id });
}
