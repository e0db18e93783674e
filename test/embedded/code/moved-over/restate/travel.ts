// Restate, "Sagas" guide: a flight, a car and a hotel, undone in reverse order if one of them is refused.
// Changed: closures of `ctx.run` are steps with an input; a terminal error is an error with a code.
import { BusinessError, step, TaskFailed, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export type Trip = { customer: string; flight: string; car: string; hotel: string };
type Booking = { customer: string; what: string };

export const book = step("travel-book", async ({ customer, what }: Booking, context) => {
  if (what.endsWith("(full)")) throw new BusinessError("SOLD_OUT", `${what} is sold out`);
  if (what.endsWith("(flaky)") && context.attempt === 1) throw new Error("connection reset");
  did(context, `book ${what} for ${customer}`);
});
export const cancel = step("travel-cancel", async ({ customer, what }: Booking, context) =>
  did(context, `cancel ${what} for ${customer}`),
);

export const bookTrip = workflow("book-trip", async ({ customer, flight, car, hotel }: Trip) => {
  const compensations: (() => Promise<unknown>)[] = [];
  try {
    for (const what of [flight, car, hotel]) {
      // Before the booking, as in the guide: a booking that failed may have happened.
      compensations.push(() => cancel({ customer, what }));
      await book({ customer, what });
    }
    return "booked";
  } catch (error) {
    if (!(error instanceof TaskFailed) || error.code === undefined) throw error;
    for (const compensate of compensations.reverse()) await compensate();
    throw error;
  }
});
