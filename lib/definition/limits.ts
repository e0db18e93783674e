// Everything that can grow has its limit here, by name. A test stands at each and one past it.

// Time

/** The longest duration, all its parts taken together as positive; a year counts 365.25 days. */
export const MAX_DURATION_YEARS = 100;

/** The most firings that a finite cycle may ask for; one that never ends is written without. */
export const MAX_REPETITIONS = 1_000_000;

/** The shortest interval of a cycle that never ends: below it, the cycle is a hot loop. */
export const MIN_UNBOUNDED_INTERVAL_MS = 1_000;

// Instances

/** Separate tickets that one instance may have open; more is a family's or a child's work. */
export const MAX_OPEN_TICKETS = 256;

/** Moves of control flow in one step; what is left goes on in a step of its own. */
export const MAX_TRANSITIONS_PER_STEP = 1_000;

/** Steps in a row that did nothing but go on; one more is taken for an endless loop. */
export const MAX_CONTINUATIONS = 10;

/** Characters of a fact's JSON that an incident keeps; above, the task is run again instead. */
export const MAX_KEPT_FACT_LENGTH = 4_096;

/** Characters of an error message that state and history keep. */
export const MAX_MESSAGE_LENGTH = 1_000;
