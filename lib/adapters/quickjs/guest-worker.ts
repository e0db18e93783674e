/** The thread that guests run in: takes batches of requests, and answers each batch at once. */
import { parentPort, workerData } from "node:worker_threads";
import { loadProgram, type Program, type TextRan, type TextSession } from "./program.ts";
import type { Answer, Request } from "./worker-protocol.ts";

const programs = new Map<number, Program>();
const sessions = new Map<number, TextSession>();
/** The number of the request that is being served: the host sees which one does not come back. */
const current = new Int32Array(workerData as SharedArrayBuffer);

parentPort?.on("message", (batch: readonly Request[]) => {
  const answers: Answer[] = [];
  for (const request of batch) {
    Atomics.store(current, 0, request.id);
    const answer = serve(request);
    if (answer) answers.push(answer);
  }
  Atomics.store(current, 0, 0);
  parentPort?.postMessage(answers);
});

function serve(request: Request): Answer | undefined {
  switch (request.kind) {
    case "load":
      return load(request);
    case "run":
      return { id: request.id, ran: run(request) };
    case "close": {
      const session = sessions.get(request.session);
      sessions.delete(request.session);
      if (request.isBroken) session?.discard();
      else session?.close();
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

const NOT_THERE: readonly TextRan[] = [{ stop: "lost", message: "The session is not there." }];
