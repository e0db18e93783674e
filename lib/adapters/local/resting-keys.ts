import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Agenda, Waiting } from "./agenda.ts";
import { DueHeap } from "./due-heap.ts";
import { growingPauseMs } from "./growing-pause.ts";

/** Keys that may be suspects or resting at a time; with more, the index is not read any further. */
export const MAX_RESTING_KEYS = 10_000;

/** How soon to check whether a key is still due; then after twice as long each time. */
export const FIRST_LOOK_MS = 5;

/** Whether a key that is due may be handled; `restsForMs` when its rest begins now. */
type Meeting = Readonly<{ mayBeHandled: boolean; restsForMs?: number }>;

/**
 * Keys that stay due although they were handled: each backs off, longer every time. A key is a
 * suspect after it was handled without effect, and rests once a pass over the index finds it again.
 * It may only wait for a message that is still queued: so there are passes while it rests, soon at
 * first, and the pass that does not find it ends its rest.
 */
export class RestingKeys implements Waiting {
  readonly #pauses: Agenda;
  readonly #askForPass: () => void;
  readonly #suspects = new Map<string, Suspect>();
  readonly #wakings = new DueHeap<Suspect>();
  #resting = 0;
  #pass = 0;

  constructor(pauses: Agenda, askForPass: () => void) {
    this.#pauses = pauses;
    this.#askForPass = askForPass;
    pauses.add(this);
  }

  /** Keys that rest. */
  get size(): number {
    return this.#resting;
  }

  get hasRoom(): boolean {
    return this.#suspects.size < MAX_RESTING_KEYS;
  }

  *names(): Iterable<string> {
    for (const [name, { state }] of this.#suspects) if (state === "resting") yield name;
  }

  /** It was handled without effect. */
  suspect(name: string): void {
    const { tries = 0, looks = 0 } = this.#suspects.get(name) ?? {};
    const until = this.#pauses.now();
    this.#suspects.set(name, {
      tries: tries + 1,
      looks,
      state: "suspected",
      until,
      metIn: this.#pass,
    });
  }

  /** It was handled with effect: it is no suspect any more. */
  forget(name: string): void {
    const suspect = this.#suspects.get(name);
    if (suspect === undefined) return;
    if (suspect.state === "resting") this.#resting--;
    suspect.state = "forgotten";
    this.#suspects.delete(name);
  }

  beginPass(): void {
    this.#pass++;
  }

  /** The pass found everything that is due: a key that it did not find is no longer due. */
  endPass(): void {
    for (const [name, { metIn }] of this.#suspects) if (metIn < this.#pass) this.forget(name);
  }

  /** It is due: returns whether it may be handled, and lets a suspect rest. */
  meet(name: string): Meeting {
    const suspect = this.#suspects.get(name);
    if (suspect === undefined) return { mayBeHandled: true };
    suspect.metIn = this.#pass;
    if (suspect.state !== "suspected") return { mayBeHandled: suspect.state === "rested" };
    const restsForMs = growingPauseMs(suspect.tries);
    suspect.state = "resting";
    suspect.until = instantFrom(this.#pauses.now() + restsForMs);
    this.#resting++;
    this.#lookLater(suspect);
    this.#pauses.look();
    return { mayBeHandled: false, restsForMs };
  }

  nextDue(): Instant | undefined {
    return this.#wakings.earliest;
  }

  wake(now: Instant): void {
    for (;;) {
      const due = this.#wakings.takeDue(now);
      if (due === undefined) return;
      const suspect = due.item;
      if (suspect.state !== "resting") continue;
      if (suspect.until > now) this.#lookLater(suspect);
      else {
        suspect.state = "rested";
        this.#resting--;
      }
      this.#askForPass();
    }
  }

  /** Checks are counted over all rests of a key, or a stuck key would cost many passes. */
  #lookLater(suspect: Suspect): void {
    const lookAt = this.#pauses.now() + FIRST_LOOK_MS * 2 ** suspect.looks++;
    this.#wakings.add(suspect, instantFrom(Math.min(lookAt, suspect.until)));
  }
}

type Suspect = {
  readonly tries: number;
  looks: number;
  state: "suspected" | "resting" | "rested" | "forgotten";
  /** When its rest ends. */
  until: Instant;
  /** The last pass that found it, or during which it was handled. */
  metIn: number;
};
