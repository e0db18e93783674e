import { describe, expect, test } from "vitest";
import { MAX_PAYLOAD_BYTES, MAX_VALUES_BYTES } from "../../../lib/definition/limits.ts";
import {
  aMessage,
  aSignal,
  beside,
  catching,
  onMessage,
  onSignal,
  sequence,
} from "../../support/bpmn-xml.ts";
import { anEngine } from "../../support/embedded.ts";

const big = "x".repeat(MAX_PAYLOAD_BYTES - 100);
/** With this, one more payload of the largest size is too much for an instance. */
const full = { a: "x".repeat(MAX_VALUES_BYTES - big.length) };

describe("a wait held by an incident", () => {
  test("is found again by the next signal once the incident is resolved", async () => {
    const source = beside(sequence(catching("wait", onSignal("approved"))), aSignal("approved"));
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p", { variables: full });
    await engine.signal("approved", { c: big }, { id: "too-much" });
    await engine.idle();
    const [incident] = (await engine.get(instanceId)).incidents;
    expect(incident).toMatchObject({ type: "STATE_TOO_LARGE", element: "wait" });
    await expect(engine.receipt("too-much")).resolves.toMatchObject({
      complete: true,
      delivered: 0,
      failed: [{ instanceId, incidentId: incident?.incidentId }],
    });

    await engine.resolveIncident(instanceId, incident?.incidentId ?? "");
    expect((await engine.waits(instanceId)).items).toMatchObject([{ kind: "signal" }]);
    await expect(engine.signal("approved", { by: "me" })).resolves.toMatchObject({
      deliveredCount: 1,
    });
    await expect(engine.result(instanceId)).resolves.toMatchObject({ status: "succeeded" });
  });

  test("for a message refuses one that is too large, and takes the next", async () => {
    const source = beside(
      sequence(catching("wait", onMessage("paid"))),
      aMessage("paid", { key: '="k"' }),
    );
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p", { variables: full });
    const paid = { name: "paid", correlationKey: "k" };
    await expect(engine.message({ ...paid, payload: { c: big } })).rejects.toMatchObject({
      code: "request/body-too-large",
    });
    await expect(engine.message(paid)).resolves.toMatchObject({ outcome: "delivered", instanceId });
  });
});
