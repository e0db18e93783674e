import type { Usage } from "../ports/meter.ts";
import { ASSUMED_MS, type FunctionName, MEMORY_MB } from "./assumptions.ts";

/** The purpose of a charge. Only `step` grows with the steps of an instance. */
export type Purpose = "step" | "start" | "listing" | "history" | "storage" | "door";

export type Spent = Readonly<{ purpose: Purpose; usage: Usage }>;

/** Records all usage, and its purpose. */
export class Ledger {
  readonly #spent: Spent[] = [];
  #purpose: Purpose = "step";
  #isClosed = false;
  #ms = 0;

  get spent(): readonly Spent[] {
    return this.#spent;
  }

  spend(usage: Usage, purpose?: Purpose): void {
    if (this.#isClosed) return;
    const isListing = "on" in usage && usage.on === "listing";
    this.#spent.push({ usage, purpose: purpose ?? (isListing ? "listing" : this.#purpose) });
  }

  /** A function worked, or waited for a response. */
  take(what: keyof typeof ASSUMED_MS): void {
    this.#ms += ASSUMED_MS[what];
  }

  /** A function paused. */
  pause(ms: number): void {
    this.#ms += ms;
  }

  /** Runs the work of one invocation of a function, and charges its time. */
  async invoke<T>(name: FunctionName, work: () => Promise<T>): Promise<T> {
    this.#ms = ASSUMED_MS.overhead;
    const result = await work();
    const gbSeconds = (Math.ceil(this.#ms) / 1_000) * (MEMORY_MB[name] / 1_024);
    this.spend({ of: "lambda", invocations: 1, gbSeconds, name });
    return result;
  }

  /** Usage meanwhile has this purpose. */
  async on<T>(purpose: Purpose, work: () => Promise<T>): Promise<T> {
    const before = this.#purpose;
    this.#purpose = purpose;
    try {
      return await work();
    } finally {
      this.#purpose = before;
    }
  }

  /** Usage meanwhile is not counted: preparation and observation. */
  async aside<T>(work: () => Promise<T>): Promise<T> {
    const wasClosed = this.#isClosed;
    this.#isClosed = true;
    try {
      return await work();
    } finally {
      this.#isClosed = wasClosed;
    }
  }
}
