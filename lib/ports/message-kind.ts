import * as z from "zod/mini";
import { type IfSame, text } from "./schema.ts";

type OfKind = Readonly<{ kind: string }>;

type About<M extends OfKind> = Readonly<{
  /** What a log may say of it: whom it is for and what it is called, never what it says. */
  logged: readonly (keyof M)[];
  /** What a report calls it. */
  label: (message: M) => string;
}>;

/** Everything about a kind of message but what it does. */
export type Kind<M extends OfKind> = About<M> &
  Readonly<{ kind: M["kind"]; schema: z.ZodMiniType<M> }>;

type Entry<M extends OfKind, Shape extends z.core.$ZodShape> = About<M> &
  Readonly<{
    /** A schema for each property but `kind`. */
    shape: Shape & IfSame<z.output<z.ZodMiniObject<Shape, z.core.$strict>>, Omit<M, "kind">>;
    /** Properties that are not known here are dropped, not refused. */
    isOpen?: true;
  }>;

/** The entry of the kind `M`; the compiler checks its shape against the type. */
export const kindOf =
  <M extends OfKind>() =>
  <Shape extends z.core.$ZodShape>(
    kind: M["kind"],
    { shape, isOpen, ...about }: Entry<M, Shape>,
  ): Kind<M> => {
    const properties: z.core.$ZodShape = { kind: z.literal(kind), ...shape };
    const schema: z.ZodMiniType = isOpen ? z.object(properties) : z.strictObject(properties);
    return { ...about, kind, schema: schema as z.ZodMiniType<M> };
  };

export type MessageOfKind<K> = K extends Kind<infer M> ? M : never;

/** Of a message for an instance. */
export type Addressed = Readonly<{ tenant: string; instanceId: string }>;
export const ADDRESSED = { tenant: text, instanceId: text } as const;
