/** Where things are stored. Names in keys are percent-encoded, numbers zero-padded. */
import type { Instant } from "../definition/time/instant.ts";
import type { Instance, TaskTicket } from "../kernel/instance.ts";
import type { Key } from "../ports/store.ts";

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

/** Both ends are in the key, so a late writer cannot replace a longer chunk by a shorter one. */
export const chunkKey = (pk: string, first: number, last: number): Key => ({
  pk,
  sk: `T#${padded(first)}#${padded(last)}`,
});

export const CHUNKS = { from: "T#", to: "T$" } as const;

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
/** Compiled definitions and sources are long: they are stored in parts. */
export const partKey = (pk: string, what: "V" | "X", hash: string, part: number): Key => ({
  pk,
  sk: `${what}#${hash}#${padded(part)}`,
});

export const definitionsView = (tenant: string): string => `${tenant}#D`;

export type Phase = (typeof PHASES)[number];
export const PHASES = ["live", "incident", "succeeded", "failed", "cancelled"] as const;

export const phaseView = (tenant: string, phase: Phase, definitionId: string): string =>
  `${tenant}#L#${phase}#${encodeURIComponent(definitionId)}#0`;

/** Orders instances by their start; the id makes it unique. */
export const instanceOrder = ({ startedAt, id }: Pick<Instance, "startedAt" | "id">): string =>
  `${instantText(startedAt)}#${id}`;

/** The row that offers a task to whoever completes it from outside. */
export const offerKey = (tenant: string, instanceId: string, task: TaskTicket): Key => ({
  pk: offersPk(tenant, task.type),
  sk: `A#${instantText(task.since)}#${encodeURIComponent(instanceId)}#${task.id}`,
});
export const offersPk = (tenant: string, type: string): string =>
  `${tenant}#J#${encodeURIComponent(type)}#0`;
export const offersView = (tenant: string): string => `${tenant}#J`;

const padded = (n: number): string => String(n).padStart(10, "0");

/** Fifteen digits hold every instant after 1970; earlier ones cannot be written by our clocks. */
const instantText = (instant: Instant): string => String(instant).padStart(15, "0");
