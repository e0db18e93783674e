import type { Blobs } from "../../ports/blobs.ts";
import { EngineError } from "../../ports/engine-error.ts";

/** Where a call stops until the simulated world continues it. */
export type BlobsPoint = `${BlobsCall}:${"before" | "after"}`;

type BlobsCall = "put" | "get" | "expire" | "remove";

/** What a world may answer before a call. */
export type BlobsFault =
  /** Not done, and the caller gets an error. */
  | Readonly<{ fault: "refused" }>
  /** Done, but the caller gets an error. */
  | Readonly<{ fault: "unanswered" }>;

/** How a world takes part: called at every point with the name of the blob. */
export type BlobsWorld = Readonly<{
  turn?: (point: BlobsPoint, name: string) => Promise<BlobsFault | undefined>;
}>;

/** Blobs in memory, which fail only when the world says so. */
export class SimulatedBlobs implements Blobs {
  readonly #turn: BlobsWorld["turn"];
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #expiring = new Set<string>();

  constructor({ turn }: BlobsWorld = {}) {
    this.#turn = turn;
  }

  /** The names of all blobs, and whether each expires: for invariants, never for the engine. */
  names(): ReadonlyMap<string, "kept" | "expiring"> {
    const names = [...this.#blobs.keys()];
    return new Map(names.map((name) => [name, this.#expiring.has(name) ? "expiring" : "kept"]));
  }

  /** The content of a name, for invariants. */
  peek(name: string): Uint8Array | undefined {
    return this.#blobs.get(name);
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    const copy = new Uint8Array(bytes);
    return this.#call("put", name, () => {
      this.#blobs.set(name, copy);
      this.#expiring.delete(name);
    });
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return this.#call("get", name, () => {
      const bytes = this.#blobs.get(name);
      return bytes && new Uint8Array(bytes);
    });
  }

  expire(name: string): Promise<void> {
    return this.#call("expire", name, () => void this.#expiring.add(name));
  }

  remove(name: string): Promise<void> {
    return this.#call("remove", name, () => void this.#blobs.delete(name));
  }

  /** Removes expiring blobs, as a world may at any later moment. */
  purgeExpired(): void {
    for (const name of this.#expiring) this.#blobs.delete(name);
  }

  async #call<T>(call: BlobsCall, name: string, work: () => T): Promise<T> {
    const fault = await this.#turn?.(`${call}:before`, name);
    if (fault?.fault === "refused") throw failed(call, name);
    const result = work();
    await this.#turn?.(`${call}:after`, name);
    if (fault?.fault === "unanswered") throw failed(call, name);
    return result;
  }
}

function failed(call: BlobsCall, name: string): EngineError {
  return new EngineError(call === "get" ? "blobs/read-failed" : "blobs/put-failed", {
    happened: "The bucket did not answer",
    where: `blob ${name}`,
    fix: "Nothing is lost: it is tried again.",
  });
}
