import type { Client, DeadLetterView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { describeEventAnswer } from "../describe-event-answer.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../lay-out.ts";
import { listUpTo } from "../list-up-to.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { printList } from "../print-list.ts";
import { programName } from "../program-name.ts";
import { clientFor, SERVER_OPTIONS, type Server, serverOf } from "../server.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";

/** Lists undelivered events, replays one, or removes one. */
export const deadLetters = command({
  name: "dead-letters",
  summary: "list undelivered events, replay or remove one",
  operands: ["[list|replay|remove]", "[ID]"],
  options: {
    name: { type: "string", value: "NAME", help: "list only events of this name" },
    limit: { type: "string", value: "NUMBER", help: "the maximum number to list; default 50" },
    ...SERVER_OPTIONS,
  },
  notes: [
    "`replay ID` broadcasts an event again to the instances that wait now; if none waits and events of",
    "its type are not kept, it stays a dead letter. `remove ID` deletes one. --json shows payloads.",
  ].join("\n"),
  run: async ({ values, operands, terminal }) => {
    const [action = "list", id] = operands;
    const limit = parseWholeNumber(values.limit ?? "50", { option: "limit", min: 1, max: 100_000 });
    const call = { client: clientFor(values, terminal), terminal, asJson: values.json ?? false };
    switch (action) {
      case "list":
        if (id !== undefined) throw new UsageError(`Unexpected argument "${id}". ${USAGE}`);
        await list(call, { limit, ...(values.name !== undefined && { name: values.name }) });
        return EXIT.ok;
      case "replay":
        await replay(call, demanded(id), serverOf(values, terminal));
        return EXIT.ok;
      case "remove":
        await remove(call, demanded(id));
        return EXIT.ok;
      default:
        throw new UsageError(`"${action}" is not list, replay or remove. ${USAGE}`);
    }
  },
});

type Call = Readonly<{ client: Client; terminal: Terminal; asJson: boolean }>;

const USAGE = "Usage: `fermata dead-letters --help`.";
const HEADINGS = ["ID", "EVENT", "AT", "TARGET", "REASON"];

function demanded(id: string | undefined): string {
  if (id !== undefined) return id;
  throw new UsageError(`ID is missing. ${USAGE}`);
}

async function list(
  { client, terminal, asJson }: Call,
  { limit, ...filter }: Readonly<{ limit: number; name?: string }>,
): Promise<void> {
  const letters = await listUpTo(limit, (page) => client.deadLetters({ ...filter, ...page }));
  printList(terminal, letters, { json: asJson, headings: HEADINGS, rowOf });
}

function rowOf({ id, name, at, target, targetStatus, reason }: DeadLetterView): readonly string[] {
  return [id, name, at, `${target} (${targetStatus})`, reason];
}

async function replay({ client, terminal, asJson }: Call, id: string, server: Server) {
  const answer = await client.replayDeadLetter(id);
  if (asJson) {
    printJson(terminal, answer);
    return;
  }
  const here = { program: programName(terminal), server };
  const became =
    answer.outcome === "dropped"
      ? "no instance waits for it; it stays a dead letter."
      : describeEventAnswer(answer, here);
  terminal.print(`${id} replayed (${answer.id}): ${became}`);
}

async function remove({ client, terminal, asJson }: Call, id: string): Promise<void> {
  const answer = await client.removeDeadLetter(id);
  if (asJson) printJson(terminal, answer);
  else terminal.print(`${id} is removed`);
}
