// Everything that can grow has a named limit here, with a test at the limit and one past it. Not
// tested that way yet: the bounds on retries and on time, MAX_TIMERS_AT_ONCE and MAX_LIVE_COUNTED.

// Time

/** The longest duration, all its parts taken together as positive; a year counts 365.25 days. */
export const MAX_DURATION_YEARS = 100;

/** The most repetitions that a finite cycle may have; an unbounded cycle is written without a number. */
export const MAX_REPETITIONS = 1_000_000;

/** The shortest interval of a cycle: below it, the cycle is a hot loop. */
export const MIN_CYCLE_INTERVAL_MS = 1_000;

// Expressions

/** Work that all evaluations of one decision may do together: iterations, calls, parts of values. */
export const MAX_WORK_PER_DECISION = 5_000_000;

/** Time that all regular expressions of one decision may take together. */
export const MAX_PATTERN_MS_PER_DECISION = 1_000;

/** Work after which a commit takes no further decision; the next commit takes it. */
export const MAX_WORK_PER_COMMIT = 1_000_000;

// Instances

/** Separate tickets that one instance may have open; for more, use a batch or a called process. */
export const MAX_OPEN_TICKETS = 256;

/** Entries of the list that a loop goes through. */
export const MAX_LOOP_MEMBERS = 8_192;

/** Items of a multi-instance task that have a ticket each; with more items, all share one ticket. */
export const MAX_MEMBERS_APART = 10;

/** Items of a multi-instance activity that run at once, where each has tickets of its own. */
export const MAX_MEMBERS_AT_ONCE = 100;

/** With this many tickets open, failed items of a batch share an incident. */
export const MAX_TICKETS_OF_FAILED = 200;

/** Items of a batch that one message sends; larger batches are sent as several messages. */
export const MEMBERS_PER_PAGE = 100;

/** Depth of nested call activities; one more is taken for endless recursion. */
export const MAX_CALL_DEPTH = 100;

/** Moves of control flow in one step; the rest continues in a further step. */
export const MAX_TRANSITIONS_PER_STEP = 1_000;

/** Continuation steps in a row; one more is taken for an endless loop. */
export const MAX_CONTINUATIONS = 10;

/** Characters of a fact's JSON that an incident keeps; above, the task is run again instead. */
export const MAX_KEPT_FACT_LENGTH = 4_096;

/** Characters of an error message that state and history keep; of its name and stack, state alone. */
export const MAX_MESSAGE_LENGTH = 1_000;
export const MAX_ERROR_NAME_LENGTH = 200;
export const MAX_STACK_LENGTH = 2_000;

// Workflows in code

/** Operations that one workflow may have open; more are a `RangeError` in the workflow. */
export const MAX_OPEN_OPERATIONS = 256;

/** Operations of one run, and bytes of its journal; more are an incident. */
export const MAX_OPERATIONS_PER_RUN = 10_001;
export const MAX_JOURNAL_BYTES_PER_RUN = 8_000_000;

/** Outcomes in the journal of one run from which on its instance shows a warning. */
export const MANY_OUTCOMES_PER_RUN = 2_000;

/** Operations that one feed may emit, those that it closes included. */
export const MAX_OPERATIONS_PER_FEED = 2_000;

/** Promise jobs that one feed may run. */
export const MAX_JOBS_PER_FEED = 100_000;

/** Polls of the interpreter that one feed may use, and those of loading; a poll is 10,000 branches or calls. */
export const MAX_FUEL_PER_FEED = 2_000;

/** Workflows that keep their machine in memory: those with open tasks, and those that only wait. */
export const MAX_LIVE_SESSIONS = 128;
export const MAX_IDLE_SESSIONS = 16;

/**
 * Time after which a machine that does not come back from a feed is ended, with its thread; all others
 * in the thread wait for so long. What polls is stopped by its fuel long before.
 */
export const MAX_GUEST_MS = 3_000;

/** The same for loading a bundle, which may be large. */
export const MAX_LOAD_MS = 10_000;

/**
 * How often a feed or a load is made whose machine is lost through no fault of its own: as many other
 * workflows may end the thread, one after the other.
 */
export const MAX_LOST_TRIES = 10;

/** Memory of one machine. */
export const MAX_GUEST_BYTES = 64 * 1024 * 1024;

/** Stack of one machine. */
export const MAX_GUEST_STACK_BYTES = 256 * 1024;

/** Bytes of what one feed may return. */
export const MAX_GUEST_OUTPUT_BYTES = 4_000_000;

// The step protocol

/** Bytes of an instance at which it stops growing and raises an incident; values may be externalized. */
export const MAX_INSTANCE_BYTES = 256 * 1024;

/**
 * Bytes of all externalized values of one instance: reading the instance reads them too, and a
 * response that has them twice, as variables and as the result, must stay below 6 MB.
 */
export const MAX_VALUES_BYTES = 2_500_000;

/** Values of at most this many bytes stay in the instance: externalizing them would not pay. */
export const MIN_APART_BYTES = 512;

/** Where queues are in memory, and once it has ended, an instance keeps its values up to this size. */
export const MAX_WHOLE_BYTES = 64 * 1024;

/** DynamoDB bills a write by this many bytes. */
export const BILLED_BYTES = 1_024;

/** A value of more bytes than this is a blob. */
export const MAX_VALUE_ITEM_BYTES = 300_000;

/** Bytes of values that a host caches. */
export const MAX_REMEMBERED_VALUE_BYTES = 4_000_000;

/** An instance is billed in units of this many bytes: history spills before it crosses the next one. */
export const SPILL_BOUNDARY_BYTES = 1_024;

/** Less history than this stays in the instance: a separate chunk would not pay. */
export const MIN_CHUNK_BYTES = 128;

/** Bytes of the journal that one chunk takes; a longer outcome stays, or is externalized. */
export const MAX_CHUNK_JOURNAL_BYTES = 64 * 1024;

/** With more engine-run tasks open than this, outcomes are parked and taken together. */
export const MAX_OPEN_TASKS_BEFORE_PARKING = 4;

/** Tries of one outcome against a contended instance, before it is parked. */
export const MAX_TRIES_BEFORE_PARKING = 3;

/** Tries of a parked fact, before its message goes back to the queue. */
export const MAX_TRIES_OF_PARKED = 6;

/** The longest pause between two attempts to store the outcome of a task, in a process that holds it. */
export const MAX_HELD_PAUSE_MS = 5_000;

/** Attempts of a request against a contended instance, before its caller is asked to retry. */
export const MAX_TRIES_OF_DOOR = 24;

/** Steps that one invocation may run in place, and for how long. */
export const MAX_STEPS_IN_PLACE = 25;
export const MAX_MS_IN_PLACE = 30_000;

/**
 * Time that must be left of an invocation's lease, besides a task's timeout, to run the task in
 * place.
 */
export const LEASE_RESERVE_MS = 10_000;

/**
 * Crashes of a process in a row while the same step was running; then the step is set aside. The
 * first crash does not count: steps are watched from then on.
 */
export const MAX_DEATHS_WITH_STEP = 3;

/** Concurrent handlers of steps that were running at one crash; after a second crash each runs alone. */
export const MAX_SUSPECTS_AT_ONCE = 8;

/** How long a step waits before it is tried alone, so that an operator can cancel its instance. */
export const PAUSE_BEFORE_ALONE_MS = 10_000;

/** A handler that has run this long without a crash is not what crashes the process. */
export const WATCHED_HANDLER_MS = 5_000;

/** Failures in a row of a message in memory, store failures excluded; then it is set aside. */
export const MAX_FAILED_DELIVERIES = 5;

/**
 * Deliveries after which a message of a durable queue is handled alone, so that it cannot fail
 * others.
 */
export const MAX_DELIVERIES_TOGETHER = 3;

/**
 * Deliveries after which a message is set aside. Its queue allows ten: two are left to raise the
 * incident.
 */
export const MAX_DELIVERIES = 8;

/** Deliveries as a dead letter after which a task is set aside: its failure cannot be stored either. */
export const MAX_DELIVERIES_OF_DEAD = 5;

/** After this time a request has committed, or never will. */
export const MAX_CALL_MS = 1_800_000;

/** Timers that are due immediately fire in the step that armed them, up to this many. */
export const MAX_TIMERS_AT_ONCE = 100;

/** Tags of an instance, their characters, and those of its business key. */
export const MAX_TAGS = 16;
export const MAX_TAG_LENGTH = 64;
export const MAX_BUSINESS_KEY_LENGTH = 256;

/** Recent requests that an instance remembers. */
export const MAX_REMEMBERED_REQUESTS = 16;

/** Bytes of one part of a stored definition or source. */
export const PART_BYTES = 300_000;

/** Processes in one source. */
export const MAX_PROCESSES_PER_SOURCE = 20;

/** Attempts of a deployment, or of enabling or disabling a definition, under concurrent changes. */
export const MAX_TRIES_AT_DEFINITION = 10;

/** Live instances of a definition that are counted; beyond that, only that there are more. */
export const MAX_LIVE_COUNTED = 1_000;

// Sweep and timer wheel

/** What is overdue by this much counts as lost: the sweep sends it again. */
export const OVERDUE_MS = 60_000;

/** After this time the sweep starts over with the oldest, and sends again what is still there. */
export const SWEEP_ROUND_MS = 600_000;

/**
 * How far ahead the wheel queues timers: more than a few of its runs, less than the longest queue
 * delay.
 */
export const WHEEL_AHEAD_MS = 300_000;

/** Items of one slice that one run of the sweep or the wheel checks; the next run continues there. */
export const MAX_LOOKED_AT = 10_000;

/** Items that are checked concurrently. */
export const LOOKS_AT_ONCE = 50;

// Signals, messages, events

/** Characters of the name of a signal, a message or an event, and of a correlation key. */
export const MAX_NAME_LENGTH = 255;

/** Bytes of a task type or a definition id when percent-encoded, as it stands in keys. */
export const MAX_KEY_NAME_BYTES = 1_000;

/** Bytes of a payload, as JSON. */
export const MAX_PAYLOAD_BYTES = 100_000;

/** Waits for signals, messages and events that one step may open; the rest follows in later steps. */
export const MAX_WAITS_PER_STEP = 30;

/** Ranges of numbers that a wait which stays open keeps above its low-water mark. */
export const MAX_REMEMBERED_ABOVE = 64;

/** A broadcast to at most this many waits is delivered within the call, within this time. */
export const MAX_ROWS_IN_CALL = 200;
export const MAX_MS_IN_CALL = 2_000;

/** Rows in one page of a fan-out, pages in one batch of a shard, rows delivered at once. */
export const ROWS_PER_PAGE = 100;
export const PAGES_PER_TURN = 50;
export const ROWS_AT_ONCE = 50;

/** With more rows than this in one shard, new rows go to twice as many shards, up to the maximum. */
export const MAX_ROWS_PER_SHARD = 5_000;
export const MAX_SHARDS = 64;

/** A row without its instance belongs to a transaction in flight, up to this age. */
export const MAX_ROW_IN_FLIGHT_MS = 3_600_000;

/** After this time no message of a fan-out is left: queues give up before. */
export const MAX_FAN_OUT_MS = 14 * 86_400_000;

/**
 * How long a wait that missed a broadcast leaves itself to the broadcast's pages, which count it,
 * before it takes the broadcast uncounted: a page that died comes back several times within that.
 */
export const MAX_MS_FOR_PAGES = 15 * 60_000;

/** How long the receipt of a broadcast is kept. */
export const RECEIPT_MS = 15 * 86_400_000;

/**
 * Messages that a mailbox buffers, and their bytes; ids that it remembers, and for how long at
 * least.
 */
export const MAX_BUFFERED_MESSAGES = 50;
export const MAX_MAILBOX_BYTES = 300_000;
export const MAX_REMEMBERED_MESSAGES = 128;
export const MIN_MESSAGE_MEMORY_MS = 86_400_000;

/** Process ids that may wait for the same message and key. */
export const MAX_WAITERS_PER_MAILBOX = 8;

/** How long a message is kept by default. */
export const DEFAULT_TIME_TO_LIVE = "PT1H";

/** Events that an instance keeps unread, their bytes, and ids that it remembers. */
export const MAX_INBOX_EVENTS = 64;
export const MAX_INBOX_BYTES = 8_192;
export const MAX_REMEMBERED_EVENTS = 64;

/** Broadcast events of one name that are kept. */
export const MAX_KEPT_EVENTS = 10_000;

/** How long a dead letter is kept. */
export const DEAD_LETTER_MS = 30 * 86_400_000;

// User tasks

/** Candidate users, and candidate groups, of one task; each adds a row to the lists. */
export const MAX_CANDIDATES = 30;

// Workers

/**
 * The longest lock of a task without an extension, the most tasks of one poll, the longest long
 * poll.
 */
export const MAX_LOCK_SECONDS = 43_200;
export const DEFAULT_LOCK_SECONDS = 60;
export const MAX_ACTIVATED = 100;
export const MAX_WAIT_SECONDS = 25;

/** Bytes of tasks after which a poll takes no more; the last task may be as large as a task can be. */
export const MAX_ACTIVATED_BYTES = 1_500_000;

/** How long a host may use what it has cached of a task type. */
export const TASK_TYPE_MEMORY_MS = 10_000;

/** How long a poll skips a task whose instance could not be read. */
export const UNREADABLE_TASK_REST_MS = 60_000;

/** Rows that a poll loses to other polls before it spreads them over more shards. */
export const MAX_LOST_ROWS = 8;

/** Shards that one page of a list of tasks reads. */
export const MAX_SHARDS_PER_PAGE = 128;

/** Bytes of a task that is sent to a queue of the user. */
export const MAX_OWN_QUEUE_BYTES = 256 * 1024;

// Queues

/** Bytes of a queued message; a longer body is stored as a blob, and the queue carries its name. */
export const MAX_QUEUED_BODY_BYTES = 60 * 1024;

/** The longest delay of a queue; a message that is due later is re-checked and delayed again. */
export const MAX_QUEUE_DELAY_MS = 900_000;

// Sources

/** Bytes of one source text, as UTF-8. */
export const MAX_SOURCE_BYTES = 1_048_576;

/** XML elements of one BPMN file, its diagram included. */
export const MAX_XML_ELEMENTS = 30_000;

/** XML elements inside each other, the root counted. */
export const MAX_XML_DEPTH = 64;

/** Characters of the id of a process, a flow element or a flow. */
export const MAX_ELEMENT_ID_LENGTH = 255;

/** Characters of the name of a process or an element, of an error code, of a form's id or key. */
export const MAX_LABEL_LENGTH = 1_000;

/** Diagnostics that one compilation lists; of the others it gives only the number. */
export const MAX_DIAGNOSTICS = 200;

// Retention

/** How long an ended instance and its history are kept, by default and at least. */
export const DEFAULT_RETENTION_MS = 30 * 86_400_000;
export const MIN_RETENTION_MS = 15 * 86_400_000;

/** Expired items that a store removes in one go. */
export const MAX_PURGED_AT_ONCE = 500;

// Requests

/** Lists and objects inside each other in one value. */
export const MAX_VALUE_DEPTH = 200;

/** Bytes of a page as JSON, its last item not counted: Lambda answers with at most 6 MB. */
export const MAX_PAGE_BYTES = 4_000_000;

/** Items of a page. */
export const MAX_PAGE_SIZE = 200;

/** Items that one bulk call handles by default. */
export const DEFAULT_BULK_SIZE = 50;

/**
 * Time after which a bulk call handles no further item: a gateway gives up after 29 s, and the last
 * item needs some time, too.
 */
export const MAX_BULK_MS = 20_000;

/** Items that a recovery report names because it could not read or fully recover them; it counts all. */
export const MAX_TROUBLES_TOLD = 20;

/** Instances that a page of a list reads beyond those it may show; then it is cut short. */
export const MAX_READ_BEYOND_PAGE = 29;

// HTTP tasks

/** Bytes of the body of a request, and of an answer once it is unpacked. */
export const MAX_HTTP_BODY_BYTES = 1_000_000;

/** Headers of a request, and the characters of their names and values. */
export const MAX_HTTP_HEADERS = 64;
export const MAX_HTTP_HEADER_LENGTH = 16_000;

/** Bytes of the headers of an answer. */
export const MAX_HTTP_ANSWER_HEADER_BYTES = 16_384;

/** Characters of a URL. */
export const MAX_URL_LENGTH = 8_000;

/** Redirects that one call follows. */
export const MAX_REDIRECTS = 5;

/** The default and the longest timeout of an HTTP call: it is a short task. */
export const DEFAULT_HTTP_TIMEOUT_MS = 20_000;
export const MAX_HTTP_TIMEOUT_MS = 40_000;

/** The fewest characters of a secret: a shorter text could not be recognized in a response. */
export const MIN_SECRET_LENGTH = 8;
