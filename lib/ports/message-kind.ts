import { type Rule, record, type Shape, text } from "./shape.ts";

type OfKind = Readonly<{ kind: string }>;

type About<M extends OfKind> = Readonly<{
  /** Properties that are not known here are dropped, not refused. */
  isOpen?: true;
  /** What a log may say of it: whom it is for and what it is called, never what it says. */
  logged: readonly (keyof M)[];
  /** What a report calls it. */
  label: (message: M) => string;
}>;

/** Everything about a kind of message but what it does. */
export type Kind<M extends OfKind> = About<M> &
  Readonly<{ kind: M["kind"]; properties: readonly string[]; problems: Rule<M>["problems"] }>;

export const kindOf = <M extends OfKind>(
  kind: M["kind"],
  { shape, ...about }: About<M> & Readonly<{ shape: Shape<Omit<M, "kind">> }>,
): Kind<M> => ({
  ...about,
  kind,
  properties: Object.keys(shape),
  problems: record(shape).problems,
});

export type MessageOfKind<K> = K extends Kind<infer M> ? M : never;

/** Of a message for an instance. */
export type Addressed = Readonly<{ tenant: string; instanceId: string }>;
export const ADDRESSED = { tenant: text, instanceId: text } as const;
