// AWS on one machine, without Docker: SQS, EventBridge and its Scheduler, Lambda, S3, DynamoDB,
// CloudFormation and API Gateway in one process. It shows that the parts are wired correctly, and
// how they look to users. It shows nothing about how AWS behaves under concurrency.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { freePort } from "./free-port.ts";
import { emulatorPython } from "./python-environment.ts";

const BIN = join(import.meta.dirname, "../../node_modules/.bin");
const READY_WITHIN_MS = 60_000;
const GONE_WITHIN_MS = 5_000;

export type EmulatorOptions = Readonly<{
  /** The folder for all files of the emulator, and its log `emulator.log`; created if missing. */
  folder: string;
  /** A free port by default. */
  port?: number;
  /** Whether the policies of function roles and the authorisation of routes are enforced. */
  enforceIam?: boolean;
  /**
   * Keeps running when this process ends, until `stopEmulator`; otherwise it ends with this
   * process.
   */
  detached?: boolean;
  /** Called with its pid before anything else, so that a signal handler can end it too. */
  onLaunch?: (pid: number) => void;
  /** Called with progress messages; stderr by default. */
  log?: (line: string) => void;
}>;

export type Emulator = Readonly<{
  endpoint: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}>;

/** Starts an emulator on 127.0.0.1 and waits until it responds. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const python = await emulatorPython(options.log ?? console.error);
  const port = options.port ?? (await freePort());
  const folder = resolve(options.folder);
  mkdirSync(folder, { recursive: true });
  // Its workers are CommonJS files in this folder, whatever the package around it says.
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  const child = launch(python, { ...options, port, folder });
  if (child.pid !== undefined) options.onLaunch?.(child.pid);
  const pid = await startedAs(child);
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await untilReady(child, endpoint, join(folder, "emulator.log"));
  } catch (cause) {
    await stopEmulator(pid);
    throw cause;
  }
  if (options.detached === true) child.unref();
  return { endpoint, port, pid, stop: () => stopEmulator(pid) };
}

/** Ends an emulator and every function that it runs. */
export async function stopEmulator(pid: number): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    signalGroup(pid, signal);
    const deadline = Date.now() + GONE_WITHIN_MS;
    // Zombies stay in their group until they are reaped, which some containers never
    // do: after SIGKILL it is over in any case.
    while (signalGroup(pid, 0) && Date.now() < deadline) await pause(20);
  }
}

type Launch = EmulatorOptions & Readonly<{ port: number }>;

/** It is the leader of its own process group, because its functions are processes too. */
function launch(python: string, { folder, port, enforceIam, detached }: Launch): ChildProcess {
  const log = openSync(join(folder, "emulator.log"), "a");
  const child = spawn(python, [join(import.meta.dirname, "emulator.py")], {
    cwd: folder,
    detached: true,
    stdio: [detached === true ? "ignore" : "pipe", log, log],
    env: {
      ...withoutAws(process.env),
      // A function's runtime is the first node on the PATH.
      PATH: `${BIN}${delimiter}${process.env.PATH ?? ""}`,
      BIND_HOST: "127.0.0.1",
      GATEWAY_PORT: String(port),
      TMPDIR: folder,
      STATE_DIR: join(folder, "state"),
      S3_DATA_DIR: join(folder, "s3"),
      IOT_MTLS_ENABLED: "0",
      PYTHONDONTWRITEBYTECODE: "1",
      AUTH: String(enforceIam ?? false),
      LOG_LEVEL: process.env.LOG_LEVEL ?? "WARNING",
      END_WITH_PARENT: detached === true ? "0" : "1",
    },
  });
  closeSync(log);
  return child;
}

/** The caller's account must not reach the emulator, nor the functions that it runs. */
function withoutAws(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("AWS_")));
}

function startedAs(child: ChildProcess): Promise<number> {
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("spawn", () => done(child.pid ?? 0));
  });
}

async function untilReady(child: ChildProcess, endpoint: string, log: string): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await answers(endpoint))) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`The AWS emulator ended before it answered: ${tailOf(log)} (${log})`);
    }
    if (Date.now() > deadline) {
      throw new Error(
        `The AWS emulator did not answer within ${READY_WITHIN_MS / 1_000} s: see ${log}`,
      );
    }
    await pause(50);
  }
}

async function answers(endpoint: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(2_000);
    return (await fetch(`${endpoint}/_ministack/health`, { signal })).ok;
  } catch {
    return false;
  }
}

function tailOf(file: string): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").at(-1) ?? "";
}

/** False when it has no process left. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
