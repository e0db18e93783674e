// One host: an engine on ports that all pause at the gates of the world. Hosts share the store and,
// unless they are one process, the queues; each has its own clock.
import { hash } from "node:crypto";
import { feelLanguage } from "../../../lib/adapters/feelin/feel-expressions.ts";
import type { SimulatedClock } from "../../../lib/adapters/simulated/clock.ts";
import type { Compiled } from "../../../lib/definition/definition.ts";
import {
  type ExpressionLanguage,
  type Expressions,
  FEEL,
} from "../../../lib/definition/expression.ts";
import { MAX_WORK_PER_COMMIT } from "../../../lib/definition/limits.ts";
import type { GuestProgram } from "../../../lib/definition/sandbox.ts";
import { createEngine, type Engine, worldOf } from "../../../lib/engine/engine.ts";
import type { HostWorld, World } from "../../../lib/engine/world.ts";
import { codeRunner } from "../../../lib/kernel/code/code-runner.ts";
import { Sessions } from "../../../lib/kernel/code/sessions.ts";
import { graphRunner } from "../../../lib/kernel/graph/graph-runner.ts";
import type { Ids } from "../../../lib/ports/ids.ts";
import type { Item, Outcome, Store } from "../../../lib/ports/store.ts";
import type { Source } from "../../../lib/shapes/definitions.ts";
import { aGuest, GUEST_ENGINE } from "../../support/code-workflow.ts";
import { generatorRunner } from "../../support/generator-runner.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { losing, onEngine, pausing, replaying } from "./guests.ts";

export type Host = Readonly<{
  name: string;
  engine: Engine;
  world: World;
  clock: SimulatedClock;
}>;

/** What differs between hosts and scenarios; the rest is the same everywhere. */
export type HostParts = Pick<
  HostWorld,
  | "store"
  | "parking"
  | "tasks"
  | "timers"
  | "workQueue"
  | "ids"
  | "bus"
  | "blobs"
  | "settings"
  | "ownQueues"
> &
  Readonly<{ name: string; clock: SimulatedClock; programs: Programs }>;

/** Where the code of definitions comes from, and what becomes of its guests. */
export type Programs = Pick<
  Scenario,
  "workflows" | "bundles" | "replayedBundles" | "sessions" | "losesMachines"
> &
  Readonly<{
    /** The engine that guests run on. */
    engine?: string;
    /** Where a decision pauses before a guest runs. */
    pause?: () => Promise<unknown>;
  }>;

export function createHost({ name, clock, programs, store, ...ports }: HostParts): Host {
  const given: HostWorld = {
    ...ports,
    store: copying(store),
    clock,
    expressions: EXPRESSIONS,
    compilers: { bpmn: compileJson, code: compileJson },
    runners: runnersOf(programs),
    ...(programs.bundles && { sandbox: { engine: programs.engine ?? GUEST_ENGINE } }),
  };
  return { name, engine: createEngine(given), world: worldOf(given), clock };
}

/** An expression that spends all that the expressions of one commit may. */
export const HEAVY = "heavy";

/** The expression engines of every host. */
export const EXPRESSIONS: Expressions = new Map([[FEEL, heavyFeel()]]);

function heavyFeel(): ExpressionLanguage {
  const feel = feelLanguage();
  const evaluate: ExpressionLanguage["evaluate"] = (text, lookup, given) => {
    if (text === HEAVY && given.budget) given.budget.work -= MAX_WORK_PER_COMMIT + 1;
    return feel.evaluate(text, lookup, given);
  };
  return { ...feel, evaluate };
}

/** A generator for each name, or a bundle in the sandbox; sessions are those of one host. */
export function runnersOf(programs: Programs): HostWorld["runners"] {
  const { workflows = new Map(), bundles, sessions } = programs;
  const room = new Sessions(sessions);
  return {
    graph: graphRunner,
    code: (definition) => {
      const bundle = bundles?.get(definition.id);
      if (bundle === undefined) return generatorRunner(workflows)(definition);
      const load = () => guestOf(programs, definition.id, bundle());
      return codeRunner({ definition, workflow: definition.id, load, sessions: room });
    },
  };
}

async function guestOf(
  { engine = GUEST_ENGINE, replayedBundles, losesMachines, pause }: Programs,
  id: string,
  bundle: string,
): Promise<GuestProgram> {
  const replayed = replayedBundles?.get(id);
  let guest = await aGuest(engine === GUEST_ENGINE ? bundle : onEngine(engine, bundle));
  if (replayed) guest = replaying(guest, await aGuest(replayed()));
  if (losesMachines !== undefined) guest = losing(guest, losesMachines);
  return pause ? pausing(guest, pause) : guest;
}

/** Ids that are the same in every run of a seed. */
export function countedIds(): Ids {
  let count = 0;
  return {
    fresh: () => `fresh-${++count}`,
    digest: (text) => hash("sha256", text, "buffer").subarray(0, 16).toString("base64url"),
  };
}

/** Definitions are deployed as JSON: the world is about steps, not about notations. */
export async function compileJson(source: string) {
  const processes = parseProcesses(source);
  return { ok: true, processes, diagnostics: [] } as const;
}

/** The source of one definition. */
export const sourceOf = (definition: Compiled): Source => ({
  notation: definition.notation,
  source: JSON.stringify([definition]),
});

function parseProcesses(source: string): readonly Compiled[] {
  return JSON.parse(source) as readonly Compiled[];
}

/** The store returns copies of bytes, so every host decodes what it reads. */
function copying(store: Store): Store {
  return {
    get: async (keys, how) => (await store.get(keys, how)).map((item) => item && copy(item)),
    commit: async (writes) => copyImages(await store.commit(writes)),
    scan: async (pk, range) => {
      const page = await store.scan(pk, range);
      return { ...page, items: page.items.map(copy) };
    },
    due: (until, slice, after, from) => store.due(until, slice, after, from),
    list: (view, range) => store.list(view, range),
    tidy: (hints) => store.tidy(hints),
    close: () => store.close(),
  };
}

const copy = (item: Item): Item => ({ ...item, body: new Uint8Array(item.body) });

function copyImages(outcome: Outcome): Outcome {
  if (outcome.kind !== "conflict") return outcome;
  const current = outcome.current.map((result) =>
    result.ok || result.item === undefined ? result : { ok: false, item: copy(result.item) },
  );
  return { kind: "conflict", current };
}
