/** The thread that guests run in: takes batches of requests, and answers them in batches. */
import { parentPort, workerData } from "node:worker_threads";
import type { Ran } from "../../definition/sandbox.ts";
import { loadProgram, type Program, type ProgramSession, prepareAhead } from "./program.ts";
import {
  type Answer,
  PER_MESSAGE,
  type Request,
  readRequests,
  writeBatch,
} from "./worker-protocol.ts";

const programs = new Map<number, Program>();
const sessions = new Map<number, ProgramSession>();
/** The number of the request that is being served: the host sees which one does not come back. */
const current = new Int32Array(workerData as SharedArrayBuffer);

parentPort?.on("message", (batch: string) => {
  const requests = readRequests(batch);
  for (let at = 0; at < requests.length; at += PER_MESSAGE) {
    const answers = requests.slice(at, at + PER_MESSAGE).flatMap(answerTo);
    if (answers.length > 0) parentPort?.postMessage(writeBatch(answers));
  }
  if (!isPreparing) setImmediate(prepare);
  isPreparing = true;
});

let isPreparing = false;

/** One at a time: requests that come meanwhile go first. */
function prepare(): void {
  isPreparing = prepareAhead();
  if (isPreparing) setImmediate(prepare);
}

function answerTo(request: Request): readonly Answer[] {
  Atomics.store(current, 0, request.id);
  const answer = serve(request);
  Atomics.store(current, 0, 0);
  return answer ? [answer] : [];
}

function serve(request: Request): Answer | undefined {
  switch (request.kind) {
    case "load":
      return load(request);
    case "run":
      return { id: request.id, ran: run(request) };
    case "close": {
      sessions.get(request.session)?.close();
      sessions.delete(request.session);
      return undefined;
    }
  }
}

function load({ id, program, bundle }: Extract<Request, { kind: "load" }>): Answer {
  const loaded = loadProgram(bundle);
  if (!loaded.ok) return { id, problem: loaded.problem };
  programs.set(program, loaded.program);
  return { id, declared: loaded.program.declared };
}

function run({ session, program, opening, feeds }: Extract<Request, { kind: "run" }>) {
  const running = sessions.get(session) ?? (opening && programs.get(program)?.open(opening));
  if (running === undefined) return NOT_THERE;
  sessions.set(session, running);
  return running.run(feeds);
}

const NOT_THERE: readonly Ran[] = [
  { kind: "stopped", stop: "lost", message: "The session is not there." },
];
