import { instantFrom } from "../../definition/time/instant.ts";

/** Where instances that owe something stand in the due index. */
export const AT_ONCE = instantFrom(0);

/** Where the earliest timers stand, whatever their date: behind everything that is owed. */
export const AFTER_AT_ONCE = instantFrom(1);
