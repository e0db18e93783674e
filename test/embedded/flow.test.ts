import { describe, expect, test } from "vitest";
import {
  boundary,
  end,
  extensions,
  file,
  flow,
  ioMapping,
  job,
  process,
  sequence,
  start,
  xml,
} from "../support/bpmn-xml.ts";
import { anEngine, trailOf } from "../support/embedded.ts";

const task = (id: string, ...more: readonly string[]) =>
  xml("serviceTask", { id }, extensions(job(id), ...more));

const choice = file(
  process(
    start(),
    xml("exclusiveGateway", { id: "which", default: "otherwise" }),
    xml("exclusiveGateway", { id: "strict" }),
    end("big"),
    end("odd"),
    end("rest"),
    flow("f1", "start", "which"),
    flow("isBig", "which", "big", "=total > 100"),
    flow("isOdd", "which", "strict", "=modulo(total, 2) = 1"),
    flow("otherwise", "which", "rest"),
    flow("yes", "strict", "odd", "=sure"),
    flow("no", "strict", "rest", "=not(sure)"),
  ),
);

describe("an exclusive gateway", () => {
  test.each([
    [{ total: 500 }, "big"],
    [{ total: 101 }, "big"],
    [{ total: 7, sure: true }, "odd"],
    [{ total: 8 }, "rest"],
  ])("F50 takes the first flow that is true, else the default: %o to %s", async (variables, to) => {
    const engine = await anEngine({ source: choice });

    const { instanceId } = await engine.start("p", { variables });

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded" });
    expect(await trailOf(engine, instanceId)).toContain(`element-completed ${to}`);
  });

  test("F50 without a matching flow raises an incident that can be resolved", async () => {
    const engine = await anEngine({ source: choice });
    const { instanceId } = await engine.start("p", { variables: { total: 7 } });
    const { incidents, status } = await engine.get(instanceId);

    await engine.resolveIncident(instanceId, incidents[0]?.incidentId ?? "", {
      variables: { sure: true },
    });

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([
      { element: "strict", message: expect.stringMatching(/sure/) },
    ]);
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });
});

describe("a parallel gateway", () => {
  const source = file(
    process(
      start(),
      xml("parallelGateway", { id: "fork" }),
      task("a"),
      task("b"),
      task("c"),
      xml("parallelGateway", { id: "join" }),
      task("after"),
      end(),
      flow("f1", "start", "fork"),
      flow("fa", "fork", "a"),
      flow("fb", "fork", "b"),
      flow("fc", "fork", "c"),
      flow("ja", "a", "join"),
      flow("jb", "b", "join"),
      flow("jc", "c", "join"),
      flow("f2", "join", "after"),
      flow("f3", "after", "end"),
    ),
  );

  test("F51 continues when every branch has arrived, and the later result wins", async () => {
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");
    const open = async () => (await engine.tasks({ instanceId })).items;
    const complete = async (type: string) => {
      const found = (await open()).find((it) => it.type === type);
      await engine.complete(found?.taskId ?? "", { variables: { last: type, [type]: 1 } });
    };

    expect((await open()).map(({ type }) => type).sort()).toEqual(["a", "b", "c"]);
    await complete("b");
    await complete("c");
    expect((await engine.get(instanceId)).activeElements).not.toContain("after");
    await complete("a");
    expect((await open()).map(({ type }) => type)).toEqual(["after"]);
    await complete("after");

    expect(await engine.result(instanceId)).toMatchObject({
      variables: { a: 1, b: 1, c: 1, after: 1, last: "after" },
    });
  });

  test("F51 runs the handlers of its branches concurrently and joins once", async () => {
    const running = new Set<string>();
    const { promise: together, resolve } = Promise.withResolvers<void>();
    const meet = (name: string) => async () => {
      running.add(name);
      if (running.size === 3) resolve();
      await together;
      return { [name]: true };
    };
    let after = 0;
    const engine = await anEngine({
      source,
      tasks: { a: meet("a"), b: meet("b"), c: meet("c"), after: () => ({ after: ++after }) },
    });

    const { instanceId } = await engine.start("p");

    expect(await engine.result(instanceId)).toMatchObject({
      variables: { a: true, b: true, c: true, after: 1 },
    });
  });
});

describe("a sub-process", () => {
  test("F55 keeps its own variables and merges the results of its tasks", async () => {
    const source = sequence(
      xml(
        "subProcess",
        { id: "part" },
        extensions(
          ioMapping(
            xml("zeebe:input", { source: "=order.total", target: "amount" }),
            xml("zeebe:output", { source: "=amount * 2", target: "doubled" }),
          ),
        ),
        start("inner"),
        task("inside"),
        end("innerEnd"),
        flow("i1", "inner", "inside"),
        flow("i2", "inside", "innerEnd"),
      ),
    );
    const engine = await anEngine({
      source,
      tasks: { inside: ({ amount }) => ({ seen: amount }) },
    });

    const { instanceId } = await engine.start("p", { variables: { order: { total: 21 } } });

    expect((await engine.result(instanceId)).variables).toEqual({
      order: { total: 21 },
      seen: 21,
      doubled: 42,
    });
  });
});

describe("an error", () => {
  const declined = '<error id="declined" name="Declined" errorCode="DECLINED" />';
  const withBoundary = (errorRef: string | undefined) =>
    sequence(
      task("charge"),
      boundary(
        "caught",
        "charge",
        xml("errorEventDefinition", errorRef === undefined ? {} : { errorRef }),
      ).replace(
        "<errorEventDefinition",
        `${extensions(
          ioMapping(
            xml("zeebe:output", { source: "=errorCode", target: "code" }),
            xml("zeebe:output", { source: "=errorMessage", target: "why" }),
          ),
        )}<errorEventDefinition`,
      ),
      end("refused"),
      flow("f9", "caught", "refused"),
    ).replace("</process>", `</process>${declined}`);

  class BusinessError extends Error {
    override name = "BusinessError";
    code: string;
    constructor(code: string, message: string) {
      super(message);
      this.code = code;
    }
  }
  const charge = () => {
    throw new BusinessError("DECLINED", "no money");
  };

  test.each([
    ["its code", "declined"],
    ["no code, which catches all", undefined],
  ])(
    "F62 is caught by a boundary with %s, and code and message can be read",
    async (_, errorRef) => {
      const engine = await anEngine({ source: withBoundary(errorRef), tasks: { charge } });

      const { instanceId } = await engine.start("p");

      expect(await engine.result(instanceId)).toMatchObject({
        status: "succeeded",
        variables: { code: "DECLINED", why: "no money" },
      });
      expect(await trailOf(engine, instanceId)).toContain("element-completed refused");
    },
  );

  test("F62 bubbles from an end event inside to the boundary of the sub-process", async () => {
    const source = sequence(
      xml(
        "subProcess",
        { id: "part" },
        start("inner"),
        task("slow"),
        xml("endEvent", { id: "boom" }, xml("errorEventDefinition", { errorRef: "declined" })),
        flow("i1", "inner", "boom"),
        flow("i2", "inner", "slow"),
      ),
      boundary("caught", "part", xml("errorEventDefinition", { errorRef: "declined" })),
      end("refused"),
      flow("f9", "caught", "refused"),
    ).replace("</process>", `</process>${declined}`);
    const engine = await anEngine({ source });

    const { instanceId } = await engine.start("p");

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", waits: [] });
    expect(await trailOf(engine, instanceId)).toEqual(
      expect.arrayContaining(["element-terminated slow", "element-completed refused"]),
    );
  });

  test("F62 F68 that is not caught is an incident that names it; resolving retries", async () => {
    let isPoor = true;
    const engine = await anEngine({
      source: sequence(task("charge")),
      tasks: { charge: () => (isPoor ? charge() : { paid: true }) },
    });
    const { instanceId } = await engine.start("p");
    await engine.idle();
    const { incidents, status } = await engine.get(instanceId);

    isPoor = false;
    const listed = await engine.list({ incident: true });
    await engine.resolveIncident(instanceId, incidents[0]?.incidentId ?? "");

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([
      {
        type: "UNHANDLED_ERROR_EVENT",
        element: "charge",
        message: expect.stringMatching(/DECLINED/),
      },
    ]);
    expect(listed.items.map((it) => it.instanceId)).toEqual([instanceId]);
    expect(await engine.result(instanceId)).toMatchObject({ variables: { paid: true } });
    expect((await engine.list({ incident: true })).items).toEqual([]);
  });
});

describe("a terminate end event", () => {
  test("ends everything else and lets the instance succeed", async () => {
    const source = file(
      process(
        start(),
        task("slow"),
        xml("endEvent", { id: "stop" }, xml("terminateEventDefinition")),
        flow("f1", "start", "slow"),
        flow("f2", "start", "stop"),
      ),
    );
    const engine = await anEngine({ source });

    const { instanceId } = await engine.start("p");

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", waits: [] });
    expect(await engine.tasks()).toEqual({ items: [] });
  });
});
