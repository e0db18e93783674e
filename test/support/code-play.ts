// Plays workflows in code: every play is made twice, with live sessions and by replay alone.
import { expect } from "vitest";
import type { Json } from "../../lib/definition/json.ts";
import type { Program } from "../../lib/kernel/runner.ts";
import { aCode } from "./code-workflow.ts";
import { type Play, play } from "./play.ts";

export type Script = (run: Play) => Promise<unknown>;
type Options = NonNullable<Parameters<typeof play>[1]>;

/** Room for no session: every decision replays the journal. */
export const NO_ROOM = { live: 0, idle: 0 };

/**
 * Plays the script, and plays it again without sessions: the instances must be equal to the byte.
 * Returns the first play.
 */
export async function run(
  body: string,
  script: Script = async () => {},
  options: Options = {},
): Promise<Play> {
  const sticky = await scripted(aCode(body), script, options);
  const replayed = await scripted(aCode(body, NO_ROOM), script, options);
  expect(JSON.stringify(replayed.instance)).toBe(JSON.stringify(sticky.instance));
  return sticky;
}

async function scripted(program: Program, script: Script, options: Options): Promise<Play> {
  const played = await play(program, options);
  await script(played);
  return played;
}

/** Completes the task of this type with any JSON. */
export function done(played: Play, type: string, result: Json = null) {
  const { id } = played.task(type);
  return played.deliver({ kind: "task-completed", ticket: id, variables: {}, result });
}

/** Fails the task of this type for good. */
export const broken = (played: Play, type: string, code = "BROKEN") =>
  played.fail(type, { code, message: `${type} broke` });

/** What the workflow has returned. */
export const resultOf = ({ program, instance }: Play): Json => program.runner.result(instance);

/** The incidents that are open, as `"TYPE: message"`. */
export const incidentsOf = ({ instance }: Play): readonly string[] =>
  instance.tickets.flatMap((open) =>
    open.on === "incident" ? [`${open.type}: ${open.message}`] : [],
  );
