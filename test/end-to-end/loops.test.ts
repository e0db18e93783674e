import { describe, test } from "vitest";
import { end, extensions, file, flow, job, loop, start, xml } from "../support/bpmn-xml.ts";
import { client, ended, fresh } from "../support/deployed.ts";

/** Thirty tasks under one ticket. */
const looping = (id: string) =>
  file(
    xml(
      "process",
      { id, isExecutable: "true" },
      start(),
      xml(
        "serviceTask",
        { id: "each" },
        extensions(job("reserve")),
        loop({
          inputCollection: "=for i in 1..30 return i",
          inputElement: "n",
          outputCollection: "doubled",
          outputElement: "=n * 2",
        }),
      ),
      end(),
      flow("f1", "start", "each"),
      flow("f2", "each", "end"),
    ),
  );

describe("a deployed multi-instance activity", () => {
  test("F58: runs thirty tasks at once, and collects their results in the order of the list", async ({
    expect,
  }) => {
    const id = fresh("loop");
    await client.deploy(looping(id));

    const { instanceId } = await client.start(id);

    const { status, variables } = await ended(instanceId);
    expect(status).toBe("succeeded");
    expect(variables.doubled).toEqual(Array.from({ length: 30 }, (_, n) => 2 * (n + 1)));
  });
});
