/**
 * Start events with a signal or a message in one source: their names are computed, and what they
 * listen for is stored, while the source is deployed.
 */
export const MAX_TRIGGERED_STARTS = 20;

/** Characters of a version tag. */
export const MAX_TAG_LENGTH = 255;
