import { MAX_OPERATIONS_PER_FEED } from "../../definition/limits.ts";
import type { Operation, Ran } from "../../definition/sandbox.ts";
import { Stopped } from "./machine.ts";
import { misused } from "./parse-ran.ts";

type Returned = Extract<Ran, { kind: "ran" }>;

/** Checks how many operations a session asks for, and how it numbers them. */
export class CheckedNumbers {
  /** The number of the operation that is opened next. */
  #next = 1;

  checked(ran: Returned): Returned {
    if (ran.operations.length > MAX_OPERATIONS_PER_FEED) throw tooMany();
    for (const operation of ran.operations) this.#count(operation);
    return ran;
  }

  /** Operations are numbered without gaps, and only what was opened is closed. */
  #count(operation: Operation): void {
    if (operation.op === "publish") return;
    if (operation.op !== "close") {
      if (operation.n !== this.#next) throw misused("An operation has the wrong number.");
      this.#next += 1;
    } else if (operation.n < 1 || operation.n >= this.#next) {
      throw misused("It closes an operation that was never opened.");
    }
  }
}

const tooMany = (): Stopped =>
  new Stopped("operations", `A step may ask for ${MAX_OPERATIONS_PER_FEED} operations.`);
