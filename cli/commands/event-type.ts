import type { EventConfig, EventTypeView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { printFacts, printJson } from "../lay-out.ts";
import { parseChoice } from "../parse-choice.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Shows or declares how events of a name behave. */
export const eventType = command({
  name: "event-type",
  summary: "show or declare how events of a name behave",
  operands: ["NAME"],
  options: {
    "consume-on-read": {
      type: "string",
      value: "true|false",
      help: "true (default): one wait gets a broadcast event; false: all of them",
    },
    "delivery-mode": {
      type: "string",
      value: "MODE",
      help: "AfterWait (default), AfterCreate or All: which waits a broadcast event reaches",
    },
    "expire-after": {
      type: "string",
      value: "DURATION",
      help: "how long an event is kept; default P7D",
    },
    "on-target-terminated": {
      type: "string",
      value: "WHAT",
      help: "discard (default), broadcast or deadLetter: for events unread when their target ends",
    },
    ...SERVER_OPTIONS,
  },
  notes: [
    "Without these four options the command shows the event type. With at least one of them it",
    "declares the type, and omitted options are reset to their defaults.",
  ].join("\n"),
  run: async ({ values, operands: [name = ""], terminal }) => {
    const config = configOf(values);
    const client = clientFor(values, terminal);
    const isAsking = Object.keys(config).length === 0;
    const type = isAsking ? await client.eventType(name) : await client.setEventType(name, config);
    if (values.json) printJson(terminal, type);
    else printFacts(terminal, factsOf(type));
    return EXIT.ok;
  },
});

type Given = Readonly<{
  "consume-on-read"?: string;
  "delivery-mode"?: string;
  "expire-after"?: string;
  "on-target-terminated"?: string;
}>;

function configOf({
  "consume-on-read": consumeOnRead,
  "delivery-mode": deliveryMode,
  "expire-after": expireAfter,
  "on-target-terminated": onTargetTerminated,
}: Given): Partial<EventConfig> {
  return {
    ...(consumeOnRead !== undefined && {
      consumeOnRead: parseChoice(consumeOnRead, YES_OR_NO) === "true",
    }),
    ...(deliveryMode !== undefined && { deliveryMode: parseChoice(deliveryMode, MODES) }),
    ...(expireAfter !== undefined && { expireAfter }),
    ...(onTargetTerminated !== undefined && {
      onTargetTerminated: parseChoice(onTargetTerminated, FATES),
    }),
  };
}

const YES_OR_NO = { option: "consume-on-read", choices: ["true", "false"] } as const;
const MODES = { option: "delivery-mode", choices: ["AfterWait", "AfterCreate", "All"] } as const;
const FATES = {
  option: "on-target-terminated",
  choices: ["discard", "broadcast", "deadLetter"],
} as const;

function factsOf(type: EventTypeView): readonly (readonly [string, string])[] {
  return [
    ["event", type.name],
    ["declared", type.declared ? "yes" : "no, these are the defaults"],
    ["consume on read", String(type.consumeOnRead)],
    ["delivery mode", type.deliveryMode],
    ["expire after", type.expireAfter],
    ["on target terminated", type.onTargetTerminated],
  ];
}
