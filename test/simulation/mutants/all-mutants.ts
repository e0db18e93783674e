// Every rule that is left out once, to see that somebody notices.

import { ADOPT_MUTANTS } from "./adopt.ts";
import { CALL_MUTANTS } from "./call.ts";
import { CALL_FAMILY_MUTANTS } from "./call-family.ts";
import { FAMILY_MUTANTS } from "./family.ts";
import { HTTP_MUTANTS } from "./http.ts";
import { LISTING_MUTANTS } from "./listing.ts";
import { OWN_QUEUE_MUTANTS } from "./own-queue.ts";
import { PEOPLE_MUTANTS } from "./people.ts";
import { POISON_MUTANTS } from "./poison.ts";
import { STEP } from "./protocol.ts";
import { REFUSED_MUTANTS } from "./refused.ts";
import { RESTORE_MUTANTS } from "./restore.ts";
import { START_MUTANTS } from "./start.ts";
import { TALK_MUTANTS } from "./talk.ts";
import { TIMER_MUTANTS } from "./timer.ts";
import { VALUE_MUTANTS } from "./value.ts";
import { WORKER_MUTANTS } from "./worker.ts";

export const MUTANTS = [
  ...STEP,
  ...TALK_MUTANTS,
  ...TIMER_MUTANTS,
  ...VALUE_MUTANTS,
  ...ADOPT_MUTANTS,
  ...RESTORE_MUTANTS,
  ...HTTP_MUTANTS,
  ...LISTING_MUTANTS,
  ...START_MUTANTS,
  ...CALL_MUTANTS,
  ...WORKER_MUTANTS,
  ...FAMILY_MUTANTS,
  ...CALL_FAMILY_MUTANTS,
  ...PEOPLE_MUTANTS,
  ...OWN_QUEUE_MUTANTS,
  ...REFUSED_MUTANTS,
  ...POISON_MUTANTS,
];
