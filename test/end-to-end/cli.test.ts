import { describe, test } from "vitest";
import { say } from "../cli/recording-terminal.ts";
import { assignment, person } from "../support/bpmn-xml.ts";
import {
  chain,
  client,
  ended,
  eventually,
  fresh,
  target,
  task,
  waiting,
} from "../support/deployed.ts";
import { startsItself } from "../support/timer-starts.ts";

/** A command with credentials that AWS accepts. */
const ask = (...args: readonly string[]) =>
  say([...args, "--aws", "--url", target.apiUrl], { environment: { AWS_REGION: target.region } });

const OK = { exitCode: 0, errors: [] };

describe.concurrent("fermata, at a deployment,", () => {
  test("F66 tasks, claim and complete: the work of a user", async ({ expect }) => {
    const [id, group] = [fresh("cli-person"), fresh("group")];
    await client.deploy(chain(id, [person("approve", assignment({ candidateGroups: group }))]));
    const { instanceId } = await client.start(id);
    await waiting(instanceId, "task");

    const listed = await ask("tasks", "--group", group, "--json");
    const { items } = JSON.parse(listed.out.join("")) as { items: { taskId: string }[] };
    const taskId = items[0]?.taskId ?? "";

    expect(items).toHaveLength(1);
    expect(await ask("claim", taskId, "--user", "anna", "--group", group)).toMatchObject(OK);
    const bert = await ask("claim", taskId, "--user", "bert", "--group", group);
    expect(bert).toMatchObject({ exitCode: 1 });
    expect(bert.errors.join("\n")).toContain("task/claimed");
    expect(await ask("tasks", "--assignee", "anna", "--instance", instanceId)).toMatchObject({
      ...OK,
      out: [expect.stringMatching(new RegExp(`^${taskId}\tapprove\t${id} v1\tanna`))],
    });
    expect(await ask("complete", taskId, "approved=true", "--user", "anna")).toMatchObject(OK);
    expect(await ended(instanceId)).toMatchObject({ variables: { approved: true } });
  });

  test("schedules: armed timer starts are listed, and stopped", async ({ expect }) => {
    const id = fresh("cli-schedule");
    await client.deploy(startsItself(id, { timeDuration: "P30D" }));

    const begins = async () => {
      const { out } = await ask("schedules", "--limit", "10000");
      return out.map((row) => row.split("\t")).find(([scheduleId]) => scheduleId === `${id}~begin`);
    };
    const before = await begins();
    const stopped = await ask("schedules", "rm", `${id}~begin`);

    expect(before?.slice(1, 3)).toEqual(["1", "P30D"]);
    expect(Date.parse(before?.[4] ?? "")).toBeGreaterThan(Date.now());
    expect(stopped).toMatchObject({ ...OK, out: [`${id}~begin is stopped`] });
    expect(await begins()).toBeUndefined();
  });

  test("F68 fail, incidents, resolve, cancel and purge: the work of an operator", async ({
    expect,
  }) => {
    const [id, type] = [fresh("cli-operated"), fresh("nobody-runs-this")];
    await client.deploy(chain(id, [task("work", type)]));
    const { instanceId } = await client.start(id, { tags: [id] });
    const { taskId = "" } = await waiting(instanceId, "task");

    expect(await ask("fail", taskId, "--message", "no card", "--retries", "0")).toMatchObject(OK);
    const open = await ask("incidents", "--tag", id);
    const dry = await ask("resolve", "--definition", id);
    const done = await ask("resolve", "--definition", id, "--yes");
    expect(await ask("set", instanceId, "total=42")).toMatchObject(OK);
    expect(await ask("cancel", instanceId)).toMatchObject(OK);
    const wouldPurge = await ask("purge", "--tag", id, "--status", "cancelled");
    const purged = await ask("purge", "--tag", id, "--yes");

    expect(open.out.join("\n")).toContain("no card");
    expect(dry.out.at(-1)).toBe("1 match; --yes resolves them");
    expect(done.out.at(-1)).toBe("1 of 1 resolved, 0 already gone, 0 refused");
    expect(wouldPurge.out.at(-1)).toBe("1 match; --yes erases them");
    expect(purged.out.at(-1)).toBe("1 of 1 erased, 0 already gone, 0 refused");
    await expect(client.get(instanceId)).rejects.toMatchObject({ status: 404 });
  });

  test("recover: reports what was lost, which is nothing here", async ({ expect }) => {
    const id = fresh("cli-recover");
    await client.deploy(chain(id, [task("work", fresh("nobody-runs-this"))]));
    const { instanceId } = await client.start(id);
    await waiting(instanceId, "task");

    const swept = await ask("recover", "--json");
    // Everything that earlier tests left alive is read, on a machine that may be busy.
    const all = await eventually("a recovery of all", async () => {
      const said = await ask("recover", "--all");
      return said.exitCode === 0 && said;
    });

    expect(swept).toMatchObject(OK);
    expect(JSON.parse(swept.out.join(""))).toMatchObject({ resumed: expect.any(Number) });
    expect(all).toMatchObject(OK);
    expect(all.out.join("\n")).toMatch(/nothing to do\s+\d+/);
    expect((await client.tasks({ instanceId })).items).toHaveLength(1);
  });

  test("reports the refused caller: anonymous without a signature", async ({ expect }) => {
    const unsigned = await say(["ls", "--url", target.apiUrl]);

    expect(unsigned).toMatchObject({ exitCode: target.lacks.iam === undefined ? 1 : 0 });
  });
});
