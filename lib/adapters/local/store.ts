// The store of an engine that lives in one process, on node:sqlite. Invariants:
//
// 1. Commits made in one turn of the event loop form a group: one transaction, one flush. They are
//    applied in call order, a condition sees the members before it, a conflict is its call's alone.
// 2. What is not durable is not visible: calls are answered after the flush, and a read is outside
//    any transaction. A read behind a commit that waits for its flush waits with it.
// 3. A group that cannot be saved leaves no trace, and every call in it is rejected.
// 4. Items read or written lately are kept in memory as they are on the disk, changed only once a
//    group is durable: the folder has one owner, so nothing else changes them.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type {
  Item,
  Key,
  ListedKey,
  Outcome,
  Page,
  Range,
  Slice,
  Store,
  Write,
} from "../../ports/store.ts";
import {
  checkKeys,
  checkRange,
  checkSlice,
  checkWrites,
  storeLimits,
} from "../../ports/store-rules.ts";
import { afterMicrotasks } from "./after-microtasks.ts";
import { type Call, CommitGroup, type Member } from "./commit-group.ts";
import { type DataFolder, ownDataFolder } from "./data-folder.ts";
import { ItemIndexes } from "./item-indexes.ts";
import { ItemTable } from "./item-table.ts";
import { checkLog, LogMark } from "./log-mark.ts";
import { RecentItems } from "./recent-items.ts";
import { explainSqlite } from "./sqlite-error.ts";
import { type Migration, openDatabase } from "./store-format.ts";

/** Items of one flush, after which the event loop runs: some 5 ms on a common disk. */
export const MAX_GROUP_WRITES = 512;

/** Hint removals that may wait for the next commit; with more, they get a flush of their own. */
export const MAX_WAITING_HINTS = 64;

/**
 * Answers that are given at once while another thread works for the callers: it gets its first work
 * early. Without one, all at once is faster, since the same code then runs for many.
 */
export const ANSWERS_WITH_HELPER = 16;

/** How often a flush looks for what the helper has finished: it must not wait for ever. */
const MAX_ROUNDS = 8;

/** Another thread that works for the callers. */
export type Helper = Readonly<{
  /** Whether it is at work for them: what they ask of it should leave early. */
  isInUse: boolean;
  /** Hands what it has finished to the callers; false when there is nothing. */
  deliver(): boolean;
}>;

const NO_HELPER: Helper = { isInUse: false, deliver: () => false };

/** Where the store lives; the rest is for tests that need a small disk or another format. */
export type LocalStoreOptions = Readonly<{
  folder: string;
  /** Opens a folder whose log has lost acknowledged commits, and continues without them. */
  acceptLoss?: boolean;
  helper?: Helper;
  maxPages?: number;
  migrations?: readonly Migration[];
}>;

/** Opens the folder's store and owns the folder until the store is closed. */
export function openLocalStore({
  folder,
  acceptLoss = false,
  helper,
  maxPages,
  migrations,
}: LocalStoreOptions): LocalStore {
  const owned = ownDataFolder(folder);
  try {
    if (!acceptLoss) checkLog(owned);
    const db = openDatabase(owned, migrations);
    if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${Math.trunc(maxPages)}`);
    return new LocalStore(db, owned, { mark: markOf(db, owned), helper });
  } catch (error) {
    owned.release();
    throw error;
  }
}

function markOf(db: DatabaseSync, folder: DataFolder): LogMark {
  try {
    return new LogMark(folder.markFile, folder.databaseFile);
  } catch (error) {
    db.close();
    throw explainSqlite(error, folder.path, "read");
  }
}

/** A Store in a folder of this machine, with what the host in the same process needs in addition. */
export class LocalStore implements Store {
  readonly #db: DatabaseSync;
  readonly #folder: DataFolder;
  readonly #mark: LogMark;
  readonly #helper: Helper;
  readonly #items: ItemTable;
  readonly #indexes: ItemIndexes;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #groups: CommitGroup[] = [];
  readonly #recent = new RecentItems();
  #flushing: NodeJS.Immediate | undefined;
  #dueListener: ((dueAt: Instant) => void) | undefined;
  #isClosed = false;
  #lost: EngineError | undefined;
  #stopped: EngineError | undefined;
  #lostListener: ((error: EngineError) => void) | undefined;
  #reads = 0;
  #keysRead = 0;
  #commits = 0;
  #writes = 0;
  #bytes = 0;

  constructor(
    db: DatabaseSync,
    folder: DataFolder,
    { mark, helper = NO_HELPER }: Readonly<{ mark: LogMark; helper?: Helper | undefined }>,
  ) {
    this.#db = db;
    this.#folder = folder;
    this.#mark = mark;
    this.#helper = helper;
    folder.checkFiles();
    this.#items = new ItemTable(db);
    this.#indexes = new ItemIndexes(db);
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
  }

  /** Items that calls have read since the store was opened, missing ones included. */
  get reads(): number {
    return this.#reads;
  }

  /**
   * Keys that indexes have returned since the store was opened, and rows that consist of a key
   * only: dozens of them are read for the price of one item.
   */
  get keysRead(): number {
    return this.#keysRead;
  }

  /** Commits that were called since the store was opened, refused ones included. */
  get commits(): number {
    return this.#commits;
  }

  /** Writes of these commits, refused ones included. */
  get writes(): number {
    return this.#writes;
  }

  /** Bytes of the bodies of these writes. */
  get bytes(): number {
    return this.#bytes;
  }

  async get(keys: readonly Key[]): Promise<readonly (Item | undefined)[]> {
    checkKeys(keys);
    const ahead = this.#groups.findLast((group) => group.touches(keys));
    if (ahead !== undefined) await ahead.settled();
    return this.#ask(() => {
      this.#reads += keys.length;
      return keys.map((key) => this.#recent.get(key) ?? this.#read(key));
    });
  }

  async commit(writes: readonly [Write, ...Write[]]): Promise<Outcome> {
    checkWrites(writes);
    this.#checkOpen();
    this.#commits += 1;
    this.#writes += writes.length;
    for (const write of writes) if ("put" in write) this.#bytes += write.put.body.length;
    return new Promise((resolve, reject) => {
      this.#openGroup(writes.length).add({ writes, resolve, reject });
      this.#flushSoon();
    });
  }

  async scan(pk: string, range: Range): Promise<Page<Item>> {
    checkRange(range);
    const page = this.#ask(() => this.#indexes.scan(pk, range));
    const bare = page.items.filter(({ body }) => body.length === 0).length;
    this.#keysRead += bare;
    this.#reads += page.items.length - bare;
    return page;
  }

  /** Exact to the millisecond and never behind: here the index is part of the item. */
  async due(until: Instant, slice: Slice, after?: string, from?: Instant): Promise<Page<Key>> {
    checkSlice(slice);
    const range = {
      after: from === undefined ? undefined : instantFrom(from - 1),
      until,
      slice,
      limit: storeLimits.duePerPage,
      cursor: after,
    };
    return this.#count(this.#ask(() => this.#indexes.due(range)));
  }

  /** As `due` on everything, but only what is due later than `after`. */
  async dueBetween(range: {
    after: Instant;
    until: Instant;
    limit: number;
    cursor?: string;
  }): Promise<Page<Key>> {
    checkRange(range);
    return this.#count(
      this.#ask(() => this.#indexes.due({ ...range, slice: { index: 0, of: 1 } })),
    );
  }

  /** The first instant later than `after` at which an item must be re-checked. */
  earliestDue(after: Instant): Instant | undefined {
    return this.#ask(() => this.#indexes.earliestDue(after));
  }

  /** Calls the listener whenever commits set due instants, with the first of them. */
  watchDue(listener: (dueAt: Instant) => void): void {
    this.#dueListener = listener;
  }

  async list(view: string, range: Range): Promise<Page<ListedKey>> {
    checkRange(range);
    return this.#count(this.#ask(() => this.#indexes.list(view, range)));
  }

  async tidy(hints: readonly Key[]): Promise<void> {
    checkKeys(hints);
    this.#checkOpen();
    this.#writes += hints.length;
    const group = this.#openGroup(hints.length);
    group.addTidy(hints);
    if (group.size >= MAX_WAITING_HINTS) this.#flushSoon();
  }

  /**
   * Removes up to `limit` items that had expired by `now`, and returns how many; until then they
   * are read.
   */
  purgeExpired(now: Instant, limit: number): number {
    this.#checkOpen();
    const removed = this.#durably(() => this.#items.removeExpired(now, limit));
    if (removed > 0) this.#recent.clear();
    return removed;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    while (this.#groups.length > 0) this.#flush();
    this.#isClosed = true;
    if (this.#flushing !== undefined) clearImmediate(this.#flushing);
    this.#mark.release();
    // Closing moves the log into the database file, which may be what was harmed.
    if (this.#lost) this.#folder.keepLog(() => this.#db.close());
    else this.#db.close();
    if (this.#lost === undefined) LogMark.close(this.#folder.markFile);
    this.#folder.release();
  }

  /** The group that has room for `count` more writes, the last one or a new one behind it. */
  #openGroup(count: number): CommitGroup {
    const last = this.#groups.at(-1);
    if (last !== undefined && last.size + count <= MAX_GROUP_WRITES) return last;
    const group = new CommitGroup();
    this.#groups.push(group);
    return group;
  }

  /** After this turn's other callbacks, so that their commits share the flush. */
  #flushSoon(): void {
    this.#flushing ??= setImmediate(() => this.#flushAfterHelper(MAX_ROUNDS));
  }

  /** What the helper has finished by now leads to commits that can share the flush. */
  #flushAfterHelper(rounds: number): void {
    if (rounds > 0 && this.#groups.length === 1 && this.#helper.deliver()) {
      afterMicrotasks(() => this.#flushAfterHelper(rounds - 1));
      return;
    }
    this.#flushing = undefined;
    this.#flush();
    if (this.#groups.length > 0) this.#flushSoon();
  }

  #flush(): void {
    const group = this.#groups.shift();
    if (group === undefined) return;
    try {
      const outcomes = this.#durably(() => group.members.map((member) => this.#apply(member)));
      for (const [position, member] of group.members.entries()) {
        this.#remember(member, outcomes[position] ?? COMMITTED);
      }
      const answer = (call: Call, at: number) => call.resolve(outcomes[at] ?? COMMITTED);
      group.settle(answer, this.#helper.isInUse ? ANSWERS_WITH_HELPER : undefined);
      this.#tellDue(group, outcomes);
    } catch (error) {
      group.settle((call) => call.reject(error));
    }
  }

  #apply(member: Member): Outcome {
    if ("writes" in member) return this.#items.apply(member.writes);
    for (const hint of member.tidy) this.#items.remove(hint);
    return COMMITTED;
  }

  #remember(member: Member, outcome: Outcome): void {
    if ("writes" in member) this.#recent.follow(member.writes, outcome);
    else for (const hint of member.tidy) this.#recent.forget(hint);
  }

  /** Items with unsent obligations, due since instant 0, are checked only when the store is opened. */
  #tellDue({ members }: CommitGroup, outcomes: readonly Outcome[]): void {
    let first: Instant | undefined;
    for (const [position, member] of members.entries()) {
      if (!("writes" in member) || outcomes[position]?.kind !== "committed") continue;
      for (const write of member.writes) {
        const lookAt = "put" in write ? write.put.lookAt : undefined;
        if (lookAt === undefined || lookAt === 0) continue;
        if (first === undefined || lookAt < first) first = lookAt;
      }
    }
    if (first !== undefined) this.#dueListener?.(first);
  }

  #read(key: Key): Item | undefined {
    const item = this.#items.read(key);
    if (item !== undefined) this.#recent.keep(item);
    return item;
  }

  /** Runs the change in one transaction: on the disk when this returns, undone when it throws. */
  #durably<T>(change: () => T): T {
    try {
      if (this.#stopped) throw this.#stopped;
      // Before, too: a commit would make a truncated log as long as it was.
      this.#checkUnharmed();
      this.#begin.run();
      const result = change();
      this.#commit.run();
      this.#checkUnharmed();
      this.#mark.move();
      return result;
    } catch (cause) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw this.#explain(cause, "commit");
    }
  }

  #ask<T>(read: () => T): T {
    this.#checkOpen();
    try {
      return read();
    } catch (cause) {
      throw this.#explain(cause, "read");
    }
  }

  /** A database file that SQLite finds damaged stops the store: its other pages may be wrong too. */
  #explain(cause: unknown, during: "read" | "commit"): EngineError {
    const error = explainSqlite(cause, this.#folder.path, during);
    if (error.stopsEngine) this.#stop(error);
    return error;
  }

  #count<T>(page: Page<T>): Page<T> {
    this.#keysRead += page.items.length;
    return page;
  }

  /**
   * Calls the listener once, when files of the folder were removed or truncated, or the database
   * file is damaged: every call is refused from then on.
   */
  watchLost(listener: (error: EngineError) => void): void {
    this.#lostListener = listener;
  }

  /** Throws once the store has stopped; every acknowledgement checks this anyway. */
  checkFiles(): void {
    if (this.#stopped) throw this.#stopped;
    try {
      this.#folder.checkFiles();
    } catch (error) {
      if (error instanceof EngineError) this.#lose(error);
      throw error;
    }
  }

  /** A commit that was flushed into a removed, replaced or truncated file is not acknowledged. */
  #checkUnharmed(): void {
    try {
      this.checkFiles();
    } catch (cause) {
      // Not that error itself: it is unknown whether this commit will be found again.
      throw explainSqlite(new Error("The files are gone.", { cause }), this.#folder.path, "commit");
    }
  }

  #lose(error: EngineError): void {
    this.#lost = error;
    this.#stop(error);
  }

  #stop(error: EngineError): void {
    if (this.#stopped) return;
    this.#stopped = error;
    this.#recent.clear();
    this.#lostListener?.(error);
  }

  #checkOpen(): void {
    if (this.#stopped) throw this.#stopped;
    if (!this.#isClosed) return;
    throw new EngineError("store/closed", {
      happened: "The store was closed",
      where: `data folder ${this.#folder.path}`,
      fix: "Open the engine again; calls made while it closes are not accepted.",
    });
  }
}

const COMMITTED: Outcome = { kind: "committed" };
