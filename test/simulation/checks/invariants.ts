// What must hold after every action, whatever fails:
//
// 1. Versions increase by one; an ended instance does not change.
// 2. A ticket's id names the version that opened it, and is never reused once it is closed.
// 3. Every image follows from the previous one by facts that really happened: whole puts only, no
//    ticket consumed twice, nothing invented.
// 4. No timer fires before its instant: by the instance's own time never, by true time not more
//    than the clocks were ahead.
// 5. Every entry names its trigger; a record leaves the outbox only after it was sent.
// 6. `lookAt` is not later than the earliest timer; the size limit holds.
// 7. History is only appended to, and what was moved out of the instance is in a chunk.
// 8. An instance is erased only after its end, and then only its tombstone is left. A child that
//    never started is a tombstone from the beginning.
// 9. No exclusive task has an unknown outcome before the lease of the run that claimed it expires.
import { MAX_INSTANCE_BYTES } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { neverBegan } from "../../../lib/engine/rows/child.ts";
import { decodeInstance, parseChunk, parseStored } from "../../../lib/engine/storage/codec.ts";
import { FORMATS, formatOf, parseBody } from "../../../lib/engine/storage/formats.ts";
import { instanceIdOf, instancePk, valueHashOf } from "../../../lib/engine/storage/keys.ts";
import type { World } from "../../../lib/engine/world.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import {
  type Instance,
  isTerminal,
  type Ticket,
  type TicketlessEffect,
  type TimerTicket,
} from "../../../lib/kernel/instance.ts";
import type { Program } from "../../../lib/kernel/runner.ts";
import type { TrailEntry } from "../../../lib/kernel/trail.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { CallTree } from "./call-tree.ts";
import { checkDoubt } from "./doubts.ts";
import type { Life } from "./life.ts";
import { blankOf, essence, explain, isSame, stable } from "./oracle.ts";
import type { Reception } from "./reception.ts";
import { valuesOf, wholeOf } from "./stored-values.ts";
import type { Traffic } from "./traffic.ts";
import { must } from "./violation.ts";

export type Watched = Readonly<{
  tenant: string;
  programs: ReadonlyMap<string, Program>;
  expressions: World["expressions"];
  announces: boolean;
  traffic: Traffic;
  reception: Reception;
  /** Facts that the world knows to have happened to an instance. */
  factsOf: (instanceId: string) => readonly Fact[];
  trueNow: () => number;
  /** How far ahead of true time any clock has ever been. */
  maxAheadMs: () => number;
  /** Whether a record of an outbox, `<instance>:<record>`, was sent. */
  wasSent: (id: string, effect: TicketlessEffect) => boolean;
  blobOf: (name: string) => Uint8Array | undefined;
  onFired: (timer: TimerTicket, instanceId: string) => void;
  /** No actor can know that an owner is dead before its lease has expired. */
  leasesCount: boolean;
}>;

export class Invariants {
  readonly lives = new Map<string, Life>();
  readonly callTree: CallTree;
  readonly #watched: Watched;
  /** Every write creates a new item object. */
  readonly #seen = new WeakSet<Item>();

  constructor(watched: Watched) {
    this.#watched = watched;
    this.callTree = new CallTree(this.lives, watched.programs);
  }

  /** Checks everything stored; every change must be allowed. Returns the changes. */
  async observe(items: readonly Item[]): Promise<readonly string[]> {
    const changes: string[] = [...this.#watched.traffic.observe(items)];
    for (const item of items) {
      if (this.#seen.has(item)) continue;
      this.#seen.add(item);
      const id = instanceIdOf(item.key);
      if (id === undefined) continue;
      changes.push(`${id} v${item.version}`);
      await this.#changed(id, item, items);
    }
    return changes;
  }

  async #changed(id: string, item: Item, items: readonly Item[]): Promise<void> {
    const life = this.lives.get(id);
    const program = this.#programOf(item);
    const about = { id, tenant: this.#watched.tenant, version: item.version };
    const stored = wholeOf(parseStored(item.body), id, { ...this.#watched, items });
    const after = decodeInstance(stored, program.definition, about);
    const before = life?.instance ?? blankOf(after);
    must(
      after.version === before.version + 1,
      () => `${id} went from version ${before.version} to ${after.version}`,
    );
    checkItem(item, after);
    this.#checkIds(life, before, after);
    await this.#checkDecision(program, before, after, life, items);
    this.#checkOutbox(before, after, items);
    this.callTree.stored(after);
    this.#remember(id, life, item, after, items);
  }

  #programOf({ body, key }: Item): Program {
    const { definition } = parseStored(body);
    const program = this.#watched.programs.get(definition.hash);
    if (program === undefined) throw new Error(`${key.pk} runs an unknown definition`);
    return program;
  }

  #checkIds(life: Life | undefined, before: Instance, after: Instance): void {
    const had = new Set(idsOf(before));
    for (const id of idsOf(after)) {
      const known = life?.ids.get(id);
      must(known !== "gone", () => `${id} of ${after.id} came back after it was gone`);
      const opened = /^[a-z](\d+)\.\d+$/.exec(id)?.[1];
      must(
        had.has(id) || Number(opened) === after.version,
        () => `${id} of ${after.id} was opened by version ${after.version}`,
      );
    }
  }

  async #checkDecision(
    program: Program,
    before: Instance,
    after: Instance,
    life: Life | undefined,
    items: readonly Item[],
  ): Promise<void> {
    if (neverBegan(after)) return this.callTree.checkTombstone(after);
    if (after.erased && after.erased !== before.erased) return checkBuried(before, after);
    must(
      !isTerminal(before) || essence(before) === essence(after),
      () => `${after.id} changed after it had ended`,
    );
    const { traffic, reception, expressions } = this.#watched;
    const seed = `${before.id}:${before.version}`;
    const pastJournal = () => life && [...life.journal.values()];
    const given = { now: after.lastNow, seed, expressions, pastJournal };
    const triggered = before.version === 0 ? reception.startsOf(program.definition) : [];
    const facts = [
      ...this.#watched.factsOf(after.id),
      ...startsOf(after),
      ...this.callTree.factsFor(before, after),
      ...triggered.map(({ fact }) => fact),
    ];
    const isOlder = items.some((item) => instanceIdOf(item.key) === after.id && isOfBefore(item));
    const transition = { traffic, program, before, after, given, facts, isOlder };
    const explained =
      (await explain(transition)) ??
      (await explain({ ...transition, given: { ...given, isTaken: this.#isTaken(after) } }));
    must(
      explained !== undefined,
      () =>
        `nothing that happened explains version ${after.version} of ${after.id}:\n  ${essence(before)}\n  ${essence(after)}\n  facts ${stable(facts)}`,
    );
    for (const fact of explained.facts) this.#checkFact(fact, before, after, life, items);
    reception.stored(explained.facts, before, after, program.definition);
    const owed = new Set(after.outbox.map(({ id }) => id));
    for (const { id, effect } of explained.reached.outbox) {
      const isOptional = effect.kind === "announce" || effect.kind === "expire-chunks";
      const isOld = before.outbox.some((record) => record.id === id);
      must(
        isOptional || isOld || owed.has(id),
        () => `${effect.kind} ${id} of ${after.id} was decided and is not owed`,
      );
    }
  }

  /** Whether another instance of the same definition has ever waited for a message. */
  #isTaken({ id, definition }: Instance): (name: string, key: string) => boolean {
    const others = [...this.lives.values()].filter(
      ({ instance }) => instance.id !== id && instance.definition.id === definition.id,
    );
    return (name, key) => others.some(({ waited }) => waited.has(`${name} ${key}`));
  }

  #checkFact(
    fact: Fact,
    before: Instance,
    after: Instance,
    life: Life | undefined,
    items: readonly Item[],
  ): void {
    if (fact.kind === "task-completed") {
      must(
        !life?.completedTasks.has(fact.ticket),
        () => `${fact.ticket} of ${after.id} was completed twice`,
      );
      life?.completedTasks.add(fact.ticket);
    }
    this.callTree.taken(fact, after);
    const now = this.#watched.trueNow() + this.#watched.maxAheadMs();
    if (fact.kind === "task-failed" && this.#watched.leasesCount) {
      checkDoubt(fact, before, { now, items });
    }
    if (fact.kind !== "timer-due") return;
    const timer = before.tickets.find(({ id }) => id === fact.ticket);
    const dueAt = timer?.on === "timer" ? timer.dueAt : after.lastNow;
    must(
      after.lastNow >= dueAt,
      () => `${fact.ticket} of ${after.id} fired ${dueAt - after.lastNow} ms early by its own time`,
    );
    must(
      now >= dueAt,
      () => `${fact.ticket} of ${after.id} fired ${dueAt - now} ms before any clock said so`,
    );
    if (timer?.on === "timer") this.#watched.onFired(timer, after.id);
  }

  #checkOutbox(before: Instance, after: Instance, items: readonly Item[]): void {
    for (const { id, lease } of [...after.tickets, ...after.outbox]) {
      must(lease !== undefined, () => `${id} of ${after.id} is owed without a trigger`);
    }
    const kept = new Set(after.outbox.map(({ id }) => id));
    for (const { id, effect } of before.outbox.filter((record) => !kept.has(record.id))) {
      const isDone =
        effect.kind === "expire-chunks"
          ? leftBy(this.#watched.tenant, after, items).every(
              ({ expiresAt }) => expiresAt !== undefined,
            )
          : this.#watched.wasSent(`${after.id}:${id}`, effect);
      must(isDone, () => `${effect.kind} ${id} of ${after.id} was dropped before it was sent`);
    }
    if (!this.#watched.announces) return;
    const raised = after.tickets.filter(
      ({ id, on }) => on === "incident" && !before.tickets.some((ticket) => ticket.id === id),
    );
    for (const { id: incident } of raised) {
      must(
        after.outbox.some(
          ({ effect }) =>
            effect.kind === "announce" &&
            effect.notice.type === "incident-raised" &&
            effect.notice.incidentId === incident,
        ),
        () => `incident ${incident} of ${after.id} is not to be announced`,
      );
    }
  }

  #remember(
    id: string,
    life: Life | undefined,
    item: Item,
    after: Instance,
    items: readonly Item[],
  ): void {
    const known: Life = life ?? {
      instance: after,
      item,
      ids: new Map(),
      completedTasks: new Set(),
      taskTypes: new Map(),
      waited: new Set(),
      trail: new Map(),
      journal: new Map(),
    };
    for (const opened of known.ids.keys()) known.ids.set(opened, "gone");
    for (const open of idsOf(after)) known.ids.set(open, "open");
    for (const ticket of after.tickets) {
      if (ticket.on === "task" || (ticket.on === "family" && "type" in ticket)) {
        known.taskTypes.set(ticket.id, ticket.type);
      }
      if (ticket.on === "message") known.waited.add(`${ticket.name} ${ticket.key}`);
    }
    for (const entry of after.trail.entries) {
      const earlier = known.trail.get(entry.seq);
      must(
        earlier === undefined || isSame(earlier, entry),
        () => `entry ${entry.seq} of the history of ${id} was rewritten`,
      );
      known.trail.set(entry.seq, entry);
    }
    rememberJournal(known, after);
    known.instance = after;
    known.item = item;
    this.lives.set(id, known);
    this.#checkSpilled(id, known, items);
  }

  #checkSpilled(id: string, { instance, trail }: Life, items: readonly Item[]): void {
    const inside = instance.trail.entries.length;
    const spilled = instance.trail.next - 1 - inside;
    if (spilled === 0 || instance.erased) return;
    const program = this.#watched.programs.get(instance.definition.hash);
    if (program === undefined) return;
    const stored = new Map<number, TrailEntry>();
    for (const chunk of chunksOf(this.#watched.tenant, id, items)) {
      const entries = parseChunk(chunk.body, program.definition, instance.startedAt);
      for (const entry of entries) stored.set(entry.seq, entry);
    }
    for (let seq = 1; seq <= spilled; seq++) {
      must(
        isSame(stored.get(seq), trail.get(seq)),
        () => `entry ${seq} has left ${id} and is in no chunk`,
      );
    }
  }
}

/**
 * Outcomes are only added; what was moved out of the instance is read when the world is at rest.
 */
function rememberJournal({ journal: known }: Life, { id, journal, erased }: Instance): void {
  const { next, entries } = journal ?? { next: 1, entries: [] };
  must(erased !== undefined || next > known.size, () => `outcomes have left the journal of ${id}`);
  for (const [n, entry] of entries.entries()) {
    const number = next - entries.length + n;
    const earlier = known.get(number);
    must(
      earlier === undefined || isSame(earlier, entry),
      () => `outcome ${number} in the journal of ${id} was rewritten`,
    );
    known.set(number, entry);
  }
}

/** Whether an instance was written by a host that runs the code of the previous format. */
const isOfBefore = ({ body }: Item): boolean =>
  formatOf(parseBody("instance", body)) < FORMATS.instance;

function checkItem({ body, lookAt }: Item, instance: Instance): void {
  const { id, tickets } = instance;
  must(body.length <= MAX_INSTANCE_BYTES, () => `${id} takes ${body.length} bytes`);
  const dues = tickets.flatMap((ticket) => (ticket.on === "timer" ? [ticket.dueAt] : []));
  if (dues.length === 0) return;
  const earliest = Math.max(Math.min(...dues), 1);
  must(
    lookAt !== undefined && lookAt <= earliest,
    () => `${id} has a timer due at ${earliest} and is looked at ${lookAt ?? "never"}`,
  );
}

/** A tombstone keeps id, start and end; its keys and tags, only until their rows are removed. */
function checkBuried(before: Instance, after: Instance): void {
  must(isTerminal(before), () => `${after.id} was erased before it had ended`);
  const { status, terminationKind, endedAt, lastNow, startHash } = before;
  const { next } = before.trail;
  const wanted = {
    ...blankOf(after),
    ...{ version: after.version, status, endedAt, lastNow, startHash, erased: after.erased },
    ...(terminationKind && { terminationKind }),
    trail: { next, entries: [] },
  };
  const isBare = after.businessKey === undefined && after.tags === undefined;
  must(isBare || after.erased === "unfinished", () => `${after.id} is erased, and has its keys`);
  must(isSame(after, wanted), () => `the tombstone of ${after.id} is ${stable(after)}`);
}

/** A ticket that an incident holds is not closed: it returns when the incident is resolved. */
function idsOf({ tickets, outbox }: Instance): readonly string[] {
  return [...tickets.flatMap(withKept), ...outbox.map(({ id }) => id)];
}

function withKept(ticket: Ticket): string[] {
  const kept = ticket.on === "incident" ? ticket.kept?.ticket : undefined;
  return kept ? [ticket.id, ...withKept(kept)] : [ticket.id];
}

/** Deadlines are computed by the request: the result is what the start asked for. */
function startsOf({ tickets, version }: Instance): readonly Fact[] {
  const deadline = tickets.find((ticket) => ticket.on === "timer" && ticket.deadline);
  if (version !== 1 || deadline?.on !== "timer") return [];
  return [{ kind: "started", input: { variables: {}, deadline: instantFrom(deadline.dueAt) } }];
}

/** History that was moved out of an instance, and values that it refers to. */
function leftBy(tenant: string, { id, apart = [] }: Instance, items: readonly Item[]) {
  const hashes = new Set(apart.map(({ hash }) => hash));
  const values = valuesOf({ tenant, items }, id);
  return [
    ...chunksOf(tenant, id, items),
    ...values.filter(({ key }) => hashes.has(valueHashOf(key) ?? "")),
  ];
}

export function chunksOf(tenant: string, id: string, items: readonly Item[]): readonly Item[] {
  const pk = instancePk(tenant, id);
  return items.filter(({ key }) => key.pk === pk && key.sk.startsWith("T#"));
}
