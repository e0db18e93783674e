// Lets an API tester that reads the served document drive the HTTP API, with data that fits the
// document and data that does not. Fails on any answer of 500 and above, and on any status,
// content type, header or body that the document does not promise.
//
//   npm run test:fuzz                       with `schemathesis` on the PATH
//   FERMATA_SCHEMATHESIS=/path npm run …    or wherever it is
//   npm run test:fuzz -- --seed 7           the same data again

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine, serveEngine } from "../lib/embedded/index.ts";
import { readCommandLine } from "./command-line.ts";

const SECONDS = 75;
/** Longer than the longest wait of a call. */
const CALL_SECONDS = 40;
/**
 * What the document cannot express: whether a text is BPMN that can run, whether a cursor was
 * issued, whether a duration is below a hundred years, whether the instance of an event has ended,
 * whether there is space for what is kept.
 */
const REFUSALS: Readonly<Record<string, readonly number[]>> = {
  "POST /v1/definitions": [422],
  "POST /v1/definitions:validate": [422],
  "GET /v1/definitions": [400],
  "GET /v1/definitions/{definitionId}/versions": [400],
  "GET /v1/instances": [400],
  "POST /v1/recover/all": [400],
  "GET /v1/instances/{instanceId}/history": [400],
  "GET /v1/incidents": [400],
  "POST /v1/incidents:resolve": [400],
  "POST /v1/instances:purge": [400],
  "GET /v1/schedules": [400],
  "GET /v1/tasks": [400],
  "POST /v1/definitions/{definitionId}/instances": [400],
  "POST /v1/tasks/{taskId}/fail": [400],
  "POST /v1/clock/advance": [400],
  "POST /v1/signals": [400],
  "POST /v1/messages": [400, 429],
  "POST /v1/events": [410, 429],
  "PUT /v1/event-types/{name}": [400],
  "GET /v1/dead-letters": [400],
  "POST /v1/dead-letters/{deadLetterId}/replay": [429],
};
/**
 * What an undeployed definition still returns: running instances continue with their version, and a
 * reader of one may see what it runs.
 */
const OUTLIVES_ITS_DELETION = [
  "GET /v1/definitions/{definitionId}/versions",
  "GET /v1/definitions/{definitionId}/versions/{version}",
  "GET /v1/definitions/{definitionId}/versions/{version}/source",
];
const { seed } = readCommandLine(import.meta.filename, {
  options: { seed: { type: "string" } },
}).values;

/** A task with a handler, then one that waits for a worker beside a timer. */
const PROCESS = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="fuzz">
  <process id="order" isExecutable="true">
    <startEvent id="start"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <serviceTask id="pay"><extensionElements><zeebe:taskDefinition type="pay"/></extensionElements></serviceTask>
    <boundaryEvent id="late" attachedToRef="pay"><timerEventDefinition><timeDuration>P1D</timeDuration></timerEventDefinition></boundaryEvent>
    <endEvent id="end"/>
    <sequenceFlow id="f1" sourceRef="start" targetRef="work"/>
    <sequenceFlow id="f2" sourceRef="work" targetRef="pay"/>
    <sequenceFlow id="f3" sourceRef="pay" targetRef="end"/>
    <sequenceFlow id="f4" sourceRef="late" targetRef="end"/>
  </process>
</definitions>`;

/** Waits for a signal or a message, whichever comes first. */
const WAITING = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="fuzz-waiting">
  <signal id="s" name="go"/>
  <message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=orderId"/></extensionElements></message>
  <process id="waiting" isExecutable="true">
    <startEvent id="start"/>
    <eventBasedGateway id="either"/>
    <intermediateCatchEvent id="go"><signalEventDefinition signalRef="s"/></intermediateCatchEvent>
    <intermediateCatchEvent id="paid"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>
    <endEvent id="end"/>
    <sequenceFlow id="f1" sourceRef="start" targetRef="either"/>
    <sequenceFlow id="f2" sourceRef="either" targetRef="go"/>
    <sequenceFlow id="f3" sourceRef="either" targetRef="paid"/>
    <sequenceFlow id="f4" sourceRef="go" targetRef="end"/>
    <sequenceFlow id="f5" sourceRef="paid" targetRef="end"/>
  </process>
</definitions>`;

process.exitCode = await main();

async function main(): Promise<number> {
  const tester = findTester();
  if (tester === undefined) {
    console.error(
      "test:fuzz needs schemathesis: `python3 -m venv v && v/bin/pip install schemathesis==4.32.5`, then FERMATA_SCHEMATHESIS=v/bin/schemathesis.",
    );
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), "fermata-fuzz-"));
  const engine = await openEngine({
    dataDir: join(folder, "data"),
    clock: "virtual",
    tasks: { work: () => ({ done: true }) },
  });
  const unexpected: string[] = [];
  const server = await serveEngine(engine, {
    port: 0,
    onUnexpected: (id, error) => {
      unexpected.push(`${id}: ${error instanceof Error ? error.stack : String(error)}`);
    },
  });
  try {
    await furnish(engine);
    const code = await drive(tester, `${server.url}/v1/openapi.json`, folder);
    for (const error of unexpected) console.error(`the server met an unexpected error, ${error}`);
    const isGood = code === 0 && unexpected.length === 0;
    console.log(isGood ? "1 passed, 0 failed" : "0 passed, 1 failed");
    return isGood ? 0 : 1;
  } finally {
    await server.close();
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function findTester(): string | undefined {
  const candidates = [process.env.FERMATA_SCHEMATHESIS, "schemathesis", "st"];
  return candidates.find(
    (name) => name !== undefined && spawnSync(name, ["--version"]).status === 0,
  );
}

/** Something of every kind, so that not every response is "not found". */
async function furnish(engine: EmbeddedEngine): Promise<void> {
  await engine.deploy(PROCESS);
  for (const instanceId of ["a", "b", "c"]) {
    await engine.start("order", { instanceId, variables: { amount: 1 }, businessKey: "k" });
  }
  await engine.deploy(WAITING);
  for (const orderId of [1, 2, 3]) {
    await engine.start("waiting", { instanceId: `w${orderId}`, variables: { orderId } });
  }
  await bury(engine);
  await engine.idle();
}

/** A dead letter: an event that its instance had not read when it ended. */
async function bury({ engine }: EmbeddedEngine): Promise<void> {
  await engine.setEventType("late", {
    consumeOnRead: true,
    deliveryMode: "AfterWait",
    expireAfter: "P7D",
    onTargetTerminated: "deadLetter",
  });
  await engine.event({ name: "late", payload: [1], target: "c", id: "letter" });
  await engine.cancel("c");
}

/** Responses that are allowed in addition to the tester's own list. */
function settings(): string {
  const fair = ["2xx", 401, 403, 404, 409];
  const names = new Set([...Object.keys(REFUSALS), ...OUTLIVES_ITS_DELETION]);
  const exceptions = [...names].map((name) => {
    const lines = ["[[operations]]", `include-name = "${name}"`];
    const expected = [...fair, ...(REFUSALS[name] ?? [])].map((status) => `"${status}"`);
    lines.push(`checks.positive_data_acceptance.expected-statuses = [${expected.join(", ")}]`);
    if (OUTLIVES_ITS_DELETION.includes(name)) lines.push("checks.use_after_free.enabled = false");
    return `${lines.join("\n")}\n`;
  });
  return exceptions.join("\n");
}

async function drive(tester: string, document: string, folder: string): Promise<number> {
  writeFileSync(join(folder, "schemathesis.toml"), settings());
  const limits = [
    `--max-time=${SECONDS}`,
    `--request-timeout=${CALL_SECONDS}`,
    `--max-response-time=${CALL_SECONDS}`,
    // One thread: with two, Python 3.11 sometimes fails inside the tester (its parser is not safe).
    "--workers=1",
  ];
  // Every check is on unless the settings say otherwise; naming them here would override those.
  const args = ["run", document, "--mode=all", ...limits];
  const chosen = seed === undefined ? [] : [`--seed=${seed}`];
  const child = spawn(tester, [...args, "--no-color", ...chosen], {
    cwd: folder, // what it remembers goes with the folder
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
