/** Orders one thing; each entry of the list is a separate task. */
export default async ({ thing }: { thing: string }) => {
  if (thing === "unicorn") throw new SoldOut(thing);
  return { parcel: `a ${thing} in a box` };
};

/** The called process does not catch this error, so it ends, and the call activity throws it. */
class SoldOut extends Error {
  override readonly name = "BusinessError";
  readonly code = "SOLD_OUT";
  readonly variables: { thing: string };
  constructor(thing: string) {
    super(`The shop has no ${thing}.`);
    this.variables = { thing };
  }
}
