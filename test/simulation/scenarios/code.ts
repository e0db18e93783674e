// Workloads about workflows in code: their journal is replayed, their sessions are lost and found.
import type { InstanceView } from "../../../lib/shapes/instances.ts";
import { aBundle, aCodeDefinition } from "../../support/code-workflow.ts";
import { auditor, auditorOf, codeStarter, resolver, startCode } from "../actors/callers.ts";
import { publishes, sends, signals, talker, tells } from "../actors/messaging.ts";
import { sending } from "../actors/sending.ts";
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

/** One branch has more to do than the other before it asks for its second task. */
const DRAINS = `
  const deep = task("work", 1).then((it) => it).then((it) => it).then(() => task("work", "deep"));
  const direct = task("work", 2).then(() => task("flaky", "direct"));
  const both = await all([deep, direct]);
  await task("work", 3);
  return both;`;

/** One branch runs out of memory, one breaks its machine: the third goes on. */
const EXHAUSTED = `
  task("work", 1).then(() => "x".repeat(2 ** 29));
  task("work", 2).then(() => __fermata.open("nonsense", ""));
  return task("slow", 3);`;

/** The input is too large at first: resolving the incident later takes the event that it keeps. */
const TOO_LARGE = `
  const began = Date.now();
  const got = await event("news");
  await task("work", "x".repeat(Date.now() - began < 10_000 ? 2_600_000 : 3));
  return got;`;

/** The second differs from the first in the type of its first task alone. */
const FITS = (first: string) => `
  await task("${first}", 1);
  await task("work", 2);
  return "it went on";`;

/** Another engine would compute another sum. */
const PINNED = `
  let sum = 0;
  for (const n of [1, 2, 3]) {
    sum += Math.tanh(n);
    await task("work", { n, sum });
    await delay("3s");
  }
  return sum;`;

const SENDS = `
  await sendEvent({ name: "news", target: "two", payload: { was: "sent" } });
  await sendMessage({ name: "paid", correlationKey: "42", payload: { got: "sent" }, timeToLive: "P1D" });
  return "sent";`;

/** Whatever is sent twice arrives once. */
const RECEIVES = `
  const got = [await event("news"), await message("paid", "42")];
  const again = await race({ news: event("news"), paid: message("paid", "42"), late: delay("1h") });
  return { got, again: again.key };`;

/** Both outcomes are decided about at the same time. */
const SIDE_BY_SIDE = `
  const both = await all([1, 2].map((n) => task("work", n).then(() => task("square", { n }))));
  return both;`;

const HANDLERS: Readonly<Record<string, Handler>> = {
  work: does("work"),
  flaky: flaky(1),
  slow: { ...does("slow"), takesMs: 8_000 },
  broken: { outcome: () => ({ kind: "failed", message: "it broke", code: "BROKEN" }) },
  square: { outcome: (_, { n }) => done({ value: Number(n) ** 2 }) },
  "fermata:send-event": sending("fermata:send-event"),
  "fermata:send-message": sending("fermata:send-message"),
  write: { outcome: (_, { n }) => done({ text: `${n} `.repeat(110) }) },
  fails: {
    outcome: (_, { code }) => ({
      kind: "failed",
      message: `it failed ${code}`,
      code: String(code),
    }),
  },
};

/** Every decision replays the journal. */
const NO_ROOM = { live: 0, idle: 0 };

const bundleOf = (id: string, body: string) => () =>
  aBundle(`export const it = workflow("${id}", async (input: any) => {${body}\n});`);

export const CODE_SCENARIOS: readonly Scenario[] = [
  code("code-seq", { seq: SEQUENCE }, [["seq", "one"]]),
  code("code-all-race", { both: ALL_AND_RACE }, [["both", "one"]]),
  {
    ...code("code-window", { window: WINDOW }, []),
    callers: () => [
      codeStarter("window", "one"),
      talker("teller", tells("one", "news", "e1"), tells("one", "news", "e2")),
      talker("crier", publishes("news", "e3", { atMs: 3_000 })),
    ],
  },
  {
    ...code("code-loser", { loser: LOSER }, []),
    callers: () => [
      codeStarter("loser", "one"),
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
    callers: () => [codeStarter("fan", "one")],
    settings: { membersPerPage: 5 },
  },
  code("code-return-drains", { returns: RETURNS }, [["returns", "one"]]),
  code("code-long", { long: LONG }, [["long", "one"]], { room: NO_ROOM }),
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
  talks("code-talks"),
  // A plan reads mailboxes and topics between its rounds: none of them finds the session of another.
  talks("code-talks-evicted", { room: NO_ROOM }),
  code("code-branches", { branches: BRANCHES }, [["branches", "one"]]),
  code("code-fails", { fails: FAILS }, [["fails", "one"]]),
  code("code-sandbox-dies", { seq: SEQUENCE }, [["seq", "one"]], { losesEvery: 3 }),
  code("code-drains", { drains: DRAINS }, [["drains", "one"]]),
  {
    ...code("code-exhausted", { exhausted: EXHAUSTED }, []),
    callers: () => [codeStarter("exhausted", "one"), resolver("one", { retries: 1 })],
  },
  {
    ...code("code-too-large", { large: TOO_LARGE }, []),
    callers: () => [
      codeStarter("large", "one"),
      talker("teller", tells("one", "news", "n1")),
      resolver("one", { retries: 1 }, 15_000),
      auditorOf("one", { was: "n1" }, 0),
    ],
  },
  {
    ...code("code-does-not-fit", { fits: FITS("work") }, [], { room: NO_ROOM }),
    replayedBundles: new Map([["fits", bundleOf("fits", FITS("flaky"))]]),
    callers: () => [codeStarter("fits", "one"), auditor("one", isRefused)],
    mayStandStill: true,
  },
  {
    ...code("code-two-engines", { pinned: PINNED }, [["pinned", "one"]]),
    releases: [
      { atMs: 0, runs: ["work"] },
      { atMs: 2_000, runs: ["work"], engine: "newer" },
      { atMs: 5_000, runs: ["work"], hosts: [0] },
    ],
  },
  {
    ...code("code-send", { sends: SENDS, receives: RECEIVES }, []),
    callers: () => [
      // An event for an instance that is not there would fail.
      {
        name: "starter",
        calls: [startCode("receives", "two"), startCode("sends", "one")],
      },
      auditorOf("two", { got: [{ was: "sent" }, { got: "sent" }], again: "late" }, 3_700_000),
    ],
  },
  {
    ...code("code-side-by-side", { both: SIDE_BY_SIDE }, [["both", "one"]]),
    hosts: 1,
    pausesGuests: true,
  },
];

function talks(name: string, how?: How): Scenario {
  return {
    ...code(name, { talks: TALKS }, [], how),
    callers: () => [
      codeStarter("talks", "one"),
      codeStarter("talks", "two"),
      talker("sender", sends("paid", "m1", { key: "42" })),
      talker("crier", signals("closed", "b1", { atMs: 5_000 })),
    ],
  };
}

/** A session that does not have the code that ran is no session to go on with. */
function isRefused({ status, incidents }: InstanceView) {
  if (incidents.some(({ type }) => type === "NON_DETERMINISM")) return "fine";
  if (status === "running" || status === "suspended") return "again later";
  return { problem: `it is ${status}, although its code does not fit its journal` };
}

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
  return {
    name,
    definitions: Object.keys(bodies).map((id) => compiled(aCodeDefinition(id))),
    bundles: new Map(Object.entries(bodies).map(([id, body]) => [id, bundleOf(id, body)])),
    handlers: HANDLERS,
    callers: () => starts.map(([definition, id]) => codeStarter(definition, id)),
    ...(room && { sessions: room }),
    ...(losesEvery !== undefined && { losesMachines: losesEvery }),
  };
}
