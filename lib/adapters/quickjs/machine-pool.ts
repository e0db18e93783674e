import { type Image, Machine } from "./machine.ts";
import { quickjs } from "./wasm.ts";

/**
 * Machines that wait for their next session, of whatever program: making one takes several times as
 * long as copying an image into it.
 */
export class MachinePool {
  readonly #idle: Machine[] = [];

  /** A machine that is what the image shows. */
  take(image: Image): Machine {
    const machine = this.#fitting(image) ?? new Machine(quickjs().module);
    machine.restore(image);
    return machine;
  }

  /** Memory never shrinks: a machine that has grown beyond its image is not worth keeping. */
  giveBack(machine: Machine, image: Image): void {
    if (machine.bytes > image.memory.byteLength || this.#idle.length >= MAX_IDLE) return;
    this.#idle.push(machine);
  }

  #fitting({ memory }: Image): Machine | undefined {
    const at = this.#idle.findLastIndex(({ bytes }) => bytes <= memory.byteLength);
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0];
  }
}

/** Each holds less than a megabyte. */
const MAX_IDLE = 64;
