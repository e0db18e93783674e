import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { parseChoice } from "../parse-choice.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Shows over how many shards the instances of a definition are listed, or says how many it should be. */
export const listing = command({
  name: "listing",
  summary: "show or raise the shards that a definition's instances are listed in",
  operands: ["DEFINITION"],
  options: {
    shards: {
      type: "string",
      value: "NUMBER",
      help: "a power of two up to 64; it only grows",
    },
    ...SERVER_OPTIONS,
  },
  notes: [
    "One shard takes some 500 changes a second: starts, ends, incidents. Raise the number when the",
    "listing index of a deployed engine throttles. Every list reads all shards.",
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
