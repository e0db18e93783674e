import { describe, expect, test } from "vitest";
import {
  aBoundaryError,
  aBoundaryTimer,
  anErrorEnd,
  aProcess,
  aScope,
  aStart,
  aTask,
  type Piece,
} from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";

/** `work` inside `sub`, both with the given catchers; each leads to a task of its name. */
const catching = (catchers: readonly Piece[], work: Piece = aTask("work")) => {
  const ids = catchers.flatMap(({ nodes }) => nodes.map(({ id }) => id));
  const on = (host: string) =>
    catchers.filter(({ nodes }) =>
      nodes.some((node) => node.kind === "boundary" && node.on === host),
    );
  const inner = on("work").flatMap(({ nodes }) => nodes.map(({ id }) => id));
  const outer = ids.filter((id) => !inner.includes(id));
  return aProcess(
    [
      aStart(),
      aScope(
        "sub",
        [aStart("in"), aTask("beside"), work, ...on("work"), ...inner.map((id) => aTask(`${id}!`))],
        ["in -> beside", "in -> work", ...inner.map((id) => `${id} -> ${id}!`)],
      ),
      ...on("sub"),
      ...outer.map((id) => aTask(`${id}!`)),
      aTask("after"),
    ],
    ["start -> sub -> after", ...outer.map((id) => `${id} -> ${id}!`)],
  );
};

describe("an error that a task throws", () => {
  test("F62: is caught on the task by its code, before a catch-all", async () => {
    const definition = catching([
      aBoundaryError("all", { on: "work" }),
      aBoundaryError("other", { on: "work", code: "OTHER" }),
      aBoundaryError("exact", { on: "work", code: "NO_STOCK" }),
    ]);
    const order = await play(definition);

    await order.fail("work", { code: "NO_STOCK", message: "none left" });

    expect(order.open).toEqual(["task beside", "task exact!"]);
    expect(order.trail).toContain("element-terminated work");
  });

  test("F62: is caught by a catch-all when no code fits", async () => {
    const definition = catching([
      aBoundaryError("other", { on: "work", code: "OTHER" }),
      aBoundaryError("all", { on: "work" }),
    ]);
    const order = await play(definition);

    await order.fail("work", { code: "NO_STOCK" });

    expect(order.open).toEqual(["task beside", "task all!"]);
  });

  test("F62: bubbles up to the scope around, and ends everything inside it", async () => {
    const definition = catching([
      aBoundaryError("near", { on: "work", code: "OTHER" }),
      aBoundaryError("far", { on: "sub", code: "NO_STOCK" }),
    ]);
    const order = await play(definition);

    await order.fail("work", { code: "NO_STOCK" });

    expect(order.open).toEqual(["task far!"]);
    expect(order.trail.filter((line) => line.startsWith("element-terminated"))).toEqual([
      "element-terminated work",
      "element-terminated beside",
      "element-terminated sub",
    ]);
  });

  test("F62: reaches a nearer catch-all before the exact code further out", async () => {
    const definition = catching([
      aBoundaryError("near", { on: "work" }),
      aBoundaryError("far", { on: "sub", code: "NO_STOCK" }),
    ]);
    const order = await play(definition);

    await order.fail("work", { code: "NO_STOCK" });

    expect(order.open).toEqual(["task beside", "task near!"]);
  });

  test("F62: leaves code and message in history, and as variables that can be mapped", async () => {
    const definition = catching([
      aBoundaryError("exact", {
        on: "work",
        code: "NO_STOCK",
        outputs: { why: "=errorCode", said: "=errorMessage", item: "=missing" },
      }),
    ]);
    const order = await play(definition);

    await order.fail("work", {
      code: "NO_STOCK",
      message: "none left",
      variables: { missing: "a-1" },
    });

    expect(order.variables).toEqual({ why: "NO_STOCK", said: "none left", item: "a-1" });
    const { entries } = order.instance.trail;
    expect(entries.find(({ type }) => type === "task-failed")).toMatchObject({
      data: { code: "NO_STOCK", message: "none left", attempt: 1 },
    });
    expect(entries.find(({ type }) => type === "error-caught")).toMatchObject({
      element: "exact",
      data: { code: "NO_STOCK", message: "none left" },
    });
  });

  test("F62: drops its variables unless an output mapping takes them", async () => {
    const definition = catching([aBoundaryError("exact", { on: "work", code: "NO_STOCK" })]);
    const order = await play(definition);

    await order.fail("work", { code: "NO_STOCK", variables: { missing: "a-1" } });

    expect(order.variables).toEqual({});
    expect(order.input("exact!")).toEqual({});
  });

  test("uses up no retry, and closes the task's boundary timers", async () => {
    const definition = aProcess(
      [
        aStart(),
        aTask("work"),
        aBoundaryTimer("late", { on: "work", duration: "PT1H" }),
        aBoundaryError("caught", { on: "work" }),
        aTask("mend"),
      ],
      ["start -> work", "caught -> mend"],
    );
    const order = await play(definition);

    await order.fail("work", { code: "ANY" });

    expect(order.open).toEqual(["task mend"]);
  });

  test("F68: that is not caught is an incident which names it; resolving runs the task again", async () => {
    const definition = catching([
      aBoundaryError("near", { on: "work", code: "OTHER" }),
      aBoundaryTimer("late", { on: "sub", duration: "PT1H" }),
    ]);
    const order = await play(definition);
    const { id } = order.task("work");
    await order.fail("work", { code: "NO_STOCK", message: "none left" });

    const incident = order.incident("work");
    const { open, status } = order;
    await order.resolve("work");

    expect(status).toBe("live");
    expect(incident.type).toBe("UNHANDLED_ERROR_EVENT");
    expect(incident.message).toContain('"NO_STOCK": none left');
    expect(open).toEqual(["timer late", "task beside", "incident work"]);
    expect(order.task("work").attempt).toBe(1);
    expect(order.task("work").id).not.toBe(id);
  });
});

describe("an error end event", () => {
  test("F64: reaches the boundary of the scope around it", async () => {
    const definition = catching(
      [aBoundaryError("far", { on: "sub", code: "NO_STOCK", outputs: { why: "=errorCode" } })],
      anErrorEnd("work", "NO_STOCK"),
    );

    const order = await play(definition);

    expect(order.open).toEqual(["task far!"]);
    expect(order.variables).toEqual({ why: "NO_STOCK" });
  });

  test("may compute its code", async () => {
    const definition = catching(
      [aBoundaryError("far", { on: "sub", code: "E7" })],
      anErrorEnd("work", '="E" + string(number)'),
    );

    const order = await play(definition, { variables: { number: 7 } });

    expect(order.open).toEqual(["task far!"]);
  });

  test("F68: that is not caught is an incident there; resolving throws it again", async () => {
    const definition = catching(
      [aBoundaryError("far", { on: "sub", code: "E7" })],
      anErrorEnd("work", "=code"),
    );
    const order = await play(definition, { variables: { code: "E1" } });
    const { type } = order.incident("work");

    await order.resolve("work");
    const again = order.incident("work");
    await order.resolve("work", { variables: { code: "E7" } });

    expect(type).toBe("UNHANDLED_ERROR_EVENT");
    expect(again).toMatchObject({ type: "UNHANDLED_ERROR_EVENT" });
    expect(again.message).toContain('catches the error "E1"');
    expect(order.open).toEqual(["task far!"]);
  });
});
