/** Where things are stored. Names in keys are percent-encoded, numbers zero-padded. */
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Topic } from "../../ports/bus.ts";
import type { Key, Slice } from "../../ports/store.ts";

export const instanceKey = (tenant: string, instanceId: string): Key =>
  at(instancePk(tenant, instanceId), "S");

export const instancePk = (tenant: string, instanceId: string): string =>
  `${tenant}#I#${encodeURIComponent(instanceId)}`;

/** The id in the key of an instance; undefined for keys of other things. */
export function instanceIdOf(key: Key): string | undefined {
  const [, kind, id] = key.pk.split("#");
  return kind === "I" && key.sk === "S" && id !== undefined ? decodeURIComponent(id) : undefined;
}

/** Both ends are in the key, and the journal's: a late writer cannot replace a longer chunk. */
export const chunkKey = (pk: string, { first, last, journal }: ChunkEnds): Key => {
  const sk = `T#${padded(first)}#${padded(last)}`;
  return at(pk, journal === undefined ? sk : `${sk}#${padded(journal)}`);
};

type ChunkEnds = Readonly<{ first: number; last: number; journal?: number | undefined }>;

export const CHUNKS = { from: "T#", to: "T$" } as const;
/** The chunks that begin with this entry of history or a later one. */
export const chunksFrom = (first: number) => ({ ...CHUNKS, from: `T#${padded(first)}` }) as const;

/** An externalized value, named by its content. */
export const valueKey = (pk: string, hash: string): Key => at(pk, `V#${hash}`);

/** The hash in the key of such a value; undefined for keys of other things. */
export const valueHashOf = ({ sk }: Key): string | undefined =>
  sk.startsWith("V#") ? sk.slice(2) : undefined;

/** The claim of an attempt at an item of a multi-instance batch that only one owner may run. */
export const itemClaimKey = (pk: string, member: string, attempt: number): Key =>
  at(pk, `U#${member}/${attempt}`);

/** All that has left an instance: history, claims of items and values. */
export const LEFT = { from: "T#", to: "V$" } as const;

export const definitionPk = (tenant: string, id: string): string =>
  `${tenant}#D#${encodeURIComponent(id)}`;
export const latestKey = (tenant: string, id: string): Key =>
  at(definitionPk(tenant, id), "LATEST");
export const versionKey = (tenant: string, id: string, version: number): Key =>
  at(definitionPk(tenant, id), `N#${padded(version)}`);
/** Where the versions of a definition stand, in order; and the number in such a key. */
export const VERSIONS = { from: "N#", to: "N$" } as const;
export const versionOf = ({ sk }: Key): number => Number(sk.slice(2));
/** A long text of a definition: its compiled form (V) or its source (X), stored in parts. */
export type TextName = Readonly<{ pk: string; what: "V" | "X"; hash: string }>;
export const partKey = ({ pk, what, hash }: TextName, part: number): Key =>
  at(pk, `${what}#${hash}#${padded(part)}`);

/** A start event by timer; it stands beside its definition, one for each event of the latest version. */
export const timerStartKey = (tenant: string, { definitionId, hash, element }: StartEvent): Key =>
  at(definitionPk(tenant, definitionId), `TS#${hash}#${part(element)}`);
type StartEvent = Readonly<{ definitionId: string; hash: string; element: string }>;
export const schedulesView = (tenant: string): string => `${tenant}#TS`;
export const scheduleOrder = (definitionId: string, element: string): string =>
  `${part(definitionId)}#${part(element)}`;

export const definitionsView = (tenant: string): string => `${tenant}#D`;
/** Orders definitions by id; one whose lists are spread says over how many shards behind it. */
export const definitionOrder = (id: string, shards: number): string =>
  shards === 1 ? id : `${id}#${shards}`;
/** The id in the key of something of a definition. */
export const definitionIdOf = ({ pk }: Key): string => decodeURIComponent(pk.split("#")[2] ?? "");

export type Phase = (typeof PHASES)[number];
export const PHASES = ["live", "incident", "succeeded", "failed", "cancelled"] as const;

/** One shard of the instances of a definition in a phase. */
export const phaseView = (tenant: string, phase: Phase, id: string, shard: number): string =>
  `${tenant}#L#${phase}#${encodeURIComponent(id)}#${shard}`;

/** Orders instances by their start; the id makes it unique. */
export const instanceOrder = ({ startedAt, id }: Pick<Instance, "startedAt" | "id">): string =>
  `${instantText(startedAt)}#${id}`;

/** What instances are found by besides: a business key, or a tag. */
export type FoundBy = Readonly<{ by: "bk" | "tag"; text: string }>;
/** Where the rows of one business key or tag stand. */
export const foundByPk = (tenant: string, { by, text }: FoundBy): string =>
  `${tenant}#K#${by}#${part(text)}`;

// Tasks of outside workers

/** What is known of a type of task that outside workers do. */
export const taskTypeKey = (tenant: string, type: string): Key =>
  at(`${tenant}#J#${encodeURIComponent(type)}`, "H");

/** Rows of one shard of a type: open ones and locked ones, each in the order of their time. */
export const offersPk = (tenant: string, type: string, shard: number): string =>
  `${tenant}#J#${encodeURIComponent(type)}#${shard}`;

/** The type in such a key, of a row or of the type itself. */
export const taskTypeOf = ({ pk }: Key): string => decodeURIComponent(pk.split("#")[2] ?? "");

/** The shard in the key of a row. */
export const shardOf = ({ pk }: Key): number => Number(pk.split("#")[3]);

/** An attempt that may be taken from `at` on; a later attempt never replaces an earlier row. */
export const openSk = (
  at: Instant,
  instanceId: string,
  { id, attempt }: Pick<TaskTicket, "id" | "attempt">,
): string => `A#${instantText(at)}#${whose(instanceId, id)}${attempt > 1 ? `/${attempt}` : ""}`;

/** A task that a worker has locked until `until`; the id names this one lock. */
export const lockSk = (until: Instant, instanceId: string, ticket: string, lock: string): string =>
  `L#${instantText(until)}#${whose(instanceId, ticket)}#${lock}`;

const whose = (instanceId: string, ticket: string): string =>
  `${encodeURIComponent(instanceId)}#${ticket}`;

/** Open rows that may be taken by now, locked rows whose time is over, and the others. */
export const openUntil = (now: Instant) =>
  ({ from: "A#", to: `A#${instantText(now + 1)}` }) as const;
export const openAfter = (now: Instant) =>
  ({ from: `A#${instantText(now + 1)}`, to: "A$" }) as const;
export const lockedUntil = (now: Instant) => ({ from: "L#", to: `L#${instantText(now)}` }) as const;
export const lockedAfter = (now: Instant) => ({ from: `L#${instantText(now)}`, to: "L$" }) as const;

/** When an open row may be taken, or the lock of a locked one is over. */
export const timeOfRow = ({ sk }: Key): Instant => instantFrom(Number(sk.split("#")[1]));

/** Every type of task that outside workers do. */
export const taskTypesView = (tenant: string): string => `${tenant}#J`;

// User tasks: the lists in which people find them.

/** One list of tasks: those of an assignee, those offered to a user or a group, or all. */
export type UserTaskList =
  | Readonly<{ of: "assignee" | "user" | "group"; name: string }>
  | Readonly<{ of: "all" }>;

export const userTaskPk = (tenant: string, list: UserTaskList): string =>
  list.of === "all" ? `${tenant}#U#all` : `${tenant}#U#${LISTS[list.of]}#${part(list.name)}`;

const LISTS = { assignee: "a", user: "u", group: "g" } as const;

/** Orders a list by age; the key stays the same however often a task changes hands. */
export const userTaskSk = (instanceId: string, { since, id }: Pick<TaskTicket, "since" | "id">) =>
  `${instantText(since)}#${encodeURIComponent(instanceId)}#${id}`;

/** When the task of such a row was opened. */
export const sinceOfUserTaskSk = (sk: string): Instant => instantFrom(Number(sk.split("#")[0]));

// Topics: what is broadcast, and the waits for it.

/** The head of a topic: how many broadcasts it has had, and how its rows are spread. */
export const headKey = (tenant: string, topic: Topic): Key => at(topicPk(tenant, topic), "H");
const topicPk = (tenant: string, { kind, name }: Topic): string =>
  `${tenant}#${kind === "signal" ? "G" : "Y"}#${part(name)}`;

/** Which broadcast has this place among those of its topic. */
export const placeKey = (tenant: string, topic: Topic, seq: number): Key =>
  at(topicPk(tenant, topic), `Q#${padded(seq)}`);
export const PLACES = { to: "Q$" } as const;

/** Rows of one shard of an epoch. */
export const shardPk = (tenant: string, topic: Topic, epoch: number, shard: number): string =>
  `${topicPk(tenant, topic)}#${epoch}.${shard}`;

/** Orders rows by when the wait began: the longest first. */
export const waitSk = (since: Instant, instanceId: string, ticket: string): string =>
  `${instantText(since)}#${instanceId}#${ticket}`;
export const startSk = (definitionId: string): string => `D#${part(definitionId)}`;

export const broadcastKey = (tenant: string, broadcastId: string): Key =>
  at(broadcastPk(tenant, broadcastId), "H");
export const broadcastPk = (tenant: string, broadcastId: string): string =>
  `${tenant}#B#${part(broadcastId)}`;
export const pageKey = (tenant: string, broadcastId: string, page: string): Key =>
  at(broadcastPk(tenant, broadcastId), `P#${page}`);
/** How a round of a broadcast was split, and how one shard of it. */
export const fanOutPlanKey = (tenant: string, broadcastId: string, round: number): Key =>
  at(broadcastPk(tenant, broadcastId), `R#${padded(round)}`);
export const turnKey = (tenant: string, broadcastId: string, turn: string): Key =>
  at(broadcastPk(tenant, broadcastId), `U#${turn}`);
/** Pages and fan-out plans stand side by side. */
export const PROGRESS = { from: "P#", to: "R$" } as const;

// Messages

export const mailboxKey = (tenant: string, name: string, key: string): Key =>
  at(`${tenant}#M#${part(name)}#${part(key)}`, "H");
/** Definitions that begin by a message of this name. */
export const messageStartsPk = (tenant: string, name: string): string =>
  `${tenant}#N#${part(name)}`;
export const messageStartKey = (tenant: string, name: string, definitionId: string): Key =>
  at(messageStartsPk(tenant, name), part(definitionId));

// Events

/** A broadcast event that is kept for later waits. */
export const keptEventKey = (tenant: string, name: string, seq: number): Key =>
  at(eventPk(tenant, name), `E#${padded(seq)}`);
export const KEPT_EVENTS = { from: "E#", to: "E$" } as const;
export const eventPk = (tenant: string, name: string): string =>
  topicPk(tenant, { kind: "event", name });
/** The id that a broadcast event was accepted under, whatever its name. */
export const eventIdKey = (tenant: string, id: string): Key => at(`${tenant}#V#${part(id)}`, "H");
export const deadLetterKey = (tenant: string, id: string): Key =>
  at(`${tenant}#X#${part(id)}`, "L");
export const deadLettersView = (tenant: string): string => `${tenant}#X`;
export const deadLetterOrder = (at: Instant, id: string): string =>
  `${instantText(at)}#${part(id)}`;

// The engine's own

/** What walks along the due index, each minute. */
export type Walk = "sweep" | "wheel";

/** How far a walk along a slice of the due index has come. */
export const walkKey = (walk: Walk, { index, of }: Slice): Key =>
  at("_#E", `cursor#${walk}#${of}.${index}`);

/** What kind of thing a due key stands for, and the id of an instance. */
export type Due =
  | Readonly<{ kind: "instance"; instanceId: string }>
  | Readonly<{ kind: (typeof DUE_KINDS)[keyof typeof DUE_KINDS] }>;

export function dueOf(key: Key): Due | undefined {
  const instanceId = instanceIdOf(key);
  if (instanceId !== undefined) return { kind: "instance", instanceId };
  const [, letter = ""] = key.pk.split("#");
  const isKnown = Object.hasOwn(DUE_KINDS, letter);
  return isKnown ? { kind: DUE_KINDS[letter as keyof typeof DUE_KINDS] } : undefined;
}

const DUE_KINDS = { M: "mailbox", B: "broadcast", D: "timer-start", Y: "event" } as const;

/** Whether anything can be stored under this text; a request with another has mistaken it. */
export const isStorable = (id: unknown): id is string =>
  typeof id === "string" && id !== "" && id.isWellFormed() && part(id).length * 3 <= MAX_PART_BYTES;

const MAX_PART_BYTES = 1_800;

const at = (pk: string, sk: string): Key => ({ pk, sk });

/** A user's text as part of a key: as it is, but for what separates the parts. */
const part = (text: string): string => text.replace(/[%#\0]/g, (mark) => encodeURIComponent(mark));

const padded = (n: number): string => String(n).padStart(10, "0");

/** Fifteen digits hold every instant after 1970; earlier ones cannot be written by our clocks. */
const instantText = (instant: number): string => String(instant).padStart(15, "0");

/** Where instances that owe something stand in the due index. */
export const AT_ONCE = instantFrom(0);

/** Where the earliest timers stand, whatever their date: behind everything that is owed. */
export const AFTER_AT_ONCE = instantFrom(1);

/** Which of so many shards a name belongs to: always the same one, and never one past the number. */
export function shardFor(name: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % shards;
}
