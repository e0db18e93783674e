import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod/mini";
import { HANDLERS } from "../../lib/engine/engine.ts";
import type { Fact } from "../../lib/kernel/fact.ts";
import { startedFact } from "../../lib/ports/fact-schema.ts";
import { KINDS, type Message } from "../../lib/ports/message.ts";
import { kindOf, type MessageOfKind } from "../../lib/ports/message-kind.ts";
import { aboutMessage, checkMessage, isWork, labelOf } from "../../lib/ports/message-kinds.ts";
import { count, maybe, schemaOf, text } from "../../lib/ports/schema.ts";
import { everyMessage } from "../support/every-message.ts";

describe("a kind of message", () => {
  test.each(everyMessage)("is validated, logged and named by its entry: $kind", (message) => {
    expect(checkMessage(message)).toEqual({ message });
    expect(aboutMessage(message)).toMatchObject({ kind: message.kind, tenant: message.tenant });
    expect(labelOf(message)).toMatch(/\w+ /);
  });

  test("logs nothing that a user has written", () => {
    const logged = everyMessage.map((message) => JSON.stringify(aboutMessage(message))).join("");

    expect(logged).not.toMatch(/"(variables|payload)":/);
  });

  test("has an entry and a handler, and the compiler requires both", () => {
    expectTypeOf<(typeof KINDS)[number]["kind"]>().toEqualTypeOf<Message["kind"]>();
    expectTypeOf<keyof typeof HANDLERS>().toEqualTypeOf<Message["kind"]>();

    expect(Object.keys(HANDLERS).sort()).toEqual(KINDS.map(({ kind }) => kind).sort());
  });

  test("is part of the message union as soon as its entry is in the list", () => {
    type Alarm = Readonly<{ kind: "alarm"; tenant: string; loud?: number }>;
    const ALARM = kindOf<Alarm>()("alarm", {
      shape: { tenant: text, loud: maybe(count) },
      logged: ["tenant"],
      label: ({ tenant }) => `alarm of ${tenant}`,
    });
    const kinds = [...KINDS, ALARM] as const;

    expectTypeOf<MessageOfKind<(typeof kinds)[number]>>().toEqualTypeOf<Message | Alarm>();
    expect(ALARM.schema.safeParse({ kind: "alarm", tenant: "default" }).success).toBe(true);
  });

  test("cannot have a schema that differs from its type", () => {
    type Sized = Readonly<{ size: number; name?: string; in?: Readonly<{ unit?: "m" | "ft" }> }>;
    const metres = maybe(z.literal("m"));
    const unit = maybe(z.literal(["m", "ft"]));
    const whole = { size: count, name: maybe(text), in: maybe(z.strictObject({ unit })) };
    const { name: _, ...lessAName } = whole;

    schemaOf<Sized>()(z.strictObject(whole));
    // @ts-expect-error: it lacks an optional property.
    schemaOf<Sized>()(z.strictObject(lessAName));
    // @ts-expect-error: it lacks one further inside.
    schemaOf<Sized>()(z.strictObject({ ...whole, in: maybe(z.strictObject({})) }));
    // @ts-expect-error: it allows one that the type does not have.
    schemaOf<Sized>()(z.strictObject({ ...whole, colour: maybe(text) }));
    // @ts-expect-error: a property has another type.
    schemaOf<Sized>()(z.strictObject({ ...whole, size: text }));
    // @ts-expect-error: a property is required that may be absent.
    schemaOf<Sized>()(z.strictObject({ ...whole, name: text }));
    // @ts-expect-error: a property may be absent that is required.
    schemaOf<Sized>()(z.strictObject({ ...whole, size: maybe(count) }));
    // @ts-expect-error: a value is missing.
    schemaOf<Sized>()(z.strictObject({ ...whole, in: maybe(z.strictObject({ unit: metres })) }));
    // @ts-expect-error: the entry of a kind is checked in the same way.
    kindOf<Sized & { kind: "sized" }>()("sized", { shape: lessAName, logged: [], label: String });
    // @ts-expect-error: a fact is missing.
    schemaOf<Fact>()(startedFact);
  });

  test.each([
    [{ loud: true }, "it has unknown loud"],
    [{ ticket: 7 }, "ticket is wrong (no string)"],
    [{ ticket: undefined }, "ticket is wrong (no string)"],
    [{ notBefore: 0.5 }, "notBefore is wrong (no instant)"],
    [{ start: [] }, "start is wrong (no object)"],
  ])("is refused with what is wrong: %j", (wrong, problem) => {
    const task = everyMessage.find(({ kind }) => kind === "task");

    expect(checkMessage({ ...task, ...wrong })).toEqual({ problems: [problem] });
  });

  test.each([
    [{ kind: "task-lost" }, "fact.kind is wrong (of no kind)"],
    [{ kind: "task-completed", ticket: "k", variables: [] }, "fact.variables is wrong (no object)"],
    [{ kind: "event-received", ticket: "k", eventId: "e" }, "fact.payload is wrong (absent)"],
    [
      { kind: "child-ended", ticket: "k", childId: "c", status: "lost", terminationKind: "cancel" },
      "fact.status is wrong (not succeeded or failed or cancelled)",
    ],
  ])("is refused with what is wrong in its fact: %j", (fact, problem) => {
    const parked = everyMessage.find(({ kind }) => kind === "parked");

    expect(checkMessage({ ...parked, fact })).toEqual({ problems: [problem] });
  });

  test("is identified by its list", () => {
    const parts = everyMessage.filter(isWork);

    expect(parts.map(({ kind }) => kind)).toContain("cancel-members");
    expect(parts.map(({ kind }) => kind)).not.toContain("task");
  });

  test("is named in adapters and functions only if it is handled separately", () => {
    const kinds = /"(cancel-members|members|missed|poke|offer|shard)"/;
    const naming = ["lib/adapters", "functions"].flatMap((folder) =>
      readdirSync(join(house, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .filter((name) => kinds.test(readFileSync(join(house, folder, name), "utf8"))),
    );

    expect(naming).toEqual([]);
  });
});

const house = resolve(import.meta.dirname, "../..");
