// What must hold when a world has come to rest: nothing queued, no running actor, no more faults.
import { allEntries, readHistory } from "../../../lib/engine/instances/history.ts";
import { readJournal } from "../../../lib/engine/storage/chunks.ts";
import { loadInstance } from "../../../lib/engine/storage/stored-instance.ts";
import { type Instance, isTerminal, type Ticket } from "../../../lib/kernel/instance.ts";
import { type Backends, queuesOf } from "../world/ports.ts";
import { type Stage, TENANT } from "../world/stage.ts";
import type { SimulatedWorld } from "../world/world.ts";
import { checkErased } from "./erased.ts";
import { checkFound } from "./found.ts";
import { checkHints } from "./hints.ts";
import { chunksOf } from "./invariants.ts";
import type { Life } from "./life.ts";
import { checkListed } from "./listed.ts";
import { isSame, stable } from "./oracle.ts";
import { checkReceipts } from "./receipts.ts";
import { checkKept, checkReceived } from "./reception-at-rest.ts";
import { checkValues } from "./stored-values.ts";
import { checkUserTasks } from "./user-tasks-at-rest.ts";
import { must } from "./violation.ts";

/** The result of a run: the final variables of each instance, and how it ended. */
export type Ending = Readonly<Record<string, unknown>>;

/** Throws if the final state is wrong; returns how instances ended. */
export async function checkRest(world: SimulatedWorld): Promise<Ending> {
  const { stage, backends } = world;
  const { lives } = stage.invariants;
  const instances = [...lives.values()].map(({ instance }) => instance);
  for (const [, queue] of queuesOf(backends)) {
    must(queue.all().length === 0, () => `left in a queue: ${stable(queue.all())}`);
  }
  const schedules = backends.scheduler.all();
  must(schedules.length === 0, () => `schedules stay behind: ${stable(schedules)}`);
  for (const id of stage.acknowledged) {
    must(lives.has(id), () => `the start of ${id} was answered and there is no instance`);
  }
  const ending: Record<string, unknown> = {};
  for (const [id, life] of lives) {
    checkEnded(stage, life);
    checkLedger(stage, life);
    checkAnnouncements(stage, life);
    if (life.instance.erased) {
      await checkErased(world, id);
      ending[stage.invariants.callTree.nameOf(id)] = "erased";
      continue;
    }
    await checkHistory(world, id, life);
    checkChunks(backends, life);
    checkApart(stage, backends, life);
    const view = await world.observer().engine.get(id);
    ending[stage.invariants.callTree.nameOf(id)] = {
      status: view.status,
      variables: view.variables,
      result: view.result,
    };
  }
  must(stage.looks.length === 0, () => `still due: ${stable(stage.looks)}`);
  stage.invariants.callTree.checkRest();
  checkReceived(stage.traffic, stage.reception, instances);
  checkKept(stage, backends.store.items());
  stage.traffic.timerStarts.checkRest(backends.store.items());
  await checkReceipts(world);
  await checkHints(world);
  await checkUserTasks(world);
  await checkFound(world);
  await checkListed(world);
  const letters = await world.observer().engine.deadLetters({}, { limit: 100 });
  const left = letters.items.map(({ name, target, payload }) => ({ name, target, payload }));
  return left.length > 0 ? { ...ending, "dead letters": left } : ending;
}

function checkEnded({ scenario, mode }: Stage, { instance, item }: Life): void {
  const { id, tickets, outbox } = instance;
  const isFine = ({ on }: Ticket) =>
    (on === "incident" && scenario.mayStandStill === true) ||
    (on === "task" && scenario.leavesTasks === true) ||
    ((on === "signal" || on === "message" || on === "event") && scenario.mayWait === true);
  must(
    isTerminal(instance) || tickets.every(isFine),
    () => `${id} waits for ever: ${stable(tickets)}`,
  );
  must(
    outbox.length === 0 || (isTerminal(instance) && mode === "durable"),
    () => `${id} still owes ${stable(outbox)}`,
  );
  must(item.lookAt === undefined, () => `${id} is still to be looked at, ${item.lookAt}`);
}

/** Without gaps, in order, and equal to what was committed. */
async function checkHistory(world: SimulatedWorld, id: string, life: Life): Promise<void> {
  const { world: seen } = world.observer();
  const image = await loadInstance(seen, id);
  const entries = image ? await allEntries(seen, image) : [];
  must(
    entries.length === life.instance.trail.next - 1,
    () => `${id} has ${entries.length} of ${life.instance.trail.next - 1} entries of history`,
  );
  for (const [index, entry] of entries.entries()) {
    must(
      entry.seq === index + 1 && isSame(entry, life.trail.get(entry.seq)),
      () => `the history of ${id} differs at ${index + 1}: ${stable(entry)}`,
    );
  }
  if (image === undefined) return;
  const journal = await readJournal(seen, image.instance);
  must(
    isSame(journal, [...life.journal.values()]),
    () => `the journal of ${id} is ${stable(journal)}`,
  );
  checkVisits(world.stage, life);
  await checkPages(seen, id, entries.length);
}

/** Everything that was entered in an ended instance was left, once, under the same number. */
function checkVisits({ scenario }: Stage, { instance, trail }: Life): void {
  if (!isTerminal(instance) || scenario.hasOlderHost) return;
  const open = new Set<string>();
  for (const { type, element, occurrence } of trail.values()) {
    if (occurrence === undefined) continue;
    const visit = `${element} ${occurrence}`;
    if (type === "element-entered") {
      must(!open.has(visit), () => `${visit} of ${instance.id} is entered twice`);
      open.add(visit);
    } else if (type === "element-completed" || type === "element-terminated") {
      must(open.delete(visit), () => `${visit} of ${instance.id} is left, and was not entered`);
    } else if (scenario.bundles && type !== "task-claimed") {
      // An operation of a workflow in code ends with its outcome; a task that is retried has several.
      open.delete(visit);
    }
  }
  must(open.size === 0, () => `of ${instance.id} is never left: ${stable([...open])}`);
}

/** Pages have every entry once, in order. */
async function checkPages(
  seen: Parameters<typeof readHistory>[0],
  id: string,
  count: number,
): Promise<void> {
  const numbers: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await readHistory(seen, id, { limit: 7, ...(cursor !== undefined && { cursor }) });
    numbers.push(...page.items.map(({ seq }) => seq));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const wanted = Array.from({ length: count }, (_, n) => n + 1);
  must(isSame(numbers, wanted), () => `pages of ${id} have the entries ${stable(numbers)}`);
}

/** What history calls completed was run, for an open ticket. */
function checkLedger({ ledger, scenario }: Stage, life: Life): void {
  const { instance, completedTasks, trail } = life;
  const keys = new Set(ledger.filter((key) => key.startsWith(`${instance.id}:`)));
  for (const key of keys) {
    const [ticket = ""] = key.slice(instance.id.length + 1).split("#");
    must(life.ids.has(ticket), () => `user code ran for ${key}, which never was`);
  }
  const byEngine = [...completedTasks].filter((ticket) => !isOffered(scenario, life, ticket));
  for (const ticket of byEngine) {
    must(keys.has(`${instance.id}:${ticket}`), () => `${ticket} of ${instance.id} never ran`);
  }
  const told = [...trail.values()].filter(({ type }) => type === "task-completed").length;
  // What could not be decided has an incident, and is in the history when that is resolved.
  must(
    told === completedTasks.size || (scenario.mayStandStill === true && told < completedTasks.size),
    () => `history tells ${told} completions of ${instance.id}, there were ${completedTasks.size}`,
  );
}

/** A worker may have run it. */
const isOffered = (
  { handlers, releases }: Stage["scenario"],
  { taskTypes }: Life,
  ticket: string,
): boolean =>
  releases !== undefined ||
  !Object.hasOwn(handlers, taskTypes.get(ticket.split("#")[0] ?? "") ?? "");

/** Each announcement was sent at least once. */
function checkAnnouncements({ announced, scenario }: Stage, { instance, trail }: Life): void {
  if (!scenario.announces) return;
  const notices = [...announced]
    .filter(([id]) => id.startsWith(`${instance.id}:`))
    .map(([, notice]) => noticeType(notice));
  for (const type of ["incident-raised", "instance-ended"] as const) {
    const told = [...trail.values()].filter((entry) => entry.type === type).length;
    const heard = notices.filter((notice) => notice === type).length;
    must(told === heard, () => `${instance.id}: ${type} happened ${told}x, ${heard} were heard`);
  }
}

function noticeType(notice: unknown): unknown {
  return typeof notice === "object" && notice !== null && "type" in notice ? notice.type : "";
}

function checkApart(stage: Stage, { store, blobs }: Backends, { instance }: Life): void {
  if (!isTerminal(instance)) return;
  const places = { tenant: TENANT, items: store.items(), blobOf: stage.blobOf };
  checkValues(instance, places, blobs.names());
}

/**
 * History that was moved out of an ended instance is kept as long as it; an unneeded chunk may
 * stay.
 */
function checkChunks({ store }: Backends, { instance }: { instance: Instance }): void {
  if (!isTerminal(instance)) return;
  const { next, entries } = instance.trail;
  const expiring = chunksOf(TENANT, instance.id, store.items())
    .filter(({ expiresAt }) => expiresAt !== undefined)
    .map(({ key }) => key.sk.split("#").slice(1).map(Number));
  for (let seq = 1; seq < next - entries.length; seq++) {
    must(
      expiring.some(([first = 0, last = 0]) => first <= seq && seq <= last),
      () => `${instance.id} has ended, entry ${seq} of its history stays for ever`,
    );
  }
}
