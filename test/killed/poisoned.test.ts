// A step that blocks the only thread, or ends the process, again after every restart. The engine
// listens each time before that; once the step is suspected it can be cancelled, and in the end it is
// set aside by itself.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { MAX_DEATHS_WITH_STEP } from "../../lib/definition/limits.ts";
import {
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { deploy, resultOf, tryStart } from "../support/killed-client.ts";

/** After a timer: each process fires what is due by itself. */
const behindTimer = (type: string) =>
  file(
    xml(
      "process",
      { id: type, isExecutable: "true" },
      start(),
      catching("pause", timer("timeDuration", "PT0.5S")),
      xml("serviceTask", { id: "work" }, extensions(job(type))),
      end(),
      ...[flow("f1", "start", "pause"), flow("f2", "pause", "work"), flow("f3", "work", "end")],
    ),
  );

describe("an instance whose task crashes the process", () => {
  test("can be cancelled after a restart, and everything else continues", async () => {
    const lives = aFolder();
    const told = "blocked";
    await begin(lives, "block", told);
    for (let death = 2; death <= MAX_DEATHS_WITH_STEP; death++) await lives.die(told);

    const { url } = await lives.open();
    const cancelled = await call(url, "POST", "/v1/instances/bad/cancel", {});

    expect(cancelled).toMatchObject({ cancelled: true });
    expect(await call(url, "GET", "/v1/instances/bad")).toMatchObject({ status: "cancelled" });
    expect((await resultOf(url, "good")).variables).toEqual({ fine: true });
  });

  test("is set aside automatically, and runs again when that is resolved", async () => {
    const lives = aFolder();
    const told = "crashed";
    await begin(lives, "crash", told);
    for (let death = 2; death <= MAX_DEATHS_WITH_STEP + 1; death++) await lives.die(told);

    const life = await lives.open();
    const incident = await incidentOf(life.url);

    expect(incident).toMatchObject({ type: "STEP_POISONED", element: "work" });
    expect(incident.message).toContain("The task k");
    const path = `/v1/instances/bad/incidents/${incident.incidentId}/resolve`;
    await call(life.url, "POST", path, {});
    expect(await life.next()).toBe(told);
  });
});

/** The first process, which dies without a trace of the reason. */
async function begin(lives: ReturnType<typeof aFolder>, type: string, told: string): Promise<void> {
  const life = await lives.open();
  for (const each of [type, "fine"]) await deploy(life.url, behindTimer(each));
  await tryStart(life.url, type, { instanceId: "bad" });
  await tryStart(life.url, "fine", { instanceId: "good" });
  expect(await life.next()).toBe(told);
  await life.kill();
}

type Incident = Readonly<{ incidentId: string; type: string; element: string; message: string }>;

/** What is due is processed directly after the server listens. */
async function incidentOf(url: string): Promise<Incident> {
  for (;;) {
    const { items } = (await call(url, "GET", "/v1/incidents")) as { items: readonly Incident[] };
    if (items[0] !== undefined) return items[0];
  }
}

async function call(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  const response = await fetch(url + path, { method, ...sent });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${path} was answered with ${JSON.stringify(answer)}`);
  return answer;
}

/** Processes of the program on one folder. */
function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), "fermata-poisoned-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const open = async () => {
    const program = join(import.meta.dirname, "../support/poisoned-engine.ts");
    const child = spawn(process.execPath, [program, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    const kill = async () => {
      child.kill("SIGKILL");
      await gone;
    };
    onTestFinished(kill);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async (): Promise<string> => String((await lines.next()).value);
    // The very first line: nothing was run before it listened.
    const [listening, url = ""] = (await next()).split(" ");
    expect(listening).toBe("listening");
    return { url, next, kill };
  };
  return {
    open,
    /** Opens, waits until the step blocks the thread, and kills. */
    die: async (told: string): Promise<void> => {
      const life = await open();
      expect(await life.next()).toBe(told);
      await life.kill();
    },
  };
}
