import { expect, test } from "vitest";
import { MANY_OUTCOMES_PER_RUN } from "../../../lib/definition/limits.ts";
import { serveEngine } from "../../../lib/embedded/index.ts";
import { say } from "../../cli/recording-terminal.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

test("R23 a run is warned about once its journal is long, long before its limit", async () => {
  const troubles: string[] = [];
  const engine = await anEngineWith(
    `for (let n = 1; n < ${MANY_OUTCOMES_PER_RUN}; n++) await delay("0s");
     await event("go");
     await event("go");
     await event("end");`,
    { onTrouble: (message) => void troubles.push(message) },
  );
  const server = await serveEngine(engine, { port: 0 });
  const environment = { FERMATA_URL: server.url };
  const { instanceId: target, warnings: before } = await run(engine);

  await engine.event({ name: "go", target });
  const { warnings = [] } = await engine.get(target);
  await engine.event({ name: "go", target });
  const { out: why } = await say(["why", target], { environment });
  const { out: shown } = await say(["show", target], { environment });
  await engine.event({ name: "end", target });
  const ended = await engine.get(target);
  await server.close();

  expect(before).toBeUndefined();
  expect(warnings).toEqual([
    "The journal of this run has 2000 operations; with more than 10000 the run stops with an incident. Divide the work among several instances.",
  ]);
  expect(troubles).toEqual([`instance ${target}: ${warnings[0]}`]);
  expect(why.join("\n")).toContain("Warning: The journal of this run has 2001 operations");
  expect(shown.join("\n")).toMatch(/warning\s+The journal of this run has 2001 operations/);
  expect(ended).toMatchObject({ status: "succeeded" });
  expect(ended).not.toHaveProperty("warnings");
});
