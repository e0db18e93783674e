import { describe, expect, test } from "vitest";
import type { Message } from "../../../lib/ports/message.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const source = bpmn.sequence(
  bpmn.service("work"),
  bpmn.boundary("late", "work", bpmn.timer("timeDuration", "PT1H")),
  bpmn.end("too-late"),
  bpmn.flow("lf", "late", "too-late"),
);

describe("a message for an instance that has ended", () => {
  test("R16 is ignored: nothing runs again, nothing is written, and a recovery has nothing to do", async () => {
    let runs = 0;
    const work = () => {
      runs += 1;
      return {};
    };
    const { engine, queued, commits, drain } = aPlainWorld({ tasks: { work } });
    await engine.deploy({ notation: "bpmn", source });
    const { instanceId } = await engine.start("p");
    const start = [...queued];
    await drain();
    const ended = commits.length;
    const about = { tenant: "default", instanceId };
    const late: readonly Message[] = [
      ...start,
      { kind: "task", ...about, ticket: "k1.2", attempt: 1, type: "work" },
      { kind: "timer", ...about, ticket: "t1.1" },
      { kind: "owed", ...about, name: "k1.2/1" },
      {
        kind: "parked",
        ...about,
        name: "k1.2/1",
        fact: { kind: "task-completed", ticket: "k1.2", variables: { n: 1 } },
      },
    ];

    queued.push(...late, ...late);
    await drain();
    const report = await engine.recover();

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", variables: {} });
    expect(runs).toBe(1);
    expect(commits).toHaveLength(ended);
    expect(report).toMatchObject({ resumed: 0, resent: 0, timersFired: 0, rearmed: 0 });
  });
});
