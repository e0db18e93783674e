// Every rule that is left out once, to see that the simulation detects it.

import { ADOPT_MUTANTS } from "./adopt.ts";
import { BATCH_MUTANTS } from "./batch.ts";
import { CALL_MUTANTS } from "./call.ts";
import { CALL_BATCH_MUTANTS } from "./call-batch.ts";
import { CODE_MUTANTS } from "./code.ts";
import { HEAVY_MUTANTS } from "./heavy.ts";
import { HTTP_MUTANTS } from "./http.ts";
import { LISTING_MUTANTS } from "./listing.ts";
import { MESSAGING_MUTANTS } from "./messaging.ts";
import { OWN_QUEUE_MUTANTS } from "./own-queue.ts";
import { POISON_MUTANTS } from "./poison.ts";
import { STEP } from "./protocol.ts";
import { REFUSED_MUTANTS } from "./refused.ts";
import { RESTORE_MUTANTS } from "./restore.ts";
import { START_MUTANTS } from "./start.ts";
import { TIMER_MUTANTS } from "./timer.ts";
import { USER_TASK_MUTANTS } from "./user-task.ts";
import { VALUE_MUTANTS } from "./value.ts";
import { WORKER_MUTANTS } from "./worker.ts";

export const MUTANTS = [
  ...STEP,
  ...MESSAGING_MUTANTS,
  ...TIMER_MUTANTS,
  ...VALUE_MUTANTS,
  ...ADOPT_MUTANTS,
  ...RESTORE_MUTANTS,
  ...HTTP_MUTANTS,
  ...LISTING_MUTANTS,
  ...START_MUTANTS,
  ...CALL_MUTANTS,
  ...WORKER_MUTANTS,
  ...BATCH_MUTANTS,
  ...CALL_BATCH_MUTANTS,
  ...USER_TASK_MUTANTS,
  ...OWN_QUEUE_MUTANTS,
  ...REFUSED_MUTANTS,
  ...POISON_MUTANTS,
  ...HEAVY_MUTANTS,
  ...CODE_MUTANTS,
];
