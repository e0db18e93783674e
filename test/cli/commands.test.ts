import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../cli/commands.ts";
import { type EmbeddedEngine, openEngine, serveEngine } from "../../lib/embedded/index.ts";
import { assignment, ioMapping, person, sequence, xml } from "../support/bpmn-xml.ts";
import { FermataProcess } from "./fermata-process.ts";
import { processOf } from "./process-of.ts";
import { type Surroundings, say } from "./recording-terminal.ts";

const ORDER = resolve(import.meta.dirname, "../../examples/order/order.bpmn");
const APPROVAL = sequence(
  person(
    "approve",
    assignment({ candidateGroups: "hr" }),
    ioMapping(xml("zeebe:output", { source: "=approved", target: "decision" })),
  ),
).replace('id="p"', 'id="leave"');
const TOKEN = "a-token-for-tests";

describe("fermata, talking to a server,", () => {
  const folder = mkdtempSync(join(tmpdir(), "fermata-cli-"));
  let engine: EmbeddedEngine;
  let server: Awaited<ReturnType<typeof serveEngine>>;

  beforeAll(async () => {
    const tasks = { "reserve-stock": () => ({}) };
    engine = await openEngine({ dataDir: join(folder, "data"), clock: "virtual", tasks });
    server = await serveEngine(engine, { port: 0, token: TOKEN });
    await engine.deploy(processOf("waiting", "pay-by-hand"));
    await engine.start("waiting", { instanceId: "w1", variables: { total: 42 } });
  });

  afterAll(async () => {
    await server.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  const ask = (args: readonly string[], { isInteractive = false }: Surroundings = {}) =>
    say(args, {
      isInteractive,
      environment: { FERMATA_URL: server.url, FERMATA_TOKEN: TOKEN },
    });

  const answer = async (path: string): Promise<unknown> => {
    const response = await fetch(`${server.url}${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    return response.json();
  };

  test("deploys a file, and says when nothing has changed", async () => {
    const first = await ask(["deploy", ORDER]);
    const second = await ask(["deploy", ORDER]);

    expect(first).toMatchObject({ exitCode: 0, out: [`${ORDER}: order version 1 deployed`] });
    expect(second.out).toEqual([`${ORDER}: order version 1 is unchanged`]);
  });

  test("names every problem of a refused file by line, element, hint and code", async () => {
    const file = join(folder, "broken.bpmn");
    const withoutType = '<bpmn:serviceTask id="pay" />';
    writeFileSync(
      file,
      processOf("broken", "pay-by-hand").replace(/<bpmn:serviceTask.*?serviceTask>/s, withoutType),
    );

    const deployed = await ask(["deploy", file]);
    const validated = await ask(["validate", file]);

    expect(deployed).toMatchObject({ exitCode: 1, out: [] });
    expect(deployed.errors.join("\n")).toMatch(
      /broken\.bpmn:\d+ .*"pay" .* Add <zeebe:taskDefinition.* \[bpmn\/task-without-type\]/,
    );
    expect(validated).toMatchObject({ exitCode: 1, out: deployed.errors, errors: [] });
  });

  test("starts an instance with variables from a file and waits for its end", async () => {
    const file = join(folder, "variables.json");
    writeFileSync(file, JSON.stringify({ total: 7 }));
    await engine.deploy(processOf("passing"));

    const said = await ask([
      "start",
      "passing",
      "--variables",
      `@${file}`,
      "--wait",
      "5",
      "--json",
    ]);

    expect(said.exitCode).toBe(0);
    expect(JSON.parse(said.out.join())).toMatchObject({
      status: "succeeded",
      variables: { total: 7 },
    });
  });

  test("starting an id twice is one start", async () => {
    const args = ["start", "waiting", "--id", "twice", "--variables", '{"total":1}', "--json"];

    const [first, second] = [await ask(args), await ask(args)];

    expect(second).toEqual(first);
    expect(JSON.parse(first.out.join())).toEqual(await answer("/v1/instances/twice"));
  });

  test.each([
    [["show", "w1"], "/v1/instances/w1"],
    [["why", "w1"], "/v1/instances/w1/waits"],
    [["history", "w1"], "/v1/instances/w1/history?limit=200"],
    [
      ["ls", "--definition", "waiting", "--status", "suspended"],
      "/v1/instances?definition=waiting",
    ],
  ])("prints the API's response to %j with --json", async (args, path) => {
    const { exitCode, out } = await ask([...args, "--json"]);

    expect(exitCode).toBe(0);
    expect(JSON.parse(out.join())).toEqual(await answer(path));
  });

  test("says why an instance waits, with the call that wakes it and without the token", async () => {
    const { out } = await ask(["why", "w1"]);

    expect(out[0]).toBe("w1 is suspended.");
    expect(out[1]).toMatch(
      /^- pay waits for a task of the type "pay-by-hand" since .*a worker or a call completes it/,
    );
    expect(out.at(-1)).toMatch(
      /^ {2}curl -X POST 'http:\S+\/v1\/tasks\/w1\.\S+\/complete' -H "authorization: Bearer \$FERMATA_TOKEN" .* -d '\{"variables":\{\}\}'$/,
    );
    expect(out.join()).not.toContain(TOKEN);
  });

  test("shows an instance, and its history as text", async () => {
    const shown = await ask(["show", "w1"]);
    const told = await ask(["history", "w1"]);

    expect(shown.out).toContain("definition  waiting version 1");
    expect(shown.out).toContain("variable    total = 42");
    expect(told.out[0]).toMatch(/^1\t\S+Z\tstarted$/);
    expect(told.out.at(-1)).toMatch(/\tpay entered$/);
  });

  test("formats a list as a table on a terminal, and with tabs in a pipe", async () => {
    const args = ["ls", "--definition", "waiting", "--limit", "1"];

    const table = await ask(args, { isInteractive: true });
    const plain = await ask(args);

    expect(table.out[0]).toMatch(/^INSTANCE +DEFINITION +STATUS +STARTED +AT$/);
    expect(table.out[2]).toBe("There are more; use --limit to show them.");
    expect(plain.out).toHaveLength(1);
    expect(plain.out[0]?.split("\t")).toHaveLength(5);
  });

  test("lists the instances with an incident", async () => {
    await engine.deploy(processOf("failing", "pay-by-hand"));
    for (const instanceId of ["f1", "f2"]) await engine.start("failing", { instanceId });
    const [wait] = (await engine.waits("f1")).items;
    await engine.fail(wait?.taskId ?? "", { message: "no money", retries: 0 });

    const said = await ask(["ls", "--incident", "--definition", "failing"]);

    expect(said.exitCode).toBe(0);
    expect(said.out.map((line) => line.split("\t").slice(0, 3))).toEqual([
      ["f1", "failing v1", "suspended, incident"],
    ]);
  });

  test("F66: lists user tasks, claims one, unclaims it and completes it", async () => {
    await engine.deploy(APPROVAL);
    await engine.start("leave", { instanceId: "l1" });
    const listed = await ask(["tasks", "--group", "hr", "--state", "created"]);
    const taskId = listed.out[0]?.split("\t")[0] ?? "";
    const said = async (...args: readonly string[]) => (await ask(args)).out;

    expect(listed.out[0]?.split("\t").slice(1, 5)).toEqual(["approve", "leave v1", "group hr", ""]);
    expect(await said("claim", taskId, "--user", "anna", "--group", "hr")).toEqual([
      `${taskId} is claimed by anna`,
    ]);
    expect((await ask(["claim", taskId, "--user", "bert"])).exitCode).toBe(1);
    expect((await said("tasks", "--assignee", "anna"))[0]).toContain(`${taskId}\tapprove`);
    expect((await said("why", "l1")).join("\n")).toContain("waits to be completed by anna");
    expect(await said("unclaim", taskId, "--user", "anna")).toEqual([`${taskId} is unclaimed`]);
    expect((await said("why", "l1")).join("\n")).toContain(`claim ${taskId} --user your-name`);
    expect((await ask(["complete", taskId])).errors.join(" ")).toContain("without approved");
    expect(await said("complete", taskId, "approved=true", "--key", "k")).toEqual([
      `${taskId} is completed`,
    ]);
    expect((await engine.get("l1")).variables).toMatchObject({ decision: true });
    expect((await said("history", "l1")).join("\n")).toMatch(/assigned to anna[\s\S]*unassigned/);
  });

  test("F66: fails a user task, and requires a reason and a user", async () => {
    await engine.deploy(APPROVAL);
    await engine.start("leave", { instanceId: "l2" });
    const [line = ""] = (await ask(["tasks", "--instance", "l2"])).out;
    const taskId = line.split("\t")[0] ?? "";

    const failed = await ask(["fail", taskId, "--message", "no time", "--retries", "0"]);

    expect(failed.out).toEqual([`${taskId} has failed`]);
    expect((await engine.get("l2")).incidents).toMatchObject([{ message: "no time" }]);
    for (const args of [
      ["fail", taskId],
      ["claim", taskId],
      ["unclaim", taskId],
      ["tasks", "--state", "done"],
      ["complete", taskId, "a=1", "--variables", "{}"],
    ]) {
      expect((await ask(args)).exitCode).toBe(2);
    }
  });

  test("cancels an instance once", async () => {
    await engine.start("waiting", { instanceId: "c1" });

    const first = await ask(["cancel", "c1", "--reason", "sold out"]);
    const second = await ask(["cancel", "c1"]);
    const told = await ask(["history", "c1"]);

    expect(first).toMatchObject({ exitCode: 0, out: ["c1 is cancelled"] });
    expect(second).toMatchObject({ exitCode: 0 });
    expect(second.out.join()).toMatch(/has already ended/);
    expect(told.out.join("\n")).toContain("cancel requested: sold out");
  });

  test("ends with 1 and the problem when the server refuses a request", async () => {
    const plain = await ask(["show", "nobody"]);
    const asJson = await ask(["show", "nobody", "--json"]);
    const stranger = await say(["ls", "--url", server.url]);

    expect(plain).toMatchObject({ exitCode: 1, out: [] });
    expect(plain.errors.join()).toMatch(/nobody.*\[instance\/not-found\]/);
    expect(JSON.parse(asJson.errors.join())).toEqual(await answer("/v1/instances/nobody"));
    expect(stranger).toMatchObject({ exitCode: 1 });
    expect(stranger.errors.join()).toContain("[request/unauthorized]");
  });

  test("returns its exit code and its output to the shell", async () => {
    const refused = new FermataProcess("show", "nobody", "--url", server.url, "--token", TOKEN);
    const listed = new FermataProcess("ls", "--json", "--url", server.url, "--token", TOKEN);

    expect(await refused.exitCode()).toBe(1);
    expect(await listed.exitCode()).toBe(0);
    expect(JSON.parse(listed.lines.join())).toHaveProperty("items");
  });
});

describe("fermata", () => {
  test("ends with 3 and how to start a server when none answers", async () => {
    const said = await say(["ls", "--url", "http://127.0.0.1:1"]);

    expect(said.exitCode).toBe(3);
    expect(said.errors.join()).toMatch(/^fermata: No Fermata server answers at .* Start one with/);
  });

  test.each([
    [["juggle"], /Unknown command "juggle"/],
    [["ls", "--colour"], /Unknown option '--colour'\. Usage: `fermata ls --help`/],
    [["show"], /ID is missing\. Usage/],
    [["show", "a", "b"], /Unexpected argument "b"/],
    [["ls", "--limit", "many"], /--limit is "many", but must be a whole number from 1/],
    [["ls", "--status", "asleep"], /--status is "asleep", but must be one of: running/],
    [["ls", "--url", "here"], /"here" is not the URL of a server/],
    [["start", "order", "--variables", "{total"], /--variables is not valid JSON: .* Quote it/],
    [["start", "order", "--variables", "[1]"], /--variables is not a JSON object/],
    [["start", "order", "--variables", "@nowhere.json"], /"nowhere\.json" cannot be read/],
    [["deploy", "nowhere.bpmn"], /The file "nowhere\.bpmn" cannot be read/],
    [["dev", "--port", "-1"], /--port/],
    [["dev", "--clock", "broken"], /--clock is "broken", but must be real or virtual/],
  ])("ends with 2 and the reason when called as %j", async (args, reason) => {
    const said = await say(args);

    expect(said).toMatchObject({ exitCode: 2, out: [] });
    expect(said.errors.join()).toMatch(reason);
  });

  test.each(COMMANDS.map(({ name }) => name))("explains %s with --help", async (name) => {
    const said = await say([name, "--help"]);

    expect(said).toMatchObject({ exitCode: 0, errors: [] });
    expect(said.out.join("\n")).toMatch(new RegExp(`^fermata ${name} .*--json`, "s"));
  });

  test("lists its commands", async () => {
    const said = await say(["--help"]);

    expect(said.exitCode).toBe(0);
    for (const { name } of COMMANDS) expect(said.out.join("\n")).toContain(`\n  ${name}`);
  });
});
