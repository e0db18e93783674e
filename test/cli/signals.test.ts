import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedEngine, openEngine, serveEngine } from "../../lib/embedded/index.ts";
import { type Surroundings, say } from "./recording-terminal.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../examples");

describe("fermata, with signals, messages and events,", () => {
  const folder = mkdtempSync(join(tmpdir(), "fermata-cli-"));
  let engine: EmbeddedEngine;
  let server: Awaited<ReturnType<typeof serveEngine>>;

  beforeAll(async () => {
    const tasks = ["approval", "payment"].map((name) => join(EXAMPLES, name, "tasks"));
    engine = await openEngine({ dataDir: join(folder, "data"), clock: "virtual", tasks });
    server = await serveEngine(engine, { port: 0 });
    for (const name of ["approval", "payment"]) {
      await engine.deploy(readFileSync(join(EXAMPLES, name, `${name}.bpmn`), "utf8"));
    }
  });

  afterAll(async () => {
    await server.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  const ask = (args: readonly string[], { isInteractive = false }: Surroundings = {}) =>
    say(args, { isInteractive, environment: { FERMATA_URL: server.url } });

  const answer = async (path: string): Promise<unknown> => {
    const response = await fetch(`${server.url}${path}`);
    return response.json();
  };

  async function started(definition: string, instanceId: string, variables = {}) {
    await engine.start(definition, { instanceId, variables });
    await engine.idle();
  }

  test("resumes a wait for a signal, with the command that why prints", async () => {
    await started("approval", "a1");
    await started("approval", "a2");
    const { out: reasons } = await ask(["why", "a1"]);
    const line = reasons.find((text) => text.startsWith("  fermata signal request-approved"));
    const args = line?.trim().split(" ").slice(1) ?? [];

    const said = await ask([...args, "by=Linus", "amount=3", "--id", "s1"]);

    expect(reasons).toContainEqual(
      expect.stringMatching(/^- approved waits for the signal "request-approved" since \S+Z\.$/),
    );
    expect(reasons).toContain(
      `  curl -X POST '${server.url}/v1/signals' -H 'content-type: application/json' -d '{"name":"request-approved"}'`,
    );
    expect(said).toMatchObject({ exitCode: 0, errors: [] });
    expect(said.out).toEqual([
      "request-approved: 2 waits reached, 0 instances started.",
      `Receipt: fermata receipt s1 --url ${server.url}`,
    ]);
    const { variables } = await engine.result("a2");
    expect(variables).toMatchObject({ decidedBy: "Linus" });
    const { out: told } = await ask(["history", "a1"]);
    expect(told.join("\n")).toContain("\tapproved: signal received (s1)");
    expect(told.join("\n")).toMatch(/\trequest-settled: signal "request-settled" thrown \(a1:/);
  });

  test("reports which instances a signal or a message has started", async () => {
    await engine.deploy(startedBy("by-signal", "signal", "night-falls"));
    await engine.deploy(startedBy("by-message", "message", "order-placed"));

    const signalled = await ask(["signal", "night-falls", "lamps=3"]);
    const sent = await ask(["message", "order-placed", "--id", "web-1"]);

    expect(signalled.out[0]).toBe("night-falls: 0 waits reached, 1 instance started.");
    expect(sent.out.join()).toMatch(/^order-placed \(web-1\): started \S+\.$/);
    const { items } = await engine.list({ definition: "by-signal" });
    expect(items).toMatchObject([{ status: "succeeded", variables: { lamps: 3 } }]);
  });

  test("reports when no instance waited for a signal", async () => {
    const said = await ask(["signal", "nobody-waits"]);

    expect(said.out[0]).toBe(
      "nobody-waits: 0 waits reached, 0 instances started. Signals are not kept.",
    );
  });

  test("shows the receipt of a broadcast, at once or later", async () => {
    await started("approval", "r1");

    const atOnce = await ask(["signal", "request-rejected", "--id", "s2", "--receipt"]);
    const later = await ask(["receipt", "s2"]);
    const asJson = await ask(["receipt", "s2", "--json"]);
    const unknown = await ask(["receipt", "never-sent"]);

    expect(atOnce.out).toContain("delivered  1");
    expect(atOnce.out).toContain("complete   yes");
    expect(later.out).toEqual(atOnce.out);
    expect(JSON.parse(asJson.out.join())).toEqual(await answer("/v1/signals/s2"));
    expect(unknown).toMatchObject({ exitCode: 1, out: [] });
    expect(unknown.errors.join()).toContain("[broadcast/not-found]");
  });

  test("keeps a message that arrives early, and accepts its id once", async () => {
    const args = ["message", "payment-confirmed", "--key", "77", "--id", "bank-1"];
    const payload = ["--payload", '{"amount":12.5}', "--ttl", "PT5M"];

    const early = await ask([...args, ...payload]);
    await started("payment", "p1", { orderId: 77 });
    const twice = await ask([...args, "amount=12.5"]);

    expect(early.out).toEqual([
      "payment-confirmed (bank-1): kept for PT5M: no instance waits for it yet, or the waiting instance is busy and takes it in a moment.",
    ]);
    expect(twice.out).toEqual([
      "payment-confirmed (bank-1): duplicate: a message with this id was accepted before.",
    ]);
    const { variables } = await engine.result("p1");
    expect(variables).toMatchObject({ outcome: "paid", paidAmount: 12.5 });
  });

  test("sends a message to the wait with its key, with the command that why prints", async () => {
    await started("payment", "p2", { orderId: "A 17" });
    const { out: reasons } = await ask(["why", "p2"]);

    const said = await ask(["message", "payment-confirmed", "--key", "A 17", "amount=5"]);

    expect(reasons).toContain(
      `  fermata message payment-confirmed --key 'A 17' --url ${server.url}`,
    );
    expect(said).toMatchObject({ exitCode: 0 });
    expect(said.out.join()).toMatch(/^payment-confirmed \(\S+\): delivered to p2\.$/);
    const { variables } = await engine.result("p2");
    expect(variables).toMatchObject({ outcome: "paid", paidAmount: 5 });
  });

  test("ends with 1 when no instance waits for a message that is not kept", async () => {
    const said = await ask(["message", "payment-confirmed", "--key", "0", "--ttl", "PT0S"]);

    expect(said).toMatchObject({ exitCode: 1, out: [] });
    expect(said.errors.join()).toContain("[message/no-waiter]");
  });

  test("shows and sets the options of an event type", async () => {
    const undeclared = await ask(["event-type", "door"]);
    const declared = await ask([
      "event-type",
      "door",
      ...["--consume-on-read", "false", "--delivery-mode", "All"],
      ...["--expire-after", "P1D", "--on-target-terminated", "deadLetter", "--json"],
    ]);
    const reset = await ask(["event-type", "door", "--expire-after", "PT2H"]);

    expect(undeclared.out).toContain("declared              no, these are the defaults");
    expect(JSON.parse(declared.out.join())).toEqual({
      name: "door",
      declared: true,
      consumeOnRead: false,
      deliveryMode: "All",
      expireAfter: "P1D",
      onTargetTerminated: "deadLetter",
    });
    expect(reset.out).toEqual([
      "event                 door",
      "declared              yes",
      "consume on read       true",
      "delivery mode         AfterWait",
      "expire after          PT2H",
      "on target terminated  discard",
    ]);
  });

  test("sends an event, and reports its outcome", async () => {
    const file = join(folder, "payload.json");
    writeFileSync(file, '["front", 1]');
    await started("approval", "e1");
    await engine.setEventType("kept", { deliveryMode: "All" });

    const dropped = await ask(["event", "bell", "--id", "b1"]);
    const kept = await ask(["event", "kept", "--payload", '"loud"', "--id", "b2"]);
    const sent = await ask(["event", "bell", "--target", "e1", "--payload", `@${file}`, "--json"]);
    const refused = await ask(["event", "bell", "--target", "nobody"]);

    expect(dropped.out.join()).toMatch(
      /^bell \(b1\): no instance waits for it, .* it was dropped\.$/,
    );
    expect(kept.out).toEqual(["kept (b2): no instance waits for it yet; it is kept."]);
    expect(JSON.parse(sent.out.join())).toMatchObject({ outcome: "queued" });
    expect(refused).toMatchObject({ exitCode: 1 });
    const { out: told } = await ask(["history", "e1"]);
    expect(told.at(-1)).toMatch(/\tevent "bell" received, kept unread \(\S+\)$/);
  });

  test("lists dead letters, replays one and removes one", async () => {
    await engine.setEventType("lost", { onTargetTerminated: "deadLetter" });
    await started("approval", "d1");
    for (const id of ["l1", "l2"]) {
      await engine.event({ name: "lost", target: "d1", payload: { id }, id });
    }
    await engine.cancel("d1");
    await engine.idle();

    const listed = await ask(["dead-letters", "--name", "lost"]);
    const table = await ask(["dead-letters", "list", "--limit", "1"], { isInteractive: true });
    const asJson = await ask(["dead-letters", "list", "--name", "lost", "--json"]);
    const fromApi = await answer("/v1/dead-letters?name=lost");
    const replayed = await ask(["dead-letters", "replay", "l1"]);
    const afterwards = await ask(["dead-letters", "--name", "lost"]);
    const removed = await ask(["dead-letters", "remove", "l2"]);
    const gone = await ask(["dead-letters", "remove", "l2"]);
    const none = await ask(["dead-letters", "--name", "never"]);

    expect(listed.out.map((row) => row.split("\t")[0]).sort()).toEqual(["l1", "l2"]);
    expect(listed.out[0]?.split("\t")[3]).toBe("d1 (cancelled)");
    expect(table.out[0]).toMatch(/^ID +EVENT +AT +TARGET +REASON$/);
    expect(table.out.at(-1)).toBe("There are more; use --limit to show them.");
    expect(JSON.parse(asJson.out.join())).toEqual(fromApi);
    expect(replayed).toMatchObject({ exitCode: 0 });
    expect(replayed.out.join()).toMatch(
      /^l1 replayed \(\S+\): no instance waits for it; it stays a dead letter\.$/,
    );
    expect(afterwards.out).toEqual(listed.out);
    expect(removed).toMatchObject({ exitCode: 0, out: ["l2 is removed"] });
    expect(gone).toMatchObject({ exitCode: 1 });
    expect(gone.errors.join()).toContain("[dead-letter/not-found]");
    expect(none).toMatchObject({ exitCode: 0, out: [] });
  });

  test.each([
    [["signal"], /NAME is missing/],
    [["signal", "s", "by"], /"by" is not of the form VARIABLE=VALUE/],
    [["signal", "s", "=1"], /"=1" is not of the form VARIABLE=VALUE/],
    [["signal", "s", "a=1", "a=2"], /"a" is given twice/],
    [["signal", "s", "a=1", "--payload", "{}"], /"a=1" and --payload cannot be combined/],
    [["signal", "s", "--payload", "[1]"], /--payload is not a JSON object/],
    [
      ["message", "m", "--payload", "{a"],
      /--payload is not valid JSON: .* Quote it .* --payload '/,
    ],
    [["event", "e", "--payload", "@nowhere.json"], /--payload: the file "nowhere\.json"/],
    [["event-type", "e", "--consume-on-read", "maybe"], /must be one of: true, false/],
    [["event-type", "e", "--delivery-mode", "Never"], /must be one of: AfterWait, AfterCreate/],
    [["event-type", "e", "--on-target-terminated", "shrug"], /must be one of: discard, broadcast/],
    [["dead-letters", "burn"], /"burn" is not list, replay or remove/],
    [["dead-letters", "replay"], /ID is missing/],
    [["dead-letters", "list", "l1"], /Unexpected argument "l1"/],
    [["dead-letters", "replay", "l1", "l2"], /Unexpected argument "l2"/],
  ])("ends with 2 and the reason when called as %j", async (args, reason) => {
    const said = await ask(args);

    expect(said).toMatchObject({ exitCode: 2, out: [] });
    expect(said.errors.join()).toMatch(reason);
  });
});

/** BPMN text of a process that starts by a signal or a message, and ends. */
function startedBy(id: string, kind: "signal" | "message", name: string): string {
  return `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
  <bpmn:process id="${id}" isExecutable="true">
    <bpmn:startEvent id="start"><bpmn:${kind}EventDefinition ${kind}Ref="it" /></bpmn:startEvent>
    <bpmn:endEvent id="end" />
    <bpmn:sequenceFlow id="flow" sourceRef="start" targetRef="end" />
  </bpmn:process>
  <bpmn:${kind} id="it" name="${name}" />
</bpmn:definitions>
`;
}
