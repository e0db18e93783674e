import { type Image, Machine } from "./machine.ts";
import { quickjs } from "./wasm.ts";

/** A machine that waits for its next session, and the image of its last one. */
type Idle = Readonly<{ machine: Machine; image: Image }>;

/**
 * Machines that wait for their next session, of whatever program: making one takes several times as
 * long as copying an image into it. That may be done ahead, while there is nothing else to do.
 */
export class MachinePool {
  /** Machines that are still as their last session left them, the oldest first. */
  readonly #used: Idle[] = [];
  /** Machines that are what their image shows. */
  readonly #prepared: Idle[] = [];

  /** A machine that is what the image shows. */
  take(image: Image): Machine {
    const prepared = takeLast(this.#prepared, (idle) => idle.image === image);
    if (prepared) return prepared.machine;
    const fits = ({ machine }: Idle) => machine.bytes <= image.memory.byteLength;
    const idle = takeLast(this.#used, fits) ?? takeLast(this.#prepared, fits);
    const machine = idle?.machine ?? new Machine(quickjs().module);
    machine.restore(image);
    return machine;
  }

  /** Memory never shrinks: a machine that has grown beyond its image is not worth keeping. */
  giveBack(machine: Machine, image: Image): void {
    if (machine.bytes > image.memory.byteLength) return;
    this.#used.push({ machine, image });
    if (this.#used.length + this.#prepared.length <= MAX_IDLE) return;
    // The oldest goes: those of a program that is not used any more would keep their places for ever.
    (this.#prepared.length > 0 ? this.#prepared : this.#used).shift();
  }

  /** Prepares a machine for another session like its last; false when there is none left. */
  prepareOne(): boolean {
    const idle = this.#used.pop();
    if (idle === undefined) return false;
    idle.machine.restore(idle.image);
    this.#prepared.push(idle);
    return true;
  }
}

/** Takes the last one that is wanted out of the list. */
function takeLast(list: Idle[], isWanted: (idle: Idle) => boolean): Idle | undefined {
  const at = list.findLastIndex(isWanted);
  return at < 0 ? undefined : list.splice(at, 1)[0];
}

/** Each holds less than two megabytes. */
const MAX_IDLE = 64;
