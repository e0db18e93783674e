import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { parseChoice } from "../parse-choice.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Shows or raises the number of shards of a definition's listing. */
export const listing = command({
  name: "listing",
  summary: "show or raise the number of shards of a definition's listing",
  operands: ["DEFINITION"],
  options: {
    shards: {
      type: "string",
      value: "NUMBER",
      help: "a power of two up to 64; it can only grow",
    },
    ...SERVER_OPTIONS,
  },
  notes: [
    "One shard takes about 500 instances a second. Raise the number when the listing index of a",
    "deployed engine is throttled. Every list reads all shards.",
  ].join("\n"),
  run: async ({ values, operands: [definition = ""], terminal }) => {
    const client = clientFor(values, terminal);
    const found =
      values.shards === undefined
        ? await client.listing(definition)
        : await client.setListing(definition, {
            shards: Number(parseChoice(values.shards, POWERS)),
          });
    if (values.json) printJson(terminal, found);
    else {
      printFacts(terminal, [
        ["definition", found.definition],
        ["shards", String(found.shards)],
      ]);
    }
    return EXIT.ok;
  },
});

const POWERS = { option: "shards", choices: ["1", "2", "4", "8", "16", "32", "64"] } as const;
