import { describe, expect, test } from "vitest";
import type { Definition } from "../../lib/definition/definition.ts";
import { MAX_ERROR_NAME_LENGTH, MAX_STACK_LENGTH } from "../../lib/definition/limits.ts";
import { decideIncident } from "../../lib/kernel/decide.ts";
import {
  aBoundaryError,
  aChoice,
  aFork,
  aLoop,
  anEnd,
  anErrorEnd,
  aProcess,
  aStart,
  aTask,
} from "../support/graph-builder.ts";
import { BEGIN, givenAt, play } from "../support/play.ts";

/** The same definition, which ends at an uncaught error. */
const failing = (definition: Definition): Definition => ({ ...definition, onUncaught: "fail" });

const forked = aProcess(
  [aStart(), aFork("fork"), aTask("a", { retries: "1" }), aTask("b")],
  ["start -> fork -> a", "fork -> b"],
);

describe("a definition whose uncaught errors end the instance", () => {
  test("fails with the error that a task reports, and leaves nothing open", async () => {
    const order = await play(failing(forked));

    await order.fail("a", { code: "NO_STOCK", message: "none left" });

    expect(order.status).toBe("failed failure");
    expect(order.open).toEqual([]);
    expect(order.instance.error).toEqual({ code: "NO_STOCK", message: "none left", element: "a" });
    expect(order.trail).toContain("element-terminated b");
    expect(order.trail).not.toContain("incident-raised a");
  });

  test("fails when a task has no attempt left, with that error", async () => {
    const order = await play(failing(forked));

    await order.fail("a", { message: "it broke", name: "TypeError", stack: "at a.ts:1" });

    expect(order.status).toBe("failed failure");
    const error = { code: "JOB_NO_RETRIES", message: "it broke", element: "a" };
    expect(order.instance.error).toEqual({ ...error, name: "TypeError", stack: "at a.ts:1" });
  });

  test("fails if an item of a loop fails, however many there are", async () => {
    const loop = aLoop();
    const many = aProcess([aStart(), aTask("a", { loop })], ["start -> a"]);
    const items = Array.from({ length: 20 }, (_, n) => n);
    const order = await play(failing(many), { variables: { items } });

    await order.failMember("a", 3, { message: "it broke" });

    expect(order.status).toBe("failed failure");
    expect(order.instance.error).toMatchObject({ code: "JOB_NO_RETRIES", element: "a" });
  });

  test("fails at an expression that cannot be computed", async () => {
    const gateway = aProcess(
      [aStart(), aChoice("which"), anEnd()],
      ["start -> which", "which -> end if n > 1"],
    );
    const order = await play(failing(gateway), { variables: { n: "text" } });

    expect(order.status).toBe("failed failure");
    expect(order.instance.error).toMatchObject({ code: "EXTRACT_VALUE_ERROR", element: "which" });
  });

  test("continues if an error is caught", async () => {
    const caught = aProcess(
      [aStart(), aTask("a"), aBoundaryError("oops", { on: "a", code: "E" }), aTask("mended")],
      ["start -> a", "oops -> mended"],
    );
    const order = await play(failing(caught));

    await order.fail("a", { code: "E" });

    expect(order.open).toEqual(["task mended"]);
  });

  test("fails at an error end event", async () => {
    const thrown = aProcess([aStart(), anErrorEnd("stop", "E")], ["start -> stop"]);
    const order = await play(failing(thrown));

    expect(order.instance.error).toMatchObject({ code: "E", element: "stop" });
  });

  test("still raises an incident for an unexpected error", async () => {
    const order = await play(failing(forked));
    const fact = { kind: "task-completed", ticket: order.task("a").id, variables: {} } as const;

    for (const type of ["UNKNOWN", "STATE_TOO_LARGE"] as const) {
      const why = { type, message: "too much" };
      const { instance } = decideIncident(
        order.program,
        order.instance,
        { fact, why },
        givenAt(BEGIN),
      );
      expect(instance.status).toBe("live");
    }
  });
});

describe("a definition without that policy", () => {
  test("raises an incident, with name and stack if they are given", async () => {
    const order = await play(forked);

    await order.fail("a", { message: "it broke", name: "TypeError", stack: "at a.ts:1" });

    expect(order.incident("a")).toMatchObject({ name: "TypeError", stack: "at a.ts:1" });
    expect(order.open).toContain("task b");
  });

  test.each([
    ["name", MAX_ERROR_NAME_LENGTH],
    ["stack", MAX_STACK_LENGTH],
  ])("truncates the %s at the limit", async (field, most) => {
    for (const length of [most, most + 1]) {
      const order = await play(forked);
      await order.fail("a", { [field]: "x".repeat(length) });

      expect(order.incident("a")).toMatchObject({ [field]: "x".repeat(most) });
    }
  });
});

describe("a definition with a deadline", () => {
  const timed: Definition = {
    ...forked,
    deadline: { after: "PT1H", code: "TOO_LATE", reason: "It took more than an hour." },
  };
  const HOUR = 3_600_000;

  test("ends its instances at the deadline, with its code and reason", async () => {
    const order = await play(timed);

    await order.fire(timed.id);

    expect(order.now).toBe(BEGIN + HOUR);
    expect(order.status).toBe("failed timeout");
    expect(order.instance.error).toEqual({
      code: "TOO_LATE",
      message: "It took more than an hour.",
    });
  });

  test("keeps an earlier deadline of the start, and replaces a later one", async () => {
    const earlier = await play(timed, { deadline: BEGIN + HOUR / 2 });
    const later = await play(timed, { deadline: BEGIN + HOUR * 2 });

    expect(earlier.timer(timed.id).dueAt).toBe(BEGIN + HOUR / 2);
    expect(later.timer(timed.id).dueAt).toBe(BEGIN + HOUR);
  });

  test("that is invalid is an incident, and says so", async () => {
    const order = await play({ ...forked, deadline: { after: "soon" } });

    expect(order.incident(forked.id)).toMatchObject({ type: "UNKNOWN" });
    expect(order.incident(forked.id).message).toContain("The deadline of the definition");
  });
});
