/** Where things are stored. Names in keys are percent-encoded, numbers zero-padded. */
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Topic } from "../../ports/bus.ts";
import type { Key, Slice } from "../../ports/store.ts";

export const instanceKey = (tenant: string, instanceId: string): Key => ({
  pk: instancePk(tenant, instanceId),
  sk: "S",
});

export const instancePk = (tenant: string, instanceId: string): string =>
  `${tenant}#I#${encodeURIComponent(instanceId)}`;

/** The id in the key of an instance; undefined for keys of other things. */
export function instanceIdOf(key: Key): string | undefined {
  const [, kind, id] = key.pk.split("#");
  return kind === "I" && key.sk === "S" && id !== undefined ? decodeURIComponent(id) : undefined;
}

/**
 * Both ends are in the key, and the end of what there is of the journal: a late writer cannot replace
 * a longer chunk by a shorter one.
 */
export const chunkKey = (pk: string, ends: ChunkEnds): Key => {
  const { first, last, journal } = ends;
  const sk = `T#${padded(first)}#${padded(last)}`;
  return { pk, sk: journal === undefined ? sk : `${sk}#${padded(journal)}` };
};

type ChunkEnds = Readonly<{ first: number; last: number; journal?: number | undefined }>;

export const CHUNKS = { from: "T#", to: "T$" } as const;
/** The chunks that begin with this entry of history or a later one. */
export const chunksFrom = (first: number) => ({ ...CHUNKS, from: `T#${padded(first)}` }) as const;

/** A value that stands apart from its instance, named by its content. */
export const valueKey = (pk: string, hash: string): Key => ({ pk, sk: `V#${hash}` });

/** The hash in the key of such a value; undefined for keys of other things. */
export const valueHashOf = ({ sk }: Key): string | undefined =>
  sk.startsWith("V#") ? sk.slice(2) : undefined;

/** Who runs an attempt of a member of a family that only one may run. */
export const itemClaimKey = (pk: string, member: string, attempt: number): Key => ({
  pk,
  sk: `U#${member}/${attempt}`,
});

/** All that has left an instance: history, claims of members and values. */
export const LEFT = { from: "T#", to: "V$" } as const;

export const definitionPk = (tenant: string, id: string): string =>
  `${tenant}#D#${encodeURIComponent(id)}`;
export const latestKey = (tenant: string, id: string): Key => ({
  pk: definitionPk(tenant, id),
  sk: "LATEST",
});
export const versionKey = (tenant: string, id: string, version: number): Key => ({
  pk: definitionPk(tenant, id),
  sk: `N#${padded(version)}`,
});
/** Where the versions of a definition stand, in order; and the number in such a key. */
export const VERSIONS = { from: "N#", to: "N$" } as const;
export const versionOf = ({ sk }: Key): number => Number(sk.slice(2));
/** A long text of a definition: its compiled form (V) or its source (X), stored in parts. */
export type TextName = Readonly<{ pk: string; what: "V" | "X"; hash: string }>;
export const partKey = ({ pk, what, hash }: TextName, part: number): Key => ({
  pk,
  sk: `${what}#${hash}#${padded(part)}`,
});

/** A start event by timer; it stands beside its definition, one for each event of the latest version. */
export const timerStartKey = (
  tenant: string,
  {
    definitionId,
    hash,
    element,
  }: Readonly<{ definitionId: string; hash: string; element: string }>,
): Key => ({ pk: definitionPk(tenant, definitionId), sk: `TS#${hash}#${part(element)}` });
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
export const phaseView = (
  tenant: string,
  phase: Phase,
  definitionId: string,
  shard: number,
): string => `${tenant}#L#${phase}#${encodeURIComponent(definitionId)}#${shard}`;

/** Orders instances by their start; the id makes it unique. */
export const instanceOrder = ({ startedAt, id }: Pick<Instance, "startedAt" | "id">): string =>
  `${instantText(startedAt)}#${id}`;

/** What instances are found by besides: a business key, or a tag. */
export type FoundBy = Readonly<{ by: "bk" | "tag"; text: string }>;
/** Where the rows of one business key or tag stand. */
export const foundByPk = (tenant: string, { by, text }: FoundBy): string =>
  `${tenant}#K#${by}#${part(text)}`;

// Tasks for those outside

/** What is known of a type of task that others do. */
export const taskTypeKey = (tenant: string, type: string): Key => ({
  pk: `${tenant}#J#${encodeURIComponent(type)}`,
  sk: "H",
});

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

/** A task that somebody has until `until`, and not again after that: the id is of this one lock. */
export const lockSk = (
  until: Instant,
  instanceId: string,
  ticket: string,
  lockId: string,
): string => `L#${instantText(until)}#${whose(instanceId, ticket)}#${lockId}`;

const whose = (instanceId: string, ticket: string): string =>
  `${encodeURIComponent(instanceId)}#${ticket}`;

/** Open rows that may be taken by now, locked rows whose time is over, and the others. */
export const openUntil = (now: Instant) =>
  ({ from: "A#", to: `A#${instantText(after(now))}` }) as const;
export const openAfter = (now: Instant) =>
  ({ from: `A#${instantText(after(now))}`, to: "A$" }) as const;
export const lockedUntil = (now: Instant) => ({ from: "L#", to: `L#${instantText(now)}` }) as const;
export const lockedAfter = (now: Instant) => ({ from: `L#${instantText(now)}`, to: "L$" }) as const;

/** When an open row may be taken, or the lock of a locked one is over. */
export const timeOfRow = ({ sk }: Key): Instant => instantFrom(Number(sk.split("#")[1]));

/** Every type of task that others do. */
export const taskTypesView = (tenant: string): string => `${tenant}#J`;

// People: lists by which somebody finds what there is to do.

/** One list of tasks: somebody's own, those offered to a user or a group, or all. */
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

// Topics: what is broadcast, and who waits for it.

/** The head of a topic: how many broadcasts it has had, and how its rows are spread. */
export const headKey = (tenant: string, topic: Topic): Key => ({
  pk: topicPk(tenant, topic),
  sk: "H",
});
const topicPk = (tenant: string, { kind, name }: Topic): string =>
  `${tenant}#${kind === "signal" ? "G" : "Y"}#${part(name)}`;

/** Which broadcast has this place among those of its topic. */
export const placeKey = (tenant: string, topic: Topic, seq: number): Key => ({
  pk: topicPk(tenant, topic),
  sk: `Q#${padded(seq)}`,
});
export const PLACES = { to: "Q$" } as const;

/** Rows of one shard of an epoch. */
export const shardPk = (tenant: string, topic: Topic, epoch: number, shard: number): string =>
  `${topicPk(tenant, topic)}#${epoch}.${shard}`;

/** Orders rows by when the wait began: the longest first. */
export const waitSk = (since: Instant, instanceId: string, ticket: string): string =>
  `${instantText(since)}#${instanceId}#${ticket}`;
export const startSk = (definitionId: string): string => `D#${part(definitionId)}`;

export const broadcastKey = (tenant: string, broadcastId: string): Key => ({
  pk: broadcastPk(tenant, broadcastId),
  sk: "H",
});
export const broadcastPk = (tenant: string, broadcastId: string): string =>
  `${tenant}#B#${part(broadcastId)}`;
export const pageKey = (tenant: string, broadcastId: string, page: string): Key => ({
  pk: broadcastPk(tenant, broadcastId),
  sk: `P#${page}`,
});
/** How a round of a broadcast was split, and how one shard of it. */
export const fanOutPlanKey = (tenant: string, broadcastId: string, round: number): Key => ({
  pk: broadcastPk(tenant, broadcastId),
  sk: `R#${padded(round)}`,
});
export const turnKey = (tenant: string, broadcastId: string, turn: string): Key => ({
  pk: broadcastPk(tenant, broadcastId),
  sk: `U#${turn}`,
});
/** Pages and roads stand side by side. */
export const PROGRESS = { from: "P#", to: "R$" } as const;

// Messages

export const mailboxKey = (tenant: string, name: string, key: string): Key => ({
  pk: `${tenant}#M#${part(name)}#${part(key)}`,
  sk: "H",
});
/** Definitions that begin by a message of this name. */
export const messageStartsPk = (tenant: string, name: string): string =>
  `${tenant}#N#${part(name)}`;
export const messageStartKey = (tenant: string, name: string, definitionId: string): Key => ({
  pk: messageStartsPk(tenant, name),
  sk: part(definitionId),
});

// Events

/** A broadcast event that is kept for later waits. */
export const keptEventKey = (tenant: string, name: string, seq: number): Key => ({
  pk: eventPk(tenant, name),
  sk: `E#${padded(seq)}`,
});
export const KEPT_EVENTS = { from: "E#", to: "E$" } as const;
export const eventPk = (tenant: string, name: string): string =>
  topicPk(tenant, { kind: "event", name });
/** The id that a broadcast event was accepted under, whatever its name. */
export const eventIdKey = (tenant: string, id: string): Key => ({
  pk: `${tenant}#V#${part(id)}`,
  sk: "H",
});
export const deadLetterKey = (tenant: string, id: string): Key => ({
  pk: `${tenant}#X#${part(id)}`,
  sk: "L",
});
export const deadLettersView = (tenant: string): string => `${tenant}#X`;
export const deadLetterOrder = (at: Instant, id: string): string =>
  `${instantText(at)}#${part(id)}`;

// The engine's own

/** Those who walk along the due index, each minute. */
export type Walk = "sweep" | "wheel";

/** How far a walk along a slice of the due index has come. */
export const walkKey = (walk: Walk, { index, of }: Slice): Key => ({
  pk: "_#E",
  sk: `cursor#${walk}#${of}.${index}`,
});

/** What kind of thing a due key stands for, and its names. */
export type Due =
  | Readonly<{ kind: "instance"; instanceId: string }>
  | Readonly<{ kind: "mailbox" | "broadcast" | "event" | "timer-start" }>;

export function dueOf(key: Key): Due | undefined {
  const instanceId = instanceIdOf(key);
  if (instanceId !== undefined) return { kind: "instance", instanceId };
  const [, kind] = key.pk.split("#");
  if (kind === "M") return { kind: "mailbox" };
  if (kind === "B") return { kind: "broadcast" };
  if (kind === "D") return { kind: "timer-start" };
  return kind === "Y" ? { kind: "event" } : undefined;
}

/** Whether anything can be stored under this text: who asks for another has mistaken it. */
export const isStorable = (id: unknown): id is string =>
  typeof id === "string" && id !== "" && id.isWellFormed() && part(id).length * 3 <= MAX_PART_BYTES;

const MAX_PART_BYTES = 1_800;

/** A user's text as part of a key: as it is, but for what separates the parts. */
const part = (text: string): string => text.replace(/[%#\0]/g, (mark) => encodeURIComponent(mark));

const padded = (n: number): string => String(n).padStart(10, "0");

/** Fifteen digits hold every instant after 1970; earlier ones cannot be written by our clocks. */
const instantText = (instant: number): string => String(instant).padStart(15, "0");

const after = (instant: Instant): number => instant + 1;
