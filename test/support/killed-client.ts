// Calls the HTTP API of the running process, and records what was acknowledged.

import { z } from "zod";

const Entry = z.object({
  seq: z.number(),
  at: z.string().transform((text) => Date.parse(text)),
  type: z.string(),
  element: z.string().optional(),
  data: z.unknown().optional(),
});
const History = z.object({ items: z.array(Entry), nextCursor: z.string().optional() });
const Result = z.object({
  status: z.string(),
  variables: z.record(z.string(), z.unknown()),
  result: z.unknown().optional(),
});
const Page = z.object({
  items: z.array(z.object({ instanceId: z.string(), status: z.string() })),
  nextCursor: z.string().optional(),
});

export type HistoryEntry = z.infer<typeof Entry>;
export type Result = z.infer<typeof Result>;

export async function deploy(url: string, source: string): Promise<void> {
  const headers = { "content-type": "application/xml" };
  await answer(fetch(`${url}/v1/definitions`, { method: "POST", headers, body: source }));
}

/** True when the start was acknowledged; false when the process died first. */
export async function tryStart(url: string, definition: string, body: object): Promise<boolean> {
  let response: Response;
  try {
    response = await fetch(`${url}/v1/definitions/${definition}/instances`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
  } catch {
    return false; // cut off: it is unknown whether it was started
  }
  if (response.status !== 201) throw new Error(`a start was answered with ${response.status}`);
  return true;
}

/** True when the event was accepted or its target had ended; false when the process died first. */
export async function tryEvent(url: string, event: object): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event),
    });
    await response.arrayBuffer();
    if (response.ok || response.status === 410) return true;
    throw new Error(`an event was answered with ${response.status}`);
  } catch (cause) {
    if (cause instanceof TypeError) return false; // cut off
    throw cause;
  }
}

/** Waits for the end, however long it takes. */
export async function resultOf(url: string, instanceId: string): Promise<Result> {
  for (;;) {
    const response = await fetch(`${url}/v1/instances/${instanceId}/result?waitSeconds=25`);
    const body: unknown = await response.json();
    if (response.ok) return Result.parse(body);
    if (response.status !== 409) throw new Error(`${instanceId}: ${JSON.stringify(body)}`);
  }
}

export async function historyOf(url: string, instanceId: string): Promise<readonly HistoryEntry[]> {
  const path = `${url}/v1/instances/${instanceId}/history?limit=200`;
  return all(path, (body) => History.parse(body));
}

export async function instancesOf(url: string): Promise<ReadonlyMap<string, string>> {
  const items = await all(`${url}/v1/instances?limit=200`, (body) => Page.parse(body));
  return new Map(items.map(({ instanceId, status }) => [instanceId, status]));
}

type Paged<T> = Readonly<{ items: readonly T[]; nextCursor?: string | undefined }>;

async function all<T>(path: string, parse: (body: unknown) => Paged<T>): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const from = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = parse(await answer(fetch(path + from)));
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

async function answer(response: Promise<Response>): Promise<unknown> {
  const { ok, url, status, ...rest } = await response.then(async (it) => ({
    ok: it.ok,
    url: it.url,
    status: it.status,
    body: await it.json(),
  }));
  if (!ok) throw new Error(`${url} answered ${status}: ${JSON.stringify(rest.body)}`);
  return rest.body;
}
