import type { Queues } from "../adapters/local/queues.ts";
import type { StepJournal } from "../adapters/local/step-journal.ts";
import { PAUSE_BEFORE_ALONE_MS } from "../definition/limits.ts";
import type { Engine } from "../engine/engine.ts";
import { quietAlarm } from "../ports/alarm.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { RecoveryReport } from "../shapes/reports.ts";

/** The background work of an engine, from its opening to its end. */
export type Work = Readonly<{
  recovered: Promise<RecoveryReport>;
  /** Settled when the queues deliver; never rejected. */
  begun: Promise<unknown>;
  beginAfter(ready: Promise<unknown>): void;
  /** Starts nothing more; settled when the recovery has stopped. */
  stop(): Promise<unknown>;
  /** Everything that was running has ended. */
  end(): void;
}>;

/**
 * Recovers unsent work and starts to deliver, in a later turn of the event loop: a server that is
 * opened in this one listens before that.
 */
export function beginWork({
  engine,
  queues,
  journal,
  onTrouble,
}: Readonly<{
  engine: Engine;
  queues: Queues;
  journal: StepJournal;
  onTrouble: (message: string) => void;
}>): Work {
  const first: Promise<unknown>[] = [];
  let isStopped = false;
  let callOff = () => {};

  const recover = async (): Promise<RecoveryReport> => {
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.allSettled(first);
    if (isStopped) throw closed();
    return engine.recover();
  };
  const deliver = (): void => {
    if (isStopped) return;
    queues.consume({ handle: engine.handle, advance: engine.advance, onDue: engine.wake });
    void queues.idle().then(() => {
      if (!isStopped) journal.relax();
    });
  };
  tellSuspects(journal, onTrouble);
  const mustLookAgain = journal.suspects.length > 0;
  const recovered = recover();
  const begun = recovered
    .catch((cause: unknown) => {
      if (!isStopped) onTrouble(`What is owed could not all be found: ${String(cause)}`);
    })
    .then(deliver)
    .then(() => {
      if (!mustLookAgain || isStopped) return;
      // An instance that was contended during the recovery may be in no queue.
      callOff = quietAlarm(LOOK_AGAIN_MS, () => void engine.recover().catch(() => {}));
    });
  return {
    recovered,
    begun,
    beginAfter: (ready) => void first.push(ready),
    stop: () => {
      isStopped = true;
      callOff();
      return begun;
    },
    end: () => journal.close(),
  };
}

const LOOK_AGAIN_MS = PAUSE_BEFORE_ALONE_MS + 1_000;

function tellSuspects({ suspects }: StepJournal, onTrouble: (message: string) => void): void {
  for (const { instanceId, name, deaths } of suspects.filter((it) => it.deaths > 1)) {
    onTrouble(
      `The engine has died ${deaths} times in a row while the step ${name} of instance ${instanceId} was under way. It is tried again alone, after ${PAUSE_BEFORE_ALONE_MS / 1_000} s, or set aside as an incident; \`fermata cancel ${instanceId}\` ends the instance.`,
    );
  }
}

const closed = (): EngineError =>
  new EngineError("engine/busy", {
    happened: "The engine was closed before it had looked for what is owed",
    where: "recovered",
    fix: "Open it again: nothing is lost.",
  });
