// Every rule that is left out once, to see that somebody notices.

import { ADOPT_MUTANTS } from "./adopt-mutants.ts";
import { CALL_FAMILY_MUTANTS } from "./call-family-mutants.ts";
import { CALL_MUTANTS } from "./call-mutants.ts";
import { FAMILY_MUTANTS } from "./family-mutants.ts";
import { HTTP_MUTANTS } from "./http-mutants.ts";
import { LISTING_MUTANTS } from "./listing-mutants.ts";
import { STEP } from "./mutants.ts";
import { OWN_QUEUE_MUTANTS } from "./own-queue-mutants.ts";
import { PEOPLE_MUTANTS } from "./people-mutants.ts";
import { RESTORE_MUTANTS } from "./restore-mutants.ts";
import { START_MUTANTS } from "./start-mutants.ts";
import { TALK_MUTANTS } from "./talk-mutants.ts";
import { TIMER_MUTANTS } from "./timer-mutants.ts";
import { VALUE_MUTANTS } from "./value-mutants.ts";
import { WORKER_MUTANTS } from "./worker-mutants.ts";

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
];
