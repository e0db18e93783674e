/** The thread that guests run in: takes batches of requests, and answers each batch at once. */
import { parentPort, workerData } from "node:worker_threads";
import type { GuestProgram, GuestSession } from "../../definition/sandbox.ts";
import { quickjsSandbox } from "./sandbox.ts";
import type { Answer, Request } from "./worker-protocol.ts";

const sandbox = quickjsSandbox();
const programs = new Map<number, GuestProgram>();
const sessions = new Map<number, GuestSession>();
/** The number of the request that is being served: the host sees which one does not come back. */
const current = new Int32Array(workerData as SharedArrayBuffer);

async function serve(request: Request): Promise<Answer | undefined> {
  switch (request.kind) {
    case "load": {
      const loaded = await sandbox.load(request.bundle);
      if (!loaded.ok) return { id: request.id, problem: loaded.problem };
      programs.set(request.program, loaded.program);
      return { id: request.id, declared: loaded.program.declared };
    }
    case "run": {
      const { id, session, program, opening, feeds } = request;
      const running = sessions.get(session) ?? (opening && programs.get(program)?.open(opening));
      if (running === undefined) return { id, ran: [LOST] };
      sessions.set(session, running);
      return { id, ran: await running.run(feeds) };
    }
    case "close":
      sessions.get(request.session)?.close();
      sessions.delete(request.session);
      return undefined;
  }
}

const LOST = { kind: "stopped", stop: "lost", message: "The session is not there." } as const;

parentPort?.on("message", (batch: readonly Request[]) => {
  void serveAll(batch).then((answers) => parentPort?.postMessage(answers));
});

async function serveAll(batch: readonly Request[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const request of batch) {
    Atomics.store(current, 0, request.id);
    const answer = await serve(request);
    if (answer) answers.push(answer);
  }
  Atomics.store(current, 0, 0);
  return answers;
}
