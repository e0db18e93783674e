// Workloads about workflows in code: their journal is replayed, their sessions are lost and found.
import { aBundle, aCodeDefinition } from "../../support/code-workflow.ts";
import { starter } from "../actors/callers.ts";
import { publishes, sends, signals, talker, tells } from "../actors/messaging.ts";
import { does, done, flaky } from "../actors/user-code.ts";
import { compiled } from "./definitions.ts";
import type { Handler, Scenario } from "./scenario.ts";

/** Reads the clock and draws by chance between its tasks: a replay must see the same. */
const SEQUENCE = `
  const seen = [];
  for (const n of [1, 2, 3, 4]) {
    const got = await task(n % 2 === 0 ? "work" : "flaky", { n, at: Date.now(), id: uuid(), by: Math.random() });
    seen.push([got, new Date().toISOString(), random()]);
  }
  return { seen, id: instance.id, at: now() };`;

const ALL_AND_RACE = `
  const both = await all({ a: task("work", 1), b: task("slow", 2), late: delay("1s") });
  const first = await race({ slow: task("slow", 3), soon: delay("5s") });
  const settled = await any([task("broken").then(() => 1), task("work", 4)]);
  const nested = await race([all([task("slow", 5), event("never")]), delay("3s")]);
  return { both, key: first.key, settled, nested: nested !== undefined };`;

/** What loses takes nothing: the second event goes to the second wait. */
const WINDOW = `
  const got = [];
  for (const n of [1, 2, 3]) {
    const first = await race({ news: event("news"), late: delay("4s") });
    got.push(first.key === "news" ? first.value : null);
    await task("work", n);
  }
  return got;`;

/** The only event comes when the first wait has lost. */
const LOSER = `
  await race({ news: event("news"), late: delay("1s") });
  return event("news");`;

const FAN = `
  const all14 = await all(Array.from({ length: 14 }, (_, n) => task("square", { n })));
  return all14.map(({ value }) => value);`;

/** Tasks that nobody waits for are done before the end; other waits are dropped. */
const RETURNS = `
  task("slow", 1);
  task("flaky", 2);
  event("never");
  delay("1h");
  await task("work", 3);
  return "returned";`;

/** Each outcome is long enough that history and journal leave the instance again and again. */
const LONG = `
  let sum = 0;
  for (let n = 0; n < 7; n += 1) sum += (await task("write", { n })).text.length;
  return { sum, at: Date.now(), by: random() };`;

const RETRIES = `
  const failed = [];
  for (const code of ["A", "B"]) {
    try {
      await task("fails", { code }, { retry: { maxAttempts: 3, backoff: "2s", multiplier: 2, jitter: 0.5, retryOn: ["A"] } });
    } catch (error) {
      failed.push([error.name, error.code, error.attempts, error instanceof TaskFailed]);
    }
  }
  try {
    await task("slow", null, { timeout: "3s" });
  } catch (error) {
    failed.push([error.name, error.code, error instanceof TimedOut]);
  }
  return failed;`;

const TALKS = `
  publishSignal("rang", { by: instance.id });
  const first = await race({ signal: signal("closed"), message: message("paid", "42"), late: delay("20s") });
  return first.key;`;

/** Async functions race: what the loser has open is disarmed, and the loser learns it. */
const BRANCHES = `
  const log = [];
  const branch = async (name, wait) => {
    try {
      await task("work", name);
      await delay(wait);
      return name;
    } catch (error) {
      log.push([name, error.name]);
      throw error;
    }
  };
  const winner = await race([scope(() => branch("a", "2s")), scope(() => branch("b", "9s"))]);
  await task("work", winner);
  return { winner, log };`;

const FAILS = `
  await task("work", 1);
  throw Object.assign(new Error("enough " + Date.now()), { code: "ENOUGH" });`;

const HANDLERS: Readonly<Record<string, Handler>> = {
  work: does("work"),
  flaky: flaky(1),
  slow: { ...does("slow"), takesMs: 8_000 },
  broken: { outcome: () => ({ kind: "failed", message: "it broke", code: "BROKEN" }) },
  square: { outcome: (_, { n }) => done({ value: Number(n) ** 2 }) },
  write: { outcome: (_, { n }) => done({ text: `${n} `.repeat(110) }) },
  fails: {
    outcome: (_, { code }) => ({
      kind: "failed",
      message: `it failed ${code}`,
      code: String(code),
    }),
  },
};

export const CODE_SCENARIOS: readonly Scenario[] = [
  code("code-seq", { seq: SEQUENCE }, [["seq", "one"]]),
  code("code-all-race", { both: ALL_AND_RACE }, [["both", "one"]]),
  {
    ...code("code-window", { window: WINDOW }, []),
    callers: () => [
      starter("window", "one"),
      talker("teller", tells("one", "news", "e1"), tells("one", "news", "e2")),
      talker("crier", publishes("news", "e3", { atMs: 3_000 })),
    ],
  },
  {
    ...code("code-loser", { loser: LOSER }, []),
    callers: () => [
      starter("loser", "one"),
      talker(
        "teller",
        tells("one", "news", "e1", { atMs: 5_000 }),
        // Where the timer was so late that the first wait had won.
        tells("one", "news", "e2", { atMs: 3_600_000 }),
      ),
    ],
  },
  {
    ...code("code-fan", { fan: FAN }, []),
    callers: () => [starter("fan", "one")],
    settings: { membersPerPage: 5 },
  },
  code("code-return-drains", { returns: RETURNS }, [["returns", "one"]]),
  code("code-long", { long: LONG }, [["long", "one"]], { room: { live: 0, idle: 0 } }),
  code(
    "code-evicted",
    { seq: SEQUENCE, long: LONG },
    [
      ["seq", "one"],
      ["long", "two"],
      ["seq", "three"],
    ],
    { room: { live: 1, idle: 0 } },
  ),
  code("code-retries", { retries: RETRIES }, [["retries", "one"]]),
  {
    ...code("code-talks", { talks: TALKS }, []),
    callers: () => [
      starter("talks", "one"),
      starter("talks", "two"),
      talker("sender", sends("paid", "m1", { key: "42" })),
      talker("crier", signals("closed", "b1", { atMs: 5_000 })),
    ],
  },
  code("code-branches", { branches: BRANCHES }, [["branches", "one"]]),
  code("code-fails", { fails: FAILS }, [["fails", "one"]]),
  code("code-sandbox-dies", { seq: SEQUENCE }, [["seq", "one"]], { losesEvery: 3 }),
];

type How = Readonly<{
  room?: NonNullable<Scenario["sessions"]>;
  losesEvery?: number;
}>;

function code(
  name: string,
  bodies: Readonly<Record<string, string>>,
  starts: readonly (readonly [definition: string, instance: string])[],
  { room, losesEvery }: How = {},
): Scenario {
  const bundleOf = (id: string, body: string) => () =>
    aBundle(`export const it = workflow("${id}", async (input: any) => {${body}\n});`);
  return {
    name,
    definitions: Object.keys(bodies).map((id) => compiled(aCodeDefinition(id))),
    bundles: new Map(Object.entries(bodies).map(([id, body]) => [id, bundleOf(id, body)])),
    handlers: HANDLERS,
    callers: () => starts.map(([definition, id]) => starter(definition, id)),
    ...(room && { sessions: room }),
    ...(losesEvery !== undefined && { losesMachines: losesEvery }),
  };
}
