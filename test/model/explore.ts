/** One thing that may happen. Optional ones are faults and luck: no state may depend on them. */
export type Step<State> = readonly [label: string, next: State, optional?: "optional"];

/** A small world: plain JSON states, all that may happen in each, and what must hold. */
export type Model<State> = Readonly<{
  initial: State;
  next: (state: State) => readonly Step<State>[];
  /** What is wrong with this state, if anything. */
  unsafe: (state: State) => string | undefined;
  /** What is wrong with ending here, asked where nothing but optional steps is left. */
  unfinished: (state: State) => string | undefined;
}>;

export type Exploration = Readonly<{
  states: number;
  labels: ReadonlySet<string>;
  counterexample?: Readonly<{ problem: string; chain: readonly string[] }>;
}>;

/** Visits every state, nearest first, so that the first counterexample is a shortest one. */
export function explore<State>(model: Model<State>): Exploration {
  const visited: Visit<State>[] = [{ state: model.initial }];
  const known = new Set([JSON.stringify(model.initial)]);
  const labels = new Set<string>();
  // The list grows while it is walked: it is the queue of the search, and its memory.
  for (const visit of visited) {
    const steps = model.next(visit.state);
    const stuck = steps.every(([, , optional]) => optional === "optional");
    const problem =
      model.unsafe(visit.state) ?? (stuck ? model.unfinished(visit.state) : undefined);
    if (problem !== undefined) {
      return { states: known.size, labels, counterexample: { problem, chain: chainTo(visit) } };
    }
    for (const [label, state] of steps) {
      labels.add(label);
      const key = JSON.stringify(state);
      if (known.has(key)) continue;
      known.add(key);
      visited.push({ state, label, from: visit });
    }
  }
  return { states: known.size, labels };
}

type Visit<State> = Readonly<{ state: State; label?: string; from?: Visit<State> }>;

function chainTo<State>(last: Visit<State>): string[] {
  const chain: string[] = [];
  for (let visit: Visit<State> | undefined = last; visit !== undefined; visit = visit.from) {
    if (visit.label !== undefined) chain.unshift(visit.label);
  }
  return chain;
}
