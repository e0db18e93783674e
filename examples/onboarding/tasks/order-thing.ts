/** Orders one thing; of several things each is a task of its own. */
export default async ({ thing }: { thing: string }) => {
  if (thing === "unicorn") throw new SoldOut(thing);
  return { parcel: `a ${thing} in a box` };
};

/** The called process does not catch it, so it ends, and the call in the calling process throws it. */
class SoldOut extends Error {
  override readonly name = "BusinessError";
  readonly code = "SOLD_OUT";
  readonly variables: { thing: string };
  constructor(thing: string) {
    super(`The shop has no ${thing}.`);
    this.variables = { thing };
  }
}
