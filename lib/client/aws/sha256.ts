import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";

/** SHA-256, plain or keyed, in the shape that the signer asks for. */
export class Sha256 {
  readonly #begin: () => Hash | Hmac;
  #running: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#begin = () =>
      secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
    this.#running = this.#begin();
  }

  update(data: Uint8Array): void {
    this.#running.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#running.digest();
  }

  reset(): void {
    this.#running = this.#begin();
  }
}

function bytesOf(secret: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof secret === "string") return secret;
  if (secret instanceof ArrayBuffer) return new Uint8Array(secret);
  return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength);
}
