import { describe, expect, test } from "vitest";
import { MAX_KEPT_FACT_LENGTH } from "../../lib/definition/limits.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { decideIncident } from "../../lib/kernel/decide.ts";
import type { Fact } from "../../lib/kernel/fact.ts";
import type { Ticket } from "../../lib/kernel/instance.ts";
import type { Program } from "../../lib/kernel/runner.ts";
import { aWorkflow, event, message, signal, task } from "../support/generator-runner.ts";
import {
  aBoundaryMessage,
  aBoundarySignal,
  aMessageCatch,
  aProcess,
  aStart,
  aTask,
} from "../support/graph-builder.ts";
import { anEvent, aProgram, BEGIN, committed, givenAt, type Play, play } from "../support/play.ts";

/** Throws after the runner has done its work, while it is set to. */
function breaking({ definition, runner }: Program) {
  const fault = { isThere: false };
  const program: Program = {
    definition,
    runner: {
      ...runner,
      resume: async (draft, fact, ticket) => {
        await runner.resume(draft, fact, ticket);
        if (fault.isThere) throw new Error("broken");
      },
    },
  };
  return { fault, program };
}

const LARGE = "x".repeat(MAX_KEPT_FACT_LENGTH);

const coming: Record<string, (id: string) => Fact> = {
  signal: (ticket) => ({
    kind: "signal-received",
    ticket,
    broadcastId: "b1",
    seq: 1,
    payload: { x: LARGE },
  }),
  message: (ticket) => ({
    kind: "message-received",
    ticket,
    messageId: "m1",
    payload: { x: LARGE },
  }),
  event: (ticket) => ({
    kind: "event-received",
    ticket,
    eventId: "e1",
    seq: 1,
    payload: { x: LARGE },
  }),
};

const waits = { signal: signal("paid"), message: message("paid", "7"), event: event("paid") };
const KINDS = ["signal", "message", "event"] as const;
const waitingFor = (kind: keyof typeof waits) =>
  aWorkflow(function* () {
    return yield waits[kind];
  });

const onlyTicket = ({ instance }: Play): Ticket => {
  const [ticket] = instance.tickets;
  if (ticket === undefined) throw new Error("nothing is open");
  return ticket;
};

const resolveIt = (run: Play) =>
  run.deliver({ kind: "incident-resolved", ticket: onlyTicket(run).id });

function refuseAsTooLarge(run: Play, fact: Fact): void {
  const why = { type: "STATE_TOO_LARGE", message: "Too large." } as const;
  const { instance } = decideIncident(run.program, run.instance, { fact, why }, givenAt(run.now));
  run.instance = committed(instance);
}

describe("a fact for a wait that cannot be decided", () => {
  test.each(KINDS)("is kept whatever its size, and taken when resolved: a %s", async (kind) => {
    const { fault, program } = breaking(waitingFor(kind));
    const run = await play(program);
    fault.isThere = true;
    await run.deliver(coming[kind]?.(onlyTicket(run).id) ?? { kind: "cancel-requested" });
    const { open } = run;

    await resolveIt(run);
    fault.isThere = false;
    await resolveIt(run);

    expect(open).toEqual([`incident ${kind}:paid`]);
    expect(run.status).toBe("succeeded success");
    expect(run.program.runner.result(run.instance)).toEqual({ x: LARGE });
  });

  test.each(KINDS)(
    "is not kept by an instance that is too large, but its wait is: a %s",
    async (kind) => {
      const run = await play(waitingFor(kind));
      const ticket = onlyTicket(run);
      const fact = coming[kind]?.(ticket.id) ?? { kind: "cancel-requested" };

      refuseAsTooLarge(run, fact);
      const refused = onlyTicket(run);
      await resolveIt(run);
      await run.deliver(fact);

      expect(refused).toMatchObject({ on: "incident", kept: { ticket: { id: ticket.id } } });
      expect(refused).not.toHaveProperty("kept.fact");
      expect(run.status).toBe("succeeded success");
    },
  );

  test("stays kept when the retry would make the instance too large", async () => {
    const { fault, program } = breaking(waitingFor("message"));
    const run = await play(program);
    fault.isThere = true;
    await run.deliver(coming.message?.(onlyTicket(run).id) ?? { kind: "cancel-requested" });
    fault.isThere = false;

    refuseAsTooLarge(run, { kind: "incident-resolved", ticket: onlyTicket(run).id });
    await resolveIt(run);

    expect(run.status).toBe("succeeded success");
  });

  test.each(["signal", "event"] as const)(
    "needs a new row when its %s is restored: the old one is gone",
    async (kind) => {
      const run = await play(waitingFor(kind));
      const ticket = { ...onlyTicket(run), row: { after: 3, epoch: 1 } } as Ticket;
      run.instance = { ...run.instance, tickets: [ticket] };
      const later = { ...coming[kind]?.(ticket.id), seq: 4 } as Fact;

      refuseAsTooLarge(run, later);
      await resolveIt(run);

      expect(onlyTicket(run)).toMatchObject({ on: kind, id: ticket.id });
      expect(onlyTicket(run)).not.toHaveProperty("row");
    },
  );
});

describe("an event that cannot be decided", () => {
  const working = () =>
    aWorkflow(function* () {
      yield task("work");
      return yield event("paid");
    });

  test("D9: counts as sent while an incident keeps it, and is taken once when that is resolved", async () => {
    const { fault, program } = breaking(waitingFor("event"));
    const run = await play(program);
    fault.isThere = true;
    await run.send(anEvent("paid", { payload: 7 }));
    fault.isThere = false;
    const again = await run.send(anEvent("paid", { payload: 7 }));
    const incident = run.incident("workflow");

    await run.resolve("workflow");

    expect(again.changed).toBe(false);
    expect(incident.kept?.fact?.kind).toBe("event-sent");
    expect(run.program.runner.result(run.instance)).toBe(7);
    expect(run.instance.sentEvents).toEqual(["paid-1"]);
  });

  test("D9: may be sent again when it was too large to keep", async () => {
    const run = await play(working());
    const fact: Fact = { kind: "event-sent", event: anEvent("paid") };

    refuseAsTooLarge(run, fact);

    expect(run.instance.sentEvents).toEqual([]);
    expect((await run.decide(fact)).changed).toBe(true);
  });

  test("D9: is not in the inbox while an incident keeps it", async () => {
    const { fault, program } = breaking(working());
    const run = await play(program);
    await run.send(anEvent("paid", { payload: 7 }));
    await run.complete("work");
    fault.isThere = true;
    await run.event("event:paid", { eventId: "paid-1", seq: undefined, payload: 7 });
    fault.isThere = false;
    const { inbox } = run.instance;

    await resolveIt(run);

    expect(inbox).toEqual([]);
    expect(run.program.runner.result(run.instance)).toBe(7);
  });

  test("D11: is left unread by an end like any other", async () => {
    const { fault, program } = breaking(waitingFor("event"));
    const run = await play(program, { holdsBack: true });
    const sent = anEvent("paid", { onTargetTerminated: "deadLetter" });
    fault.isThere = true;
    await run.send(sent);

    await run.cancel();

    const effects = run.instance.outbox.map(({ effect }) => effect);
    expect(effects).toContainEqual({ kind: "bury", event: sent, targetStatus: "cancelled" });
  });
});

describe("a wait that stays open and is restored after an incident", () => {
  const watched = aProcess(
    [
      aStart(),
      aTask("work"),
      aBoundaryMessage("call", { on: "work", name: "call", interrupting: false }),
      aBoundarySignal("hail", { on: "work", name: "hail", interrupting: false }),
      aTask("note"),
    ],
    ["start -> work", "call -> note", "hail -> note"],
  );

  test("takes what was kept, and further ones", async () => {
    const { fault, program } = breaking(aProgram(watched));
    const order = await play(program);
    await order.signal("hail", { seq: 2 });
    fault.isThere = true;
    await order.signal("hail", { seq: 1 });
    fault.isThere = false;

    await order.resolve("hail");
    const again = await order.signal("hail", { seq: 2 });
    await order.signal("hail", { seq: 3 });

    expect(again.changed).toBe(false);
    expect(order.waitForSignal("hail").taken).toEqual({ low: 3, above: [] });
    expect(order.open.filter((open) => open === "task note")).toHaveLength(3);
  });

  test("F46: keeps waiting with its incident while another instance has the pair", async () => {
    const { fault, program } = breaking(aProgram(watched));
    const order = await play(program);
    fault.isThere = true;
    await order.message("call", { n: 1 });
    fault.isThere = false;
    order.taken.add("call/");

    await order.resolve("call");
    const { type, message: said } = order.incident("call");
    order.taken.clear();
    await order.resolve("call");

    expect(type).toBe("UNHANDLED_ERROR_EVENT");
    expect(said).toContain('already waits for the message "call" without a key');
    expect(order.variables).toEqual({ n: 1 });
    expect(order.open).toContain("message call");
  });

  test("F46: takes a message that closes it, even if another instance has the pair meanwhile", async () => {
    const { fault, program } = breaking(
      aProgram(
        aProcess(
          [aStart(), aMessageCatch("wait", "paid"), aTask("after")],
          ["start -> wait -> after"],
        ),
      ),
    );
    const order = await play(program);
    fault.isThere = true;
    await order.message("wait");
    fault.isThere = false;
    order.taken.add("paid/");

    await order.resolve("wait");

    expect(order.open).toEqual(["task after"]);
  });
});

describe("a fact for another kind of wait", () => {
  test.each(KINDS.flatMap((kind) => KINDS.map((of) => [kind, of] as const)))(
    "changes nothing unless it fits the wait: a %s for a wait of %s",
    async (kind, of) => {
      const run = await play(waitingFor(of));

      const decision = await run.deliver(
        coming[kind]?.(onlyTicket(run).id) ?? { kind: "cancel-requested" },
      );

      expect(decision.changed).toBe(kind === of);
    },
  );

  test("cannot be taken by a graph without such waits", async () => {
    const order = await play(aProcess([aStart(), aTask("work")], ["start -> work"]));
    const ticket: Ticket = {
      id: "w9.1",
      on: "event",
      name: "paid",
      ref: 0,
      element: "work",
      since: instantFrom(BEGIN),
    };
    order.instance = { ...order.instance, tickets: [...order.instance.tickets, ticket] };

    await order.event("work", { eventId: "e1", seq: 1 });

    expect(order.incident("work").message).toContain("cannot be the outcome of the event w9.1");
  });
});
