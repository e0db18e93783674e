import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

/** A command that runs until it is stopped, in its own shell as a reader types it. */
export class ServerInShell {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #output: Readable;
  #printed = "";

  constructor(command: string, options: Readonly<{ cwd: string; env: Record<string, string> }>) {
    // In its own process group: a signal reaches all processes, as Ctrl-C does.
    const child = spawn("bash", ["-c", command], {
      ...options,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    this.#closed = once(child, "close");
    this.#output = child.stdout.on("data", (text) => {
      this.#printed += String(text);
    });
  }

  get url(): string {
    return /ready at (\S+)/.exec(this.#printed)?.[1] ?? "";
  }

  /** Resolves when it has printed this; fails when it ends before. */
  async prints(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#printed)) {
      const more = once(this.#output, "data").then(() => true);
      const goesOn = await Promise.race([more, this.#closed.then(() => false)]);
      if (!goesOn) throw new Error(`It ended before it printed ${pattern}: ${this.#printed}`);
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, signal);
    await this.#closed;
  }
}
