// An engine that is killed and restarted, as its callers see it: calls that were cut off are
// repeated under their ids, until a process has responded.

import { setTimeout as pause } from "node:timers/promises";
import { type Folders, type Life, startLife } from "./killed-host.ts";

export class Mortal {
  readonly #folders: Folders;
  #life: Promise<Life>;
  #lives = 1;

  constructor(folders: Folders) {
    this.#folders = folders;
    this.#life = startLife(folders, 1);
  }

  get life(): Promise<Life> {
    return this.#life;
  }

  /** Kills the current process, reads what it has left, and starts the next one. */
  async kill<T>(look: (killed: Life) => Promise<T>): Promise<T> {
    const life = await this.#life;
    const looked = life.kill().then(() => look(life));
    const next = looked.then(() => startLife(this.#folders, ++this.#lives));
    this.#life = next;
    await next;
    return looked;
  }

  /** The first response of any process; only for calls that may be repeated. */
  async ask(path: string, body?: object): Promise<unknown> {
    for (;;) {
      const life = await this.#life;
      const answered = await tryAsk(life.url + path, body);
      if (answered !== "cut off" && answered.status < 300) return answered.body;
      if (answered === "cut off") {
        if ((await this.#life) === life) throw new Error(`a life ended by itself, at ${path}`);
      } else if (answered.status === 503) {
        await pause(5);
      } else {
        throw new Error(`${path} answered ${answered.status}: ${JSON.stringify(answered.body)}`);
      }
    }
  }

  async end(): Promise<void> {
    const life = await this.#life;
    await life.kill();
  }
}

type Answered = Readonly<{ status: number; body: unknown }>;

async function tryAsk(url: string, body: object | undefined): Promise<Answered | "cut off"> {
  const headers = { "content-type": "application/json" };
  const post = body && { method: "POST", headers, body: JSON.stringify(body) };
  try {
    const response = await fetch(url, post ?? {});
    return { status: response.status, body: await response.json() };
  } catch {
    return "cut off"; // its outcome is unknown
  }
}
