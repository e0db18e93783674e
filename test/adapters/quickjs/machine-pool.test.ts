import { describe, expect, test } from "vitest";
import { Machine } from "../../../lib/adapters/quickjs/machine.ts";
import { MachinePool } from "../../../lib/adapters/quickjs/machine-pool.ts";
import { quickjs } from "../../../lib/adapters/quickjs/wasm.ts";

/** The image of a machine in which a script was run; the first item of its list is a function. */
function imageAfter(script: string) {
  const machine = new Machine(quickjs().module);
  machine.initialize();
  machine.refill(0);
  const [read = 0, write = 0] = machine.items(machine.evaluate(script, "test"), 2);
  return { image: machine.image(), read, write };
}

const COUNTS = (from: number) =>
  `let n = ${from}; let s = ""; [() => String(n), (text) => { n++; s = text.repeat(1000); }]`;

describe("machines that are used again", () => {
  test.each([[0], [1], [2]])("are what the image shows, %i of two prepared ahead", (ahead) => {
    const { image, read, write } = imageAfter(COUNTS(5));
    const pool = new MachinePool();
    const first = [pool.take(image), pool.take(image)];
    for (const machine of first) {
      machine.refill(0);
      machine.run(write, "x");
    }
    const left = first.map((machine) => machine.read(read));
    for (const machine of first) pool.giveBack(machine, image);

    for (let n = 0; n < ahead; n++) expect(pool.prepareOne()).toBe(true);
    const second = [pool.take(image), pool.take(image)];
    const found = second.map((machine) => {
      machine.refill(0);
      return machine.read(read);
    });

    expect([left, found]).toEqual([
      ["6", "6"],
      ["5", "5"],
    ]);
    expect(new Set([...first, ...second]).size).toBe(2);
  });

  test("serve another program, also when they were prepared for theirs", () => {
    const one = imageAfter(COUNTS(5));
    const other = imageAfter(COUNTS(7));
    const pool = new MachinePool();
    const machine = pool.take(one.image);
    pool.giveBack(machine, one.image);
    pool.prepareOne();

    const taken = pool.take(other.image);
    taken.refill(0);

    expect(taken).toBe(machine);
    expect(taken.read(other.read)).toBe("7");
  });

  test("are prepared once, and nothing is left to do then", () => {
    const { image } = imageAfter(COUNTS(5));
    const pool = new MachinePool();
    pool.giveBack(pool.take(image), image);

    expect([pool.prepareOne(), pool.prepareOne()]).toEqual([true, false]);
  });

  test("make room for those that came back later", () => {
    const { image } = imageAfter(COUNTS(5));
    const pool = new MachinePool();
    const all = Array.from({ length: 66 }, () => pool.take(image));
    for (const machine of all) pool.giveBack(machine, image);

    const again = Array.from({ length: 66 }, () => pool.take(image));

    expect(again.filter((machine) => all.includes(machine))).toHaveLength(64);
    expect(again).toContain(all.at(-1));
    expect(again).not.toContain(all.at(0));
  });
});
