import { describe, expect, test } from "vitest";
import type { Definition } from "../../../lib/definition/definition.ts";
import { draftOf } from "../../../lib/kernel/draft.ts";
import { type Catcher, catcherOf, type Fit, goOnAt } from "../../../lib/kernel/graph/catcher.ts";
import { type Boundary, planOf } from "../../../lib/kernel/graph/plan.ts";
import { openRun, type Run } from "../../../lib/kernel/graph/run.ts";
import type { Token } from "../../../lib/kernel/graph/state.ts";
import {
  aBoundarySignal,
  aLoop,
  anEnd,
  aProcess,
  aScope,
  aStart,
  aTask,
  type Piece,
} from "../../support/graph-builder.ts";
import { givenAt, play } from "../../support/play.ts";

/** Represents an event that catches an escalation of this code, or any; the name says which. */
const escalation = (id: string, on: string, { code = "*", interrupting = true } = {}) =>
  aBoundarySignal(id, { on, name: `escalation ${code}`, interrupting });

const fitFor =
  (code: string) =>
  ({ trigger }: Boundary): Fit => {
    const name =
      trigger.on === "signal" && trigger.signal.kind === "static" && trigger.signal.value;
    if (name === `escalation ${code}`) return "exact";
    return name === "escalation *" ? "all" : undefined;
  };

/** `work` inside `sub`, with the given catchers on either. */
function nested(inner: readonly Piece[], outer: readonly Piece[] = []): Definition {
  return aProcess(
    [
      aStart(),
      aScope(
        "sub",
        [aStart("in"), aTask("work"), ...inner, aTask("beside")],
        ["in -> work", "in -> beside"],
      ),
      ...outer,
      anEnd(),
    ],
    ["start -> sub -> end"],
  );
}

/** An instance of it at rest, opened for changes, and the catcher of what `work` throws. */
async function thrownFrom(definition: Definition, code: string, variables = {}) {
  const { instance, now } = await play(definition, { variables });
  const run = openRun(planOf(definition), draftOf(instance, givenAt(now)));
  const from = [...run.tokens.values()].findLast(({ node }) => node === "work");
  if (from === undefined) throw new Error("Nothing stands at the task.");
  return { run, from, catcher: catcherOf(run, from, fitFor(code)) };
}

const found = (catcher: Catcher | undefined) =>
  catcher && [catcher.boundary.id, catcher.host.node, catcher.host.member];

describe("the catcher of an error", () => {
  test.each([
    ["the exact code before a catch-all", ["all *", "exact A"], [], ["exact", "work"]],
    ["a catch-all where no code fits", ["other B", "all *"], [], ["all", "work"]],
    ["the first of equals", ["one A", "two A"], [], ["one", "work"]],
    ["a nearer catch-all before the exact code around it", ["all *"], ["far A"], ["all", "work"]],
    ["one around the scope when none is nearer", ["other B"], ["far A"], ["far", "sub"]],
    ["none where none fits", ["other B"], ["far B"], undefined],
  ])("is %s", async (_, inner, outer, expected) => {
    const onHost = (host: string) => (text: string) => {
      const [id = "", code = ""] = text.split(" ");
      return escalation(id, host, { code });
    };
    const definition = nested(inner.map(onHost("work")), outer.map(onHost("sub")));

    const { catcher } = await thrownFrom(definition, "A");

    expect(found(catcher)).toEqual(expected && [...expected, undefined]);
  });

  test("is on the body of a loop, whichever item throws", async () => {
    const definition = aProcess(
      [aStart(), aTask("work", { loop: aLoop() }), escalation("far", "work"), anEnd()],
      ["start -> work -> end"],
    );

    const { from, catcher } = await thrownFrom(definition, "A", { items: [1, 2] });

    expect(from.member).toBe(1);
    expect(found(catcher)).toEqual(["far", "work", undefined]);
  });

  test("continues in place of its host when it interrupts", async () => {
    const definition = nested([], [escalation("far", "sub")]);
    const { run, catcher } = await thrownFrom(definition, "A");

    if (catcher) goOnAt(run, catcher, { level: 3 });

    expect(standing(run)).toEqual(["process", "far"]);
    expect(run.draft.tickets).toEqual([]);
    expect(last(run)).toMatchObject({ node: "far", variables: { level: 3 } });
  });

  test("continues beside its host when it does not interrupt, and leaves the host's tickets open", async () => {
    const definition = nested([], [escalation("far", "sub", { interrupting: false })]);
    const { run, catcher } = await thrownFrom(definition, "A");
    const { tickets } = run.draft;
    const before = standing(run);

    if (catcher) goOnAt(run, catcher, {});

    expect(standing(run)).toEqual([...before, "far"]);
    expect(run.draft.tickets).toEqual(tickets);
    expect(last(run)?.in).toBe(catcher?.host.in);
  });
});

const standing = (run: Run): readonly string[] => [...run.tokens.values()].map(({ node }) => node);
const last = (run: Run): Token | undefined => [...run.tokens.values()].at(-1);
