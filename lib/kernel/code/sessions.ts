/**
 * Live sessions of workflows: caches, never truth. Losing one costs a replay and nothing else.
 *
 * 1. A session is kept under the digest of the journal that it has seen, never under a version: a
 *    plan that lost its commit has moved its session already.
 * 2. It is checked out while it is used: a second decision about the same instance replays.
 * 3. A step decides several times: with what was read meanwhile, with the next fact, after a
 *    conflict. What a feed led to is remembered for as long as the instance has the same version.
 * 4. An instance that waits for nothing but the outside holds a machine only while there is room.
 */

import { MAX_IDLE_SESSIONS, MAX_LIVE_SESSIONS } from "../../definition/limits.ts";
import type { GuestSession, Ran } from "../../definition/sandbox.ts";
import type { Instant } from "../../definition/time/instant.ts";

/**
 * Which run of which instance, under which definition; and the version that is decided about. Parts
 * instead of one text: a text would be made, and hashed, several times a step.
 */
export type Life = Readonly<{
  id: string;
  runAt: Instant;
  definitionHash: string;
  startHash: string;
  version: number;
}>;

/** What a feed led to, and the digest after it. */
export type Memo = Readonly<{ digest: string; ran: Ran }>;

export type Session = {
  readonly guest: GuestSession;
  /** The digest of what it has been fed. */
  digest: string;
  /** What feeds led to; few, so that a list is faster than a map. */
  memos: Memo[];
  life: Life;
};

export type SessionRoom = Readonly<{ live: number; idle: number }>;

export class Sessions {
  readonly #live = new Map<string, Session>();
  readonly #idle = new Map<string, Session>();
  readonly #room: SessionRoom;

  constructor(room: SessionRoom = { live: MAX_LIVE_SESSIONS, idle: MAX_IDLE_SESSIONS }) {
    this.#room = room;
  }

  /** What a feed that ends at this digest has led to, if it was made for this version. */
  memo(life: Life, digest: string): Ran | undefined {
    const session = this.#find(life);
    if (session?.life.version !== life.version) return undefined;
    return session.memos.find((memo) => memo.digest === digest)?.ran;
  }

  /** Takes the session that stands at this digest out of the room. */
  checkOut(life: Life, digest: string): Session | undefined {
    const session = this.#find(life);
    if (session?.digest !== digest) return undefined;
    this.#forget(life);
    if (session.life.version !== life.version) {
      session.life = life;
      session.memos = [];
    }
    return session;
  }

  /** Puts a session back; one that stood there for the same instance is closed. */
  checkIn(life: Life, session: Session): void {
    this.discard(life);
    this.#keep(this.#live, this.#room.live, life, session);
  }

  /** The instance only waits: its session stays while there is room for such. */
  rest(life: Life): void {
    const session = this.#live.get(life.id);
    if (session === undefined) return;
    this.#live.delete(life.id);
    this.#keep(this.#idle, this.#room.idle, life, session);
  }

  /** Closes the session of an instance, if it has one, whatever life it is of. */
  discard(life: Life): void {
    this.#standing(life)?.guest.close();
    this.#forget(life);
  }

  #keep(room: Map<string, Session>, most: number, life: Life, session: Session): void {
    room.set(life.id, session);
    for (const [id, oldest] of room) {
      if (room.size <= most) break;
      room.delete(id);
      oldest.guest.close();
    }
  }

  #find(life: Life): Session | undefined {
    const session = this.#standing(life);
    return session && isSameLife(session.life, life) ? session : undefined;
  }

  /** One instance has one session, also when an earlier one had the same id. */
  #standing({ id }: Life): Session | undefined {
    return this.#live.get(id) ?? this.#idle.get(id);
  }

  #forget({ id }: Life): void {
    this.#live.delete(id);
    this.#idle.delete(id);
  }
}

const isSameLife = (one: Life, other: Life): boolean =>
  one.runAt === other.runAt &&
  one.definitionHash === other.definitionHash &&
  one.startHash === other.startHash;
