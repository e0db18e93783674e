import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWelcome } from "../../lib/kernel/decide.ts";
import { parseState, ROOT } from "../../lib/kernel/graph/state.ts";
import type { Instance } from "../../lib/kernel/instance.ts";
import { aProgram, committed, givenAt, type Play, play } from "../support/play.ts";
import { aRandomGraph, aRandomGraphOfCalls } from "../support/random-graph.ts";
import { anyFact, shaken } from "../support/shaken.ts";

const choices = fc.array(fc.nat(), { maxLength: 12 });
const runs = { numRuns: 60 };

/** Everything that happens to it, one fact after the other. */
async function throughLife(
  definition: Parameters<typeof aProgram>[0],
  choices: readonly number[],
  each: (order: Play, fact: NonNullable<ReturnType<typeof anyFact>>) => Promise<void>,
): Promise<void> {
  const order = await play(aProgram(definition), { variables: { x: 1 } });
  for (const choice of choices) {
    const fact = anyFact(order, choice);
    if (fact === undefined) return;
    await each(order, fact);
  }
}

describe.each([
  ["of tasks and timers", aRandomGraph],
  ["of signals and messages too", aRandomGraphOfCalls],
])("for any graph, %s, and any facts", (_, graph) => {
  const lives = [graph, choices] as const;

  test("F17: a fact that is delivered twice is taken once", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, (definition, choices) =>
        throughLife(definition, choices, async (order, fact) => {
          // For a wait that stays open, the mailbox knows which messages it has delivered.
          const isKnown = staysFor(order, fact);
          await order.deliver(fact);
          if (isKnown) return;
          const once = order.instance;

          const twice = await order.deliver(fact);

          expect(twice).toEqual({ instance: once, changed: false });
        }),
      ),
      runs,
    );
  });

  test("a decision made again is the same decision", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, (definition, choices) =>
        throughLife(definition, choices, async (order, fact) => {
          const one = await order.decide(fact);
          const two = await order.decide(fact);

          expect(two).toEqual(one);
          order.instance = committed(one.instance);
        }),
      ),
      runs,
    );
  });

  test("a live instance has a ticket that something can wake, an ended one has none", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        await shaken(definition, choices, ({ status, tickets }) =>
          expect(tickets.length > 0).toBe(status === "live"),
        );
      }),
      runs,
    );
  });

  test("the runner never fails unexpectedly: every incident is one that it raises itself", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        await shaken(definition, choices, ({ tickets }) => {
          const types = tickets.flatMap((ticket) =>
            ticket.on === "incident" ? [ticket.type] : [],
          );
          expect(types).not.toContain("UNKNOWN");
        });
      }),
      runs,
    );
  });

  test("no ticket id is ever used again, and a ticket keeps its kind", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        const seen = new Map<string, string>();
        let before = new Set<string>();
        await shaken(definition, choices, ({ tickets }) => {
          const ids = tickets.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          for (const { id, on, element, ref } of tickets) {
            const what = `${on} ${element} ${ref}`;
            expect(before.has(id) || !seen.has(id)).toBe(true);
            expect(seen.get(id) ?? what).toBe(what);
            seen.set(id, what);
          }
          before = new Set(ids);
        });
      }),
      runs,
    );
  });

  test("history is numbered from 1 without a gap", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        const { trail } = await shaken(definition, choices);

        expect(trail.entries.map(({ seq }) => seq)).toEqual(trail.entries.map((_, at) => at + 1));
        expect(trail.next).toBe(trail.entries.length + 1);
      }),
      runs,
    );
  });

  test("history closes what it opens: what is entered is completed, terminated or active", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        const instance = await shaken(definition, choices);

        expect(standing(instance)).toEqual(
          instance.status === "live" ? activeOf(instance) : new Map(),
        );
      }),
      runs,
    );
  });

  test("history records each visit under its own number, from entering to leaving", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        const instance = await shaken(definition, choices);

        const open = openVisits(instance);
        const standing = parseState(instance.state).tokens.filter(({ id }) => id !== ROOT);
        const active = standing.map(({ id, node }) => `${node} ${id}`);
        expect(open).toEqual(instance.status === "live" ? active.sort() : []);
      }),
      runs,
    );
  });

  test("S2: every ticket belongs to an open token, and no pair is waited for twice", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        await shaken(definition, choices, ({ tickets, state }) => {
          const tokens = new Set(parseState(state).tokens.map(({ id }) => id));
          const pairs = tickets.flatMap((ticket) =>
            ticket.on === "message" ? [`${ticket.name}/${ticket.key}`] : [],
          );
          expect(tickets.filter(({ ref }) => ref !== ROOT && !tokens.has(ref))).toEqual([]);
          expect(new Set(pairs).size).toBe(pairs.length);
        });
      }),
      runs,
    );
  });

  test("F18: no fact is accepted any more once the instance has ended", async () => {
    await fc.assert(
      fc.asyncProperty(...lives, async (definition, choices) => {
        const facts: Parameters<typeof isWelcome>[1][] = [{ kind: "cancel-requested" }];
        const last = await shaken(definition, choices, ({ tickets }) => {
          for (const { id: ticket } of tickets) {
            facts.push({ kind: "timer-due", ticket });
            facts.push({ kind: "message-received", ticket, messageId: "m", payload: {} });
          }
        });
        fc.pre(last.status !== "live");

        expect(facts.filter((fact) => isWelcome(last, fact, givenAt(last.lastNow)))).toEqual([]);
      }),
      runs,
    );
  });
});

function staysFor({ instance }: Play, fact: NonNullable<ReturnType<typeof anyFact>>): boolean {
  const id = "ticket" in fact ? fact.ticket : "";
  return instance.tickets.some(
    (ticket) => ticket.id === id && ticket.on === "message" && ticket.stays,
  );
}

/** How many occurrences of each element history leaves open. */
function standing({ trail }: Instance): Map<string, number> {
  const open = new Map<string, number>();
  const add = (element: string, by: number) => {
    const count = (open.get(element) ?? 0) + by;
    if (count === 0) open.delete(element);
    else open.set(element, count);
  };
  for (const { type, element = "" } of trail.entries) {
    if (type === "element-entered") add(element, 1);
    if (type === "element-completed" || type === "element-terminated") add(element, -1);
  }
  return open;
}

/** Visits that history has entered and not left; fails where it leaves one that it has not entered. */
function openVisits({ trail }: Instance): readonly string[] {
  const entered = new Set<string>();
  const open = new Set<string>();
  for (const { type, element, occurrence } of trail.entries) {
    const visit = `${element} ${occurrence}`;
    if (type === "element-entered") {
      expect(entered.has(visit)).toBe(false);
      entered.add(visit);
      open.add(visit);
    }
    if (type === "element-completed" || type === "element-terminated") {
      expect(open.delete(visit)).toBe(true);
    }
    if (type === "task-completed" || type === "task-failed") expect(open).toContain(visit);
  }
  return [...open].sort();
}

function activeOf({ state }: Instance): Map<string, number> {
  const { tokens } = parseState(state);
  const active = new Map<string, number>();
  for (const { id, node } of tokens) if (id !== ROOT) active.set(node, (active.get(node) ?? 0) + 1);
  return active;
}
