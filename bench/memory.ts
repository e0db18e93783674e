// The memory of the process. The heap is measured after a garbage collection, where one can be
// forced.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export type Memory = Readonly<{ rss: number; heap: number }>;

/** The heap that is in use, without garbage. */
export function heldMemory(): Memory {
  collect();
  return memory();
}

/** Keeps the maximum; to be called often. */
export class Peak {
  rss = 0;
  heap = 0;

  look(): void {
    const { rss, heap } = memory();
    this.rss = Math.max(this.rss, rss);
    this.heap = Math.max(this.heap, heap);
  }
}

const MIB = 1024 * 1024;

function memory(): Memory {
  const { rss, heapUsed } = process.memoryUsage();
  return { rss: rss / MIB, heap: heapUsed / MIB };
}

setFlagsFromString("--expose-gc");
const gc: unknown = runInNewContext("gc");

function collect(): void {
  if (typeof gc === "function") gc();
}
