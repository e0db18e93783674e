import type { Command } from "./command.ts";
import { cancel } from "./commands/cancel.ts";
import { deploy } from "./commands/deploy.ts";
import { dev } from "./commands/dev.ts";
import { history } from "./commands/history.ts";
import { ls } from "./commands/ls.ts";
import { show } from "./commands/show.ts";
import { start } from "./commands/start.ts";
import { validate } from "./commands/validate.ts";
import { why } from "./commands/why.ts";

/** Every command, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  dev,
  validate,
  deploy,
  start,
  ls,
  show,
  why,
  history,
  cancel,
];
