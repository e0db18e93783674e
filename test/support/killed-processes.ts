// What runs while the process is killed: every kind of wait that an instance can have, and enough
// branches that outcomes are concurrent.

import { boundary, end, extensions, file, flow, job, start, timer, xml } from "./bpmn-xml.ts";

/** The input of a start; it determines what the instance must end with. */
export type Plan = Readonly<{ process: "life" | "fan"; waitMs: number; isSlow: boolean }>;

/** How often the task `d` fails before it succeeds. */
export const FAILURES_OF_D = 2;

/** When the boundary timer gives up on the task `e`; longer than `e` takes when it is not slow. */
const patienceMs = ({ isSlow }: Plan): number => (isSlow ? 400 : 600_000);

export const variablesOf = (plan: Plan) => ({
  wait: iso(plan.waitMs),
  patience: iso(patienceMs(plan)),
  slow: plan.isSlow,
});

/** The tasks that must complete, each once, and those that must run without completing. */
export function tasksOf({ process, isSlow }: Plan): Readonly<{ completed: readonly string[] }> {
  if (process === "fan") return { completed: ["a", ...BRANCHES, "z"] };
  return { completed: ["a", "b", "c", "d", isSlow ? "g" : "e", "h"] };
}

/** The timers that must fire, with the time between their entry and their due instant. */
export function timersOf(plan: Plan): ReadonlyMap<string, number> {
  if (plan.process === "fan") return new Map();
  const timers = new Map([["pause", plan.waitMs]]);
  return plan.isSlow ? timers.set("late", patienceMs(plan)) : timers;
}

/** The element whose entry arms the timer: a boundary timer is armed with its task. */
export const armedBy = (element: string): string => (element === "late" ? "e" : element);

const BRANCHES = ["p", "q", "r", "s", "t", "u"] as const;

/** a, then b - pause - c beside d (fails at first) beside e (perhaps interrupted for g), then h. */
const life = xml(
  "process",
  { id: "life", isExecutable: "true" },
  ...[start(), task("a", "step"), gateway("fork", "parallel")],
  ...[task("b", "step"), pause(), task("c", "step")],
  task("d", "flaky", { retries: String(FAILURES_OF_D + 1) }),
  ...[
    task("e", "slow"),
    boundary("late", "e", timer("timeDuration", "=patience")),
    task("g", "step"),
  ],
  ...[gateway("either", "exclusive"), gateway("join", "parallel"), task("h", "step"), end()],
  ...flows("start a fork b pause c join h end"),
  ...flows("fork d join"),
  ...flows("fork e either join"),
  ...flows("late g either"),
);

/** More tasks open at once than an instance takes one by one: their outcomes are parked. */
const fan = xml(
  "process",
  { id: "fan", isExecutable: "true" },
  ...[start(), task("a", "step"), gateway("fork", "parallel"), gateway("join", "parallel")],
  ...[task("z", "step"), end()],
  ...BRANCHES.map((id) => task(id, "step")),
  ...flows("start a fork"),
  ...BRANCHES.flatMap((id) => flows(`fork ${id} join`)),
  ...flows("join z end"),
);

export const PROCESSES: readonly string[] = [file(life), file(fan)];

function task(id: string, type: string, more: Readonly<Record<string, string>> = {}): string {
  return xml("serviceTask", { id }, extensions(job(type, more)));
}

function gateway(id: string, kind: "parallel" | "exclusive"): string {
  return xml(`${kind}Gateway`, { id });
}

function pause(): string {
  return xml("intermediateCatchEvent", { id: "pause" }, timer("timeDuration", "=wait"));
}

function flows(path: string): readonly string[] {
  const steps = path.split(" ");
  return steps.slice(1).map((to, n) => flow(`${steps[n]}-${to}`, steps[n] ?? "", to));
}

function iso(ms: number): string {
  return `PT${ms / 1_000}S`;
}
