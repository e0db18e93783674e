import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const MAIN = resolve(import.meta.dirname, "../../cli/main.ts");

/** The command in a separate process; its lines are kept, so that none is missed. */
export class FermataProcess {
  readonly lines: string[] = [];
  readonly errors: string[] = [];
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();
  #exitCode: number | undefined;

  constructor(...args: readonly string[]) {
    const { FERMATA_URL: _, FERMATA_TOKEN: __, npm_package_name: ___, ...env } = process.env;
    const child = spawn(process.execPath, [MAIN, ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => this.#keep(this.lines, line));
    createInterface({ input: child.stderr }).on("line", (line) => this.#keep(this.errors, line));
    child.on("close", (code) => {
      this.#exitCode = code ?? -1;
      for (const look of this.#watchers) look();
    });
  }

  /** The first line that matches, once it is printed; fails when the process ends without it. */
  line(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.lines.find((line) => pattern.test(line));
        if (found !== undefined) resolve(found);
        else if (this.#exitCode !== undefined) {
          reject(new Error(`No line matches ${pattern}: ${[...this.lines, ...this.errors]}`));
        } else return;
        this.#watchers.delete(look);
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** The address in the ready line. */
  async url(): Promise<string> {
    const ready = await this.line(/http:\/\//);
    return /http:\/\/[\d.]+:\d+/.exec(ready)?.[0] ?? "";
  }

  async exitCode(): Promise<number> {
    if (this.#exitCode === undefined) await once(this.#child, "close");
    return this.#exitCode ?? -1;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#exitCode === undefined) this.#child.kill(signal);
  }

  /** Sends a signal and returns the exit code. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
    this.signal(signal);
    return this.exitCode();
  }

  #keep(lines: string[], line: string): void {
    lines.push(line);
    for (const look of this.#watchers) look();
  }
}
