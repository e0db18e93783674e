/**
 * The life of a row. A row is whatever names something of an instance from outside: the row of a
 * wait, a place in a mailbox, the row of a task in a worker's or a user's list, a row by which an
 * instance is found. The instance decides; a row goes only when it is dead, by one rule for all:
 *
 * 1. An instance whose version is at least the row's knows of the row: what the row names is open in
 *    it, or the row is dead. Nothing is open in an erased instance.
 * 2. An instance that cannot be read decides nothing.
 * 3. No instance, or an older one: the commit that the row was written for is under way, or a part
 *    of it is not visible yet. No commit takes an hour, so an hour later the row is dead.
 * 4. That hour is counted from `since`, when the ticket was opened. A row that a later step wrote
 *    (an incident gave the ticket back, the task is at another attempt or has another assignee) may
 *    be young though its ticket is old: beside an older instance it is never dead. Without any
 *    instance it is, because its instance was there before it.
 */
import { MAX_ROW_IN_FLIGHT_MS } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import type { Instance, Ticket } from "../../kernel/instance.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { openedBy } from "./wait-row.ts";

/** `version` is that of the instance in the commit that the row was written for. */
export type Naming = Readonly<{
  version: number;
  since: Instant;
  /** Absent: the row names the instance itself. */
  ticket?: string;
}>;

export type RowLife<T> = Readonly<
  { kind: "open"; found: T } | { kind: "dead" } | { kind: "unsure" }
>;

/** `instance` was read after the row; `find` gives what the row names, where that is open. */
export function lifeOfRow<T>(
  now: Instant,
  row: Naming,
  instance: Instance | "unreadable" | undefined,
  find: (instance: Instance) => T | undefined,
): RowLife<T> {
  if (instance === "unreadable") return { kind: "unsure" };
  if (instance !== undefined && instance.version >= row.version) {
    const found = find(instance);
    return found === undefined ? { kind: "dead" } : { kind: "open", found };
  }
  const isOld = now - row.since > MAX_ROW_IN_FLIGHT_MS;
  const isDated = instance === undefined || openedBy(row.ticket ?? "") === row.version;
  return { kind: isOld && isDated ? "dead" : "unsure" };
}

/** What has become of a wait that a row or a mailbox names. */
export type Life = Readonly<
  | { kind: "waits"; image: Image; ticket: Ticket }
  | { kind: "gone"; image?: Image }
  | { kind: "unsure" }
>;

export async function lifeOf(
  world: World,
  row: Naming & Readonly<{ instanceId: string; ticket: string }>,
): Promise<Life> {
  const { instanceId } = row;
  const image = await loadInstance(world, instanceId);
  const life = lifeOfRow(world.clock.now(), row, image?.instance, ({ tickets }) =>
    tickets.find(({ id }) => id === row.ticket),
  );
  if (life.kind === "unsure") world.observe?.({ kind: "fenced", instanceId });
  if (life.kind === "open" && image) return { kind: "waits", image, ticket: life.found };
  return life.kind === "unsure" ? life : { kind: "gone", ...(image && { image }) };
}
