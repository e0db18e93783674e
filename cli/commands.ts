import type { Command } from "./command.ts";
import { cancel } from "./commands/cancel.ts";
import { claim } from "./commands/claim.ts";
import { complete } from "./commands/complete.ts";
import { cost } from "./commands/cost.ts";
import { deadLetters } from "./commands/dead-letters.ts";
import { deploy } from "./commands/deploy.ts";
import { dev } from "./commands/dev.ts";
import { erase } from "./commands/erase.ts";
import { event } from "./commands/event.ts";
import { eventType } from "./commands/event-type.ts";
import { fail } from "./commands/fail.ts";
import { history } from "./commands/history.ts";
import { incidents } from "./commands/incidents.ts";
import { listing } from "./commands/listing.ts";
import { ls } from "./commands/ls.ts";
import { message } from "./commands/message.ts";
import { purge } from "./commands/purge.ts";
import { receipt } from "./commands/receipt.ts";
import { recover } from "./commands/recover.ts";
import { resolve } from "./commands/resolve.ts";
import { schedules } from "./commands/schedules.ts";
import { set } from "./commands/set.ts";
import { show } from "./commands/show.ts";
import { signal } from "./commands/signal.ts";
import { start } from "./commands/start.ts";
import { tasks } from "./commands/tasks.ts";
import { unclaim } from "./commands/unclaim.ts";
import { validate } from "./commands/validate.ts";
import { why } from "./commands/why.ts";

/** Every command, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  dev,
  validate,
  cost,
  deploy,
  start,
  ls,
  show,
  why,
  history,
  tasks,
  claim,
  unclaim,
  complete,
  fail,
  signal,
  message,
  event,
  eventType,
  receipt,
  deadLetters,
  incidents,
  resolve,
  set,
  schedules,
  listing,
  cancel,
  erase,
  purge,
  recover,
];
