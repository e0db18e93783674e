import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Key, Page } from "../../ports/store.ts";
import type { Agenda } from "./agenda.ts";
import type { Surroundings } from "./deliveries.ts";
import { growingPauseMs } from "./growing-pause.ts";

/** Keys that one read of the index brings. */
export const MAX_DUE_PAGE = 256;

/** The due instant of items with unsent obligations; nothing else is due then. */
export const OWING = instantFrom(0);

/** The due index of a store. */
export interface DueIndex {
  /** The first instant later than `after` at which an item must be re-checked. */
  earliestDue(after: Instant): Instant | undefined;
  /** Keys due later than `after` and by `until`, oldest first. */
  dueBetween(range: {
    after: Instant;
    until: Instant;
    limit: number;
    cursor?: string;
  }): Promise<Page<Key>>;
  /** Reports instants of commits from now on; absent: only arming a timer does. */
  watchDue?(listener: (dueAt: Instant) => void): void;
}

/** The consumer of what the passes find. */
export type PassRules = Readonly<{
  /** Whether there is room for the keys of another read now. */
  hasRoom(): boolean;
  onBegin(): void;
  /** Something is due at this key; false: let the pass end here. */
  onKeys(keys: readonly Key[]): boolean;
  /** Keys up to `until` were read: all of them if the pass was whole. */
  onEnd(pass: Readonly<{ until: Instant; isWhole: boolean }>): void;
}>;

/** Reads the due index in passes, each from its oldest key to the instant at which it began. */
export class IndexPasses {
  readonly #index: DueIndex;
  readonly #clock: Pick<Agenda, "now">;
  readonly #pauses: Agenda;
  readonly #onTrouble: Surroundings["onTrouble"];
  readonly #rules: PassRules;
  #pass: Pass | undefined;
  #mustBegin = false;
  #isReading = false;
  #failures = 0;
  #readAgainAt: Instant | undefined;
  #isStopped = false;

  constructor(
    {
      index,
      agenda,
      pauses,
      onTrouble,
    }: Pick<Surroundings, "agenda" | "pauses" | "onTrouble"> & Readonly<{ index: DueIndex }>,
    rules: PassRules,
  ) {
    this.#index = index;
    this.#clock = agenda;
    this.#pauses = pauses;
    this.#onTrouble = onTrouble;
    this.#rules = rules;
    pauses.add({ nextDue: () => this.#readAgainAt, wake: () => this.#readAgain() });
  }

  /** Whether a pass is running or requested. */
  get isPassing(): boolean {
    return this.#pass !== undefined || this.#mustBegin;
  }

  /** Requests a pass that starts later than now; `goOn` starts it. */
  want(): void {
    this.#mustBegin = true;
  }

  /** Continues reading as soon as there is room: there are never many keys in memory. */
  goOn(): void {
    if (this.#isReading || this.#isStopped || !this.isPassing || !this.#rules.hasRoom()) return;
    this.#isReading = true;
    void this.#readPage(); // settles everything itself, and never rejects
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #readPage(): Promise<void> {
    await Promise.resolve(); // keys that are released together request one pass together
    const pass = this.#pass ?? this.#newPass();
    try {
      const { until, cursor } = pass;
      const page = await this.#index.dueBetween({
        after: OWING,
        until,
        limit: MAX_DUE_PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      this.#failures = 0;
      this.#isReading = false;
      this.#found(pass, page);
    } catch (error) {
      this.#failed(error);
    }
  }

  #newPass(): Pass {
    this.#pass = { until: this.#clock.now() };
    this.#mustBegin = false;
    this.#rules.onBegin();
    return this.#pass;
  }

  #found(pass: Pass, { items, next }: Page<Key>): void {
    const mayGoOn = this.#rules.onKeys(items);
    this.#pass = next !== undefined && mayGoOn ? { ...pass, cursor: next } : undefined;
    if (this.#pass === undefined) {
      this.#rules.onEnd({ until: pass.until, isWhole: next === undefined });
    }
    this.goOn();
  }

  #failed(error: unknown): void {
    const retryInMs = growingPauseMs(++this.#failures);
    this.#pass = undefined;
    this.#mustBegin = true;
    if (!this.#isStopped) {
      this.#onTrouble({ error, about: "the index of what is due", retryInMs });
    }
    this.#readAgainAt = instantFrom(this.#pauses.now() + retryInMs);
    this.#pauses.look();
  }

  #readAgain(): void {
    this.#readAgainAt = undefined;
    this.#isReading = false;
    this.goOn();
  }
}

/** From the oldest key to `until`; after the cursor, once it has begun. */
type Pass = Readonly<{ until: Instant; cursor?: string }>;
