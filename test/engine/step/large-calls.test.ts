import { describe, expect, test } from "vitest";
import { extensions, file, loop, xml } from "../../support/bpmn-xml.ts";
import { calling, line, working } from "../../support/call-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const source = file(
  line("parent", [
    working("fill"),
    calling("call", "child", { propagateAllParentVariables: "false" }),
  ]),
  line("child", [working("answer")]),
);

describe("a child whose result is too large for its caller", () => {
  test("is kept until the incident is resolved, and its result is taken then", async () => {
    const { engine, drain } = aPlainWorld({
      tasks: {
        fill: () => ({ much: "x".repeat(1_800_000) }),
        answer: () => ({ more: "y".repeat(900_000) }),
      },
    });
    await engine.deploy({ notation: "bpmn", source });
    await engine.start("parent", { instanceId: "parent" });
    await drain();
    const { incidents } = await engine.get("parent");
    const [child] = (await engine.list({ definition: "child" }, { limit: 10 })).items;

    const erased = engine.erase(child?.instanceId ?? "");

    expect(incidents).toMatchObject([{ type: "STATE_TOO_LARGE", element: "call" }]);
    expect(child?.status).toBe("succeeded");
    await expect(erased).rejects.toMatchObject({ code: "engine/busy" });
    await engine.patchVariables("parent", { variables: { much: null } });
    await engine.resolveIncident("parent", incidents[0]?.incidentId ?? "");
    await drain();
    const { status, variables } = await engine.get("parent");
    expect(status).toBe("succeeded");
    expect(variables.more).toHaveLength(900_000);
    await engine.erase(child?.instanceId ?? "");
  });
});

describe("children of a multi-instance call whose results are too large for their caller", () => {
  test("are kept as well, although one incident covers all of them", async () => {
    const marker = loop({ inputCollection: "=for n in 1..11 return n", inputElement: "n" });
    const call = xml(
      "callActivity",
      { id: "call" },
      extensions(
        xml("zeebe:calledElement", { processId: "child", propagateAllParentVariables: "false" }),
      ),
      marker,
    );
    const looping = file(
      line("parent", [working("fill"), call]),
      line("child", [working("answer")]),
    );
    const { engine, drain } = aPlainWorld({
      tasks: {
        fill: () => ({ much: "x".repeat(1_800_000) }),
        answer: () => ({ more: "y".repeat(900_000) }),
      },
    });
    await engine.deploy({ notation: "bpmn", source: looping });
    await engine.start("parent", { instanceId: "parent" });
    await drain();
    const { incidents } = await engine.get("parent");
    const [child] = (await engine.list({ definition: "child" }, { limit: 1 })).items;

    const erased = engine.erase(child?.instanceId ?? "");

    expect(incidents).toMatchObject([{ type: "STATE_TOO_LARGE", element: "call" }]);
    await expect(erased).rejects.toMatchObject({ code: "engine/busy" });
    await engine.patchVariables("parent", { variables: { much: null } });
    await engine.resolveIncident("parent", incidents[0]?.incidentId ?? "");
    await drain();
    expect((await engine.get("parent")).status).toBe("succeeded");
  });
});

describe("a call that passes all variables of its caller", () => {
  test("needs no extra space for them: shared values count once", async () => {
    const handsOver = file(
      line("parent", [working("fill"), calling("call", "child")]),
      line("child", [working("answer")]),
    );
    const much = "x".repeat(1_500_000);
    const { engine, drain } = aPlainWorld({
      tasks: { fill: () => ({ much }), answer: () => ({ answer: 42 }) },
    });
    await engine.deploy({ notation: "bpmn", source: handsOver });

    await engine.start("parent", { instanceId: "parent" });
    await drain();

    const { status, variables } = await engine.get("parent");
    expect(status).toBe("succeeded");
    expect(variables).toEqual({ much, answer: 42 });
  });
});
