/** The deployed engine as its users see it: over HTTP, with signed requests. */
import type { TestContext } from "vitest";
import { awsSigner } from "../../lib/client/aws/index.ts";
import {
  ApiError,
  createClient,
  type HistoryEntry,
  type ResultView,
} from "../../lib/client/index.ts";
import { type Capability, readTarget } from "../../scripts/deployment/e2e-target.ts";
import { end, file, flow, start, xml } from "./bpmn-xml.ts";

/** Where it is, and what it lacks. */
export const target = readTarget(process.env.FERMATA_E2E_TARGET);

/** Every call is signed. */
export const client = createClient({
  baseUrl: target.apiUrl,
  sign: awsSigner({ region: target.region }),
});

/** Skips the test, with the reason, if the target lacks what it needs. */
export function needs(capability: Capability, { skip, task }: TestContext): void {
  const reason = target.lacks[capability];
  if (reason === undefined) return;
  Object.assign(task.meta, { skippedBecause: reason });
  skip(reason);
}

/** A name that no earlier run on the same deployment has used. */
export const fresh = (name: string): string => `${name}-${crypto.randomUUID().slice(0, 8)}`;

/** Repeats a check; machines stall at times, so it gives up late. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  withinMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look().catch(unlessBusy);
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`Waited ${withinMs / 1_000} s in vain for ${what}.`);
    await pause();
  }
}

/** A short pause between two checks. */
export const pause = () => new Promise<void>((done) => setTimeout(done, 250));

/** The outcome of an instance, once it has ended. */
export function ended(instanceId: string): Promise<ResultView> {
  return eventually(`the end of ${instanceId}`, () =>
    client.result(instanceId, { waitSeconds: 10 }).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === "instance/not-ended") return undefined;
      throw error;
    }),
  );
}

/** Waits until an instance has a wait of this kind, and nothing runs. */
export function waiting(instanceId: string, kind: string) {
  return eventually(`${instanceId} to wait for a ${kind}`, async () => {
    const { items } = await client.waits(instanceId);
    return items.find((wait) => wait.kind === kind);
  });
}

/** Its history, in order. */
export async function historyOf(instanceId: string): Promise<readonly HistoryEntry[]> {
  const { items } = await client.history(instanceId, { limit: 200 });
  return items;
}

/** How often each type of entry is in its history for an element. */
export async function countOf(instanceId: string, type: string, element?: string): Promise<number> {
  const entries = await historyOf(instanceId);
  return entries.filter((entry) => entry.type === type && (!element || entry.element === element))
    .length;
}

/** A file with one process: its elements one after the other, and further content. */
export function chain(id: string, elements: readonly string[], ...beside: readonly string[]) {
  const ids = ["start", ...elements.map(idOf), "end"];
  const flows = ids.slice(1).map((to, n) => flow(`${ids[n] ?? ""}-to-${to}`, ids[n] ?? "", to));
  return file(aProcess(id, start(), ...elements, end(), ...flows), ...beside);
}

/** An executable process with that id. */
export const aProcess = (id: string, ...content: readonly string[]) =>
  xml("process", { id, isExecutable: "true" }, ...content);

/** A service task with a job of that type. */
export function task(id: string, type = id, retries = "3"): string {
  const job = xml("zeebe:taskDefinition", { type, retries });
  return xml("serviceTask", { id }, xml("extensionElements", {}, job));
}

const idOf = (element: string): string => /id="([^"]*)"/.exec(element)?.[1] ?? "";

/** Throttled, or the gateway has timed out: the next attempt may succeed. */
function unlessBusy(error: unknown): undefined {
  if (error instanceof ApiError && (error.status === 429 || error.status >= 500)) return undefined;
  throw error;
}
