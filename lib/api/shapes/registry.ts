import * as z from "zod";

/** The named schemas of the document. */
export const shapes = z.registry<{ id: string }>();

/** Gives a shape its name in the document. */
export function named<S extends z.ZodType>(id: string, shape: S): S {
  shapes.add(shape, { id });
  return shape;
}
