import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, expectTypeOf, test } from "vitest";
import { HANDLERS } from "../../lib/engine/handlers.ts";
import { KINDS, type Message } from "../../lib/ports/message.ts";
import { kindOf, type MessageOfKind } from "../../lib/ports/message-kind.ts";
import { aboutMessage, checkMessage, isWork, labelOf } from "../../lib/ports/message-kinds.ts";
import { count, maybe, type Shape, text } from "../../lib/ports/shape.ts";
import { everyMessage } from "../support/every-message.ts";

describe("a kind of message", () => {
  test.each(everyMessage)("is checked, logged and called by its entry: $kind", (message) => {
    expect(checkMessage(message)).toEqual({ message });
    expect(aboutMessage(message)).toMatchObject({ kind: message.kind, tenant: message.tenant });
    expect(labelOf(message)).toMatch(/\w+ /);
  });

  test("logs nothing that a user has written", () => {
    const logged = everyMessage.map((message) => JSON.stringify(aboutMessage(message))).join("");

    expect(logged).not.toMatch(/"(variables|payload)":/);
  });

  test("has its entry and its handler, and the compiler asks for both", () => {
    expectTypeOf<(typeof KINDS)[number]["kind"]>().toEqualTypeOf<Message["kind"]>();
    expectTypeOf<keyof typeof HANDLERS>().toEqualTypeOf<Message["kind"]>();

    expect(Object.keys(HANDLERS).sort()).toEqual(KINDS.map(({ kind }) => kind).sort());
  });

  test("is a message of its union as soon as its entry stands in the list", () => {
    type Alarm = Readonly<{ kind: "alarm"; tenant: string; loud?: number }>;
    const ALARM = kindOf<Alarm>("alarm", {
      shape: { tenant: text, loud: maybe(count) },
      logged: ["tenant"],
      label: ({ tenant }) => `alarm of ${tenant}`,
    });
    const kinds = [...KINDS, ALARM] as const;

    expectTypeOf<MessageOfKind<(typeof kinds)[number]>>().toEqualTypeOf<Message | Alarm>();
    expect(ALARM.problems({ tenant: "default", loud: "very" }, "it")).toEqual([
      "loud is wrong (no number)",
    ]);
  });

  test("cannot have a shape that differs from its type", () => {
    type Sized = Readonly<{ size: number; name?: string }>;

    expectTypeOf({ size: count, name: maybe(text) }).toExtend<Shape<Sized>>();
    expectTypeOf({ size: count }).not.toExtend<Shape<Sized>>();
    expectTypeOf({ size: text, name: maybe(text) }).not.toExtend<Shape<Sized>>();
    expectTypeOf({ size: count, name: text }).not.toExtend<Shape<Sized>>();
  });

  test("is told from the others by its list", () => {
    const parts = everyMessage.filter(isWork);

    expect(parts.map(({ kind }) => kind)).toContain("cancel-members");
    expect(parts.map(({ kind }) => kind)).not.toContain("task");
  });

  test("is named nowhere in adapters and functions but where it is handled alone", () => {
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
