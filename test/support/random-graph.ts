// Random graphs for properties: nested blocks, and a few flows that no author would draw.
import fc from "fast-check";
import type { Definition } from "../../lib/definition/definition.ts";
import {
  aBoundaryError,
  aBoundaryMessage,
  aBoundarySignal,
  aBoundaryTimer,
  aChoice,
  aFork,
  aMessageCatch,
  anEnd,
  anErrorEnd,
  anEventGateway,
  aPass,
  aProcess,
  aScope,
  aScript,
  aSignalCatch,
  aSignalEnd,
  aSignalThrow,
  aStart,
  aTask,
  aTerminateEnd,
  aTimer,
  type Piece,
} from "./graph-builder.ts";

type Border =
  | "none"
  | "interrupting timer"
  | "reminder"
  | "error"
  | "signal"
  | "signals"
  | "message"
  | "messages";

type Block =
  | Readonly<{ kind: "task" | "scope"; border: Border; inside: readonly Block[] }>
  | Readonly<{ kind: "timer" | "script" | "pass" | "end" | "terminate" | "error" }>
  | Readonly<{ kind: "signal" | "message" | "throw" | "signal-end" | "gateway" }>
  | Readonly<{ kind: "fork" | "choice"; branches: readonly (readonly Block[])[] }>;

type Kinds = Readonly<{ plain: readonly PlainKind[]; borders: readonly Border[] }>;
type PlainKind = Exclude<Block["kind"], "task" | "scope" | "fork" | "choice">;

const TIMED: Kinds = {
  plain: ["timer", "script", "pass", "end", "terminate", "error"],
  borders: ["none", "interrupting timer", "reminder", "error"],
};

const CALLED: Kinds = {
  plain: [...TIMED.plain, "signal", "message", "throw", "signal-end", "gateway"],
  borders: [...TIMED.borders, "signal", "signals", "message", "messages"],
};

const blocksOf = ({ plain, borders }: Kinds) =>
  fc.letrec<{ block: Block; row: Block[] }>((tie) => {
    const border = fc.constantFrom<Border>(...borders);
    return {
      block: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.record({ kind: fc.constant("task" as const), border, inside: fc.constant([]) }),
        fc.record({ kind: fc.constantFrom<PlainKind>(...plain) }),
        fc.record({ kind: fc.constant("scope" as const), border, inside: tie("row") }),
        fc.record({
          kind: fc.constantFrom("fork", "choice"),
          branches: fc.array(tie("row"), { minLength: 1, maxLength: 3 }),
        }),
      ),
      row: fc.array(tie("block"), { maxLength: 3 }),
    };
  });

/** A definition, with up to two stray flows between nodes of the process itself. */
export const aRandomGraph: fc.Arbitrary<Definition> = graphOf(TIMED);

/** The same, with signals and messages. */
export const aRandomGraphOfCalls: fc.Arbitrary<Definition> = graphOf(CALLED);

function graphOf(kinds: Kinds): fc.Arbitrary<Definition> {
  return fc
    .record({
      row: fc.array(blocksOf(kinds).block, { minLength: 1, maxLength: 3 }),
      strays: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 2 }),
    })
    .map(({ row, strays }) => {
      let count = 0;
      const named = (kind: string) => `${kind}${++count}`;
      const process = drawn(row, named);
      const nodes = process.pieces.flatMap((piece) => piece.nodes.slice(0, 1));
      const sources = ["start", ...nodes.filter(({ kind }) => kind !== "end").map(({ id }) => id)];
      const targets = nodes.filter(({ kind }) => kind !== "boundary").map(({ id }) => id);
      const arrows = strays.map(
        ([from, to]) => `${sources[from % sources.length]} -> ${targets[to % targets.length]}`,
      );
      return aProcess([aStart(), ...process.pieces], once([...process.flows, ...arrows]));
    });
}

type Drawing = Readonly<{ pieces: readonly Piece[]; flows: readonly string[] }>;
type Named = (kind: string) => string;

/** A row of blocks after a start event. */
function drawn(row: readonly Block[], named: Named, start = "start"): Drawing {
  const pieces: Piece[] = [];
  const flows: string[] = [];
  let last: string | undefined = start;
  for (const block of row) {
    const { entry, exit, ...more } = drawBlock(block, named);
    pieces.push(...more.pieces);
    flows.push(...(last === undefined ? [] : [`${last} -> ${entry}`]), ...more.flows);
    last = exit;
  }
  return { pieces, flows };
}

type Drawn = Readonly<{
  pieces: readonly Piece[];
  flows: readonly string[];
  entry: string;
  exit: string | undefined;
}>;

function drawBlock(block: Block, named: Named): Drawn {
  const id = named(block.kind);
  const through = (piece: Piece): Drawn => ({ pieces: [piece], flows: [], entry: id, exit: id });
  const last = (piece: Piece): Drawn => ({ ...through(piece), exit: undefined });
  switch (block.kind) {
    case "task":
      return bordered(through(aTask(id, { retries: "2" })), block.border, named);
    case "scope": {
      const start = named("start");
      const { pieces, flows } = drawn(block.inside, named, start);
      return bordered(through(aScope(id, [aStart(start), ...pieces], flows)), block.border, named);
    }
    case "timer":
      return through(aTimer(id, { duration: "PT1M" }));
    case "script":
      return through(aScript(id, "x = if x = null then 1 else x + 1"));
    case "pass":
      return through(aPass(id));
    case "end":
      return last(anEnd(id));
    case "terminate":
      return last(aTerminateEnd(id));
    case "error":
      return last(anErrorEnd(id, "E"));
    case "signal":
      return through(aSignalCatch(id, "S"));
    case "message":
      return through(aMessageCatch(id, "M", "=x"));
    case "throw":
      return through(aSignalThrow(id, "S"));
    case "signal-end":
      return last(aSignalEnd(id, "S"));
    case "gateway":
      return drawGateway(id, named);
    case "fork":
    case "choice":
      return drawBranches(block.kind, block.branches, id, named);
  }
}

function drawGateway(id: string, named: Named): Drawn {
  const [timer, signal, message, merge] = ["timer", "signal", "message", "merge"].map(named);
  const catches = [
    aTimer(`${timer}`, { duration: "PT1M" }),
    aSignalCatch(`${signal}`, "S"),
    aMessageCatch(`${message}`, `M-${message}`),
  ];
  return {
    pieces: [anEventGateway(id), ...catches, aPass(`${merge}`)],
    flows: [timer, signal, message].map((each) => `${id} -> ${each} -> ${merge}`),
    entry: id,
    exit: merge,
  };
}

function drawBranches(
  kind: "fork" | "choice",
  branches: readonly (readonly Block[])[],
  id: string,
  named: Named,
): Drawn {
  const join = named("join");
  const gate = named("gate");
  const inner = branches.map((branch) => {
    const pass = named("branch");
    const row = drawn(branch, named, pass);
    return { pass, row: { ...row, pieces: [aPass(pass), ...row.pieces] } };
  });
  const tails = branches.map((branch, index) =>
    tailOf(inner[index]?.row, branch, inner[index]?.pass),
  );
  const split = kind === "fork" ? aFork(id) : aChoice(id);
  const merge = kind === "fork" ? aFork(join) : aChoice(join);
  const firsts = inner.map(({ pass }, index) => {
    const condition = kind === "choice" && index > 0 ? ` if x = ${index}` : "";
    return `${id} -> ${pass}${condition}`;
  });
  return {
    pieces: [split, merge, aPass(gate), ...inner.flatMap(({ row }) => row.pieces)],
    flows: [
      ...(kind === "choice" ? firsts.toReversed() : firsts),
      ...inner.flatMap(({ row }) => row.flows),
      ...tails.flatMap((tail) => (tail === undefined ? [] : [`${tail} -> ${join}`])),
      `${join} -> ${gate}`,
    ],
    entry: id,
    exit: gate,
  };
}

/** The last node of a branch; none when it ends inside. */
function tailOf(row: Drawing | undefined, branch: readonly Block[], pass = ""): string | undefined {
  const closing = branch.at(-1);
  if (row === undefined || closing === undefined) return pass;
  if (ENDS.has(closing.kind)) return undefined;
  const leaving = new Set(row.flows.map((flow) => flow.split(" -> ")[0]));
  const top = row.pieces.map(({ nodes }) => nodes[0]);
  return top.findLast((node) => node && node.kind !== "boundary" && !leaving.has(node.id))?.id;
}

const ENDS: ReadonlySet<Block["kind"]> = new Set(["end", "terminate", "error", "signal-end"]);

function bordered(host: Drawn, kind: Border, named: Named): Drawn {
  const id = named("border");
  const caught = named("caught");
  const on = host.entry;
  const boundary = {
    none: [],
    "interrupting timer": [aBoundaryTimer(id, { on, duration: "PT30S" })],
    reminder: [aBoundaryTimer(id, { on, cycle: "R2/PT20S", interrupting: false })],
    error: [aBoundaryError(id, { on, code: "E" })],
    signal: [aBoundarySignal(id, { on, name: "S" })],
    signals: [aBoundarySignal(id, { on, name: "S", interrupting: false })],
    message: [aBoundaryMessage(id, { on, name: `M-${id}` })],
    messages: [aBoundaryMessage(id, { on, name: `M-${id}`, interrupting: false })],
  }[kind];
  if (boundary.length === 0) return host;
  return {
    ...host,
    pieces: [...host.pieces, ...boundary, aTask(caught)],
    flows: [...host.flows, `${id} -> ${caught}`],
  };
}

/** No two flows between the same nodes: they would have the same id. */
function once(flows: readonly string[]): readonly string[] {
  const byId = Map.groupBy(flows, (flow) => flow.split(" if ")[0]);
  return [...byId.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
}
