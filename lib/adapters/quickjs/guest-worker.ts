/**
 * The thread that guests run in: serves one request after the other, and prepares machines while there
 * is none. After a nap without a request it goes back to its event loop.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { Ran } from "../../definition/sandbox.ts";
import { loadProgram, type Program, type ProgramSession, prepareAhead } from "./program.ts";
import { TextRing } from "./text-ring.ts";
import { FLAG, THREAD, type ThreadMemory } from "./thread-memory.ts";
import {
  type Answer,
  KnownTypes,
  type Request,
  type RunRequest,
  readRequest,
  writeAnswer,
} from "./worker-protocol.ts";

const memory = workerData as ThreadMemory;
const requests = new TextRing(memory.requests);
const answers = new TextRing(memory.answers);
const flags = new Int32Array(memory.flags);

const programs = new Map<number, Program>();
const sessions = new Map<number, ProgramSession>();
const types = new KnownTypes();

/** Longer than the host takes to flush, after which it has the next requests. */
const NAP_MS = 2;

/** How often the thread looks whether the host has made room for an answer. */
const ROOM_EVERY_MS = 1;

parentPort?.on("message", () => {
  while (serveNext() || prepareAhead() || nap() || !isIdle());
});

function serveNext(): boolean {
  const text = requests.read(() => receiveMessageOnPort(memory.large)?.message);
  if (text === undefined) return false;
  tellIfAsked(FLAG.hostHasMore);
  const { id, request } = readRequest(text);
  Atomics.store(flags, FLAG.current, id);
  const answer = serve(id, request);
  Atomics.store(flags, FLAG.current, 0);
  if (answer) send(answer);
  return true;
}

/** Blocks until there is a request; false when none came. */
function nap(): boolean {
  Atomics.store(flags, FLAG.thread, THREAD.napping);
  requests.waitForText(NAP_MS);
  Atomics.store(flags, FLAG.thread, THREAD.atWork);
  return requests.hasText;
}

/** From here on a message wakes the thread; false when a request came just before. */
function isIdle(): boolean {
  Atomics.store(flags, FLAG.thread, THREAD.idle);
  if (!requests.hasText) return true;
  Atomics.store(flags, FLAG.thread, THREAD.atWork);
  return false;
}

function send(answer: Answer): void {
  types.learn(answer);
  const text = writeAnswer(answer, types);
  while (!answers.write(text, (large) => memory.large.postMessage(large))) {
    Atomics.wait(flags, FLAG.current, 0, ROOM_EVERY_MS);
  }
  tellIfAsked(FLAG.hostListens);
}

/** Sends the host the message that it has asked for, once. */
function tellIfAsked(flag: number): void {
  if (Atomics.load(flags, flag) === 0) return;
  Atomics.store(flags, flag, 0);
  parentPort?.postMessage(null);
}

function serve(id: number, request: Request): Answer | undefined {
  switch (request.kind) {
    case "load":
      return load(id, request);
    case "run":
      return { id, ran: run(request) };
    case "close": {
      sessions.get(request.session)?.close();
      sessions.delete(request.session);
      return undefined;
    }
  }
}

function load(id: number, { program, bundle }: Extract<Request, { kind: "load" }>): Answer {
  const loaded = loadProgram(bundle);
  if (!loaded.ok) return { id, problem: loaded.problem };
  programs.set(program, loaded.program);
  return { id, declared: loaded.program.declared };
}

function run({ session, program, opening, feeds }: RunRequest): readonly Ran[] {
  const running = sessions.get(session) ?? (opening && programs.get(program)?.open(opening));
  if (running === undefined) return NOT_THERE;
  sessions.set(session, running);
  return running.run(feeds, () => Atomics.add(flags, FLAG.fed, 1));
}

const NOT_THERE: readonly Ran[] = [
  { kind: "stopped", stop: "lost", message: "The session is not there." },
];
