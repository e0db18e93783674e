/**
 * Start events with a definition in one source: their names and timers are computed, and their
 * subscriptions are stored, while the source is deployed.
 */
export const MAX_TRIGGERED_STARTS = 20;

/** Characters of a version tag. */
export const MAX_TAG_LENGTH = 255;
