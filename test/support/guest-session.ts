// Code in a sandbox without the SDK: what a bundle can do that does not keep to its rules.
import type {
  Feed,
  GuestProgram,
  GuestSession,
  Opening,
  Ran,
  Sandbox,
} from "../../lib/definition/sandbox.ts";

const OPENING: Opening = { workflow: "w", input: null, seed: "seed", instance: { id: "i" } };

/** A bundle whose one workflow has this body; `before` is its module scope. */
export const aRawBundle = (body: string, before = ""): string =>
  `${before}
__fermata.workflow("w", async (input) => JSON.stringify((await (async () => {
${body}
})()) ?? null));`;

export async function aLoaded(sandbox: Sandbox, bundle: string): Promise<GuestProgram> {
  const loaded = await sandbox.load(bundle);
  if (!loaded.ok) throw new Error(loaded.problem.message);
  return loaded.program;
}

/** A session of a bundle with this body. */
export async function aSession(
  sandbox: Sandbox,
  body: string,
  opening: Partial<Opening> = {},
): Promise<GuestSession> {
  return (await aLoaded(sandbox, aRawBundle(body))).open({ ...OPENING, ...opening });
}

export const openingOf = (opening: Partial<Opening> = {}): Opening => ({ ...OPENING, ...opening });

/** What the first feed of a body leads to. */
export async function ranIn(
  sandbox: Sandbox,
  body: string,
  { now = 0, ...opening }: Partial<Opening> & Readonly<{ now?: number }> = {},
): Promise<Ran> {
  const session = await aSession(sandbox, body, opening);
  const ran = await only(session, { now });
  session.close();
  return ran;
}

/** What one feed leads to. */
export async function only(session: GuestSession, feed: Feed): Promise<Ran> {
  const [ran] = await session.run([feed]);
  if (ran === undefined) throw new Error("The feed led to nothing.");
  return ran;
}

/** The value that a body returns at once. */
export async function valueIn(
  sandbox: Sandbox,
  body: string,
  options: Parameters<typeof ranIn>[2] = {},
): Promise<unknown> {
  const ran = await ranIn(sandbox, body, options);
  if (ran.kind === "ran" && ran.end && "value" in ran.end) return ran.end.value;
  throw new Error(`The body returned no value: ${JSON.stringify(ran)}`);
}
