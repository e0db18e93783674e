// Everything that can grow has its limit here, by name, and a test at it and one past it. Still
// without: the bounds on tries and on time, MAX_TIMERS_AT_ONCE and MAX_LIVE_COUNTED.

// Time

/** The longest duration, all its parts taken together as positive; a year counts 365.25 days. */
export const MAX_DURATION_YEARS = 100;

/** The most firings that a finite cycle may ask for; one that never ends is written without. */
export const MAX_REPETITIONS = 1_000_000;

/** The shortest interval of a cycle: below it, the cycle is a hot loop. */
export const MIN_CYCLE_INTERVAL_MS = 1_000;

// Expressions

/** What all evaluations of one decision may do together: iterations, calls, parts of values. */
export const MAX_WORK_PER_DECISION = 5_000_000;

/** Time that all regular expressions of one decision may take together. */
export const MAX_PATTERN_MS_PER_DECISION = 1_000;

/** Work after which a commit takes no further decision; the next commit does. */
export const MAX_WORK_PER_COMMIT = 1_000_000;

// Instances

/** Separate tickets that one instance may have open; more is a family's or a child's work. */
export const MAX_OPEN_TICKETS = 256;

/** Entries of the list that a loop goes through. */
export const MAX_LOOP_MEMBERS = 8_192;

/** Members of a loop over tasks that have a ticket each; with more of them, all share one. */
export const MAX_MEMBERS_APART = 10;

/** Members of a loop that are under way at once, where each has tickets of its own. */
export const MAX_MEMBERS_AT_ONCE = 100;

/** With this many tickets open, failed members of a family share an incident. */
export const MAX_TICKETS_OF_FAILED = 200;

/** Members of a family that one message sends; of more, the messages are sent by page. */
export const MEMBERS_PER_PAGE = 100;

/** Calls that wait for each other, one inside the other; one more is taken for endless recursion. */
export const MAX_CALL_DEPTH = 100;

/** Moves of control flow in one step; what is left goes on in a step of its own. */
export const MAX_TRANSITIONS_PER_STEP = 1_000;

/** Steps in a row that did nothing but go on; one more is taken for an endless loop. */
export const MAX_CONTINUATIONS = 10;

/** Characters of a fact's JSON that an incident keeps; above, the task is run again instead. */
export const MAX_KEPT_FACT_LENGTH = 4_096;

/** Characters of an error message that state and history keep; of its name and stack, state alone. */
export const MAX_MESSAGE_LENGTH = 1_000;
export const MAX_ERROR_NAME_LENGTH = 200;
export const MAX_STACK_LENGTH = 2_000;

// The step protocol

/** Bytes of an instance at which it stops growing and raises an incident; values may stand apart. */
export const MAX_INSTANCE_BYTES = 256 * 1024;

/**
 * Bytes of all values that stand apart from one instance: whoever reads it reads them too, and an
 * answer that has them twice, as variables and as the result, must stay below 6 MB.
 */
export const MAX_VALUES_BYTES = 2_500_000;

/** Values of at most this many bytes stay inside: to store them apart would not pay. */
export const MIN_APART_BYTES = 512;

/** Where queues are in memory, and at the end, an instance keeps its values up to this size. */
export const MAX_WHOLE_BYTES = 64 * 1024;

/** DynamoDB bills a write by this many bytes. */
export const BILLED_BYTES = 1_024;

/** A value of more bytes than this is a blob. */
export const MAX_VALUE_ITEM_BYTES = 300_000;

/** Bytes of values that a host remembers, having read them once. */
export const MAX_REMEMBERED_VALUE_BYTES = 4_000_000;

/** An instance is billed by this many bytes: history spills where it would cross one more. */
export const SPILL_BOUNDARY_BYTES = 1_024;

/** Less history than this stays where it is: a chunk of its own would not pay. */
export const MIN_CHUNK_BYTES = 128;

/** Bytes of the journal that leave with one chunk; a longer outcome stays, or stands apart. */
export const MAX_CHUNK_JOURNAL_BYTES = 64 * 1024;

/** With more engine-run tasks open than this, outcomes are parked and taken together. */
export const MAX_OPEN_TASKS_BEFORE_PARKING = 4;

/** Tries of one outcome against a contended instance, before it is parked. */
export const MAX_TRIES_BEFORE_PARKING = 3;

/** Tries of a parked fact, before its message goes back to the queue. */
export const MAX_TRIES_OF_PARKED = 6;

/** The longest pause between two tries to store what came of a task, in a process that holds it. */
export const MAX_HELD_PAUSE_MS = 5_000;

/** Tries of a call against a contended instance, before its caller is asked to come again. */
export const MAX_TRIES_OF_DOOR = 24;

/** Steps that one invocation may take in place, and for how long. */
export const MAX_STEPS_IN_PLACE = 25;
export const MAX_MS_IN_PLACE = 30_000;

/** What must be left of an invocation's lease, besides a task's timeout, to run it in place. */
export const LEASE_RESERVE_MS = 10_000;

/**
 * Deaths of a process in a row while the same step was under way; then it is set aside. The first
 * death is not among them: steps are watched from then on.
 */
export const MAX_DEATHS_WITH_STEP = 3;

/** Handlers at once of those that were under way at one death; after a second one each is alone. */
export const MAX_SUSPECTS_AT_ONCE = 8;

/** How long a step waits that is about to be tried alone, so that an operator can cancel its instance. */
export const PAUSE_BEFORE_ALONE_MS = 10_000;

/** A handler that has not harmed the process for so long is not what kills it. */
export const WATCHED_HANDLER_MS = 5_000;

/** Failures in a row of a message in memory, other than of the store; then it is set aside. */
export const MAX_FAILED_DELIVERIES = 5;

/** Deliveries after which a message of a queue that lasts is taken alone: others must not die with it. */
export const MAX_DELIVERIES_TOGETHER = 3;

/** Deliveries after which it is set aside. Its queue allows ten: two are left to raise the incident. */
export const MAX_DELIVERIES = 8;

/** Deliveries as a dead letter after which a task is set aside: not even its failure can be taken. */
export const MAX_DELIVERIES_OF_DEAD = 5;

/** After this time a call has committed, or never will. */
export const MAX_CALL_MS = 1_800_000;

/** Timers that are due at once are taken in the step that opened them, up to this many. */
export const MAX_TIMERS_AT_ONCE = 100;

/** Tags of an instance, their characters, and those of its business key. */
export const MAX_TAGS = 16;
export const MAX_TAG_LENGTH = 64;
export const MAX_BUSINESS_KEY_LENGTH = 256;

/** Door requests that an instance remembers. */
export const MAX_REMEMBERED_REQUESTS = 16;

/** Bytes of one part of a stored definition or source. */
export const PART_BYTES = 300_000;

/** Processes in one source. */
export const MAX_PROCESSES_PER_SOURCE = 20;

/** Tries of a deployment, or of a switch on a definition, while others change it too. */
export const MAX_TRIES_AT_DEFINITION = 10;

/** Live instances of a definition that are counted; of more it is only said that there are. */
export const MAX_LIVE_COUNTED = 1_000;

// What no queue holds

/** What is overdue by this much was lost on its way: the sweep sends it again. */
export const OVERDUE_MS = 60_000;

/** After this time the sweep begins again with the oldest, and sends what is still there once more. */
export const SWEEP_ROUND_MS = 600_000;

/** How far ahead the wheel queues timers: more than a few of its turns, less than a queue reaches. */
export const WHEEL_AHEAD_MS = 300_000;

/** Items of one slice that a sweep, or a turn of the wheel, looks at; the next one goes on there. */
export const MAX_LOOKED_AT = 10_000;

/** Items that are looked at together. */
export const LOOKS_AT_ONCE = 50;

// Signals, messages, events

/** Characters of the name of a signal, a message or an event, and of a correlation key. */
export const MAX_NAME_LENGTH = 255;

/** Bytes that a type of task or an id of a definition may take percent-encoded, as keys hold them. */
export const MAX_KEY_NAME_BYTES = 1_000;

/** Bytes of a payload, as JSON. */
export const MAX_PAYLOAD_BYTES = 100_000;

/** Waits for signals, messages and events that one step may open; what is left goes on later. */
export const MAX_WAITS_PER_STEP = 30;

/** Runs of numbers that a wait which stays open remembers above its low-water mark. */
export const MAX_REMEMBERED_ABOVE = 64;

/** A broadcast to at most this many is delivered within the call, if that takes no longer. */
export const MAX_ROWS_IN_CALL = 200;
export const MAX_MS_IN_CALL = 2_000;

/** Rows in one page of a fan-out, pages that a shard is read on in one go, rows at once. */
export const ROWS_PER_PAGE = 100;
export const PAGES_PER_TURN = 50;
export const ROWS_AT_ONCE = 50;

/** More rows than this in one shard, and new ones go to twice as many shards, up to the most. */
export const MAX_ROWS_PER_SHARD = 5_000;
export const MAX_SHARDS = 64;

/** A row without its instance is somebody's transaction under way, up to this age. */
export const MAX_ROW_IN_FLIGHT_MS = 3_600_000;

/** After this time every part of a fan-out has come and gone: queues give up before. */
export const MAX_FAN_OUT_MS = 14 * 86_400_000;

/**
 * How long a wait that missed a broadcast leaves itself to the broadcast's pages, which count it,
 * before it takes the broadcast uncounted: a page that died comes back several times within that.
 */
export const MAX_MS_FOR_PAGES = 15 * 60_000;

/** How long the receipt of a broadcast is kept. */
export const RECEIPT_MS = 15 * 86_400_000;

/** Messages that a mailbox keeps, and their bytes; ids that it remembers, and how long at least. */
export const MAX_BUFFERED_MESSAGES = 50;
export const MAX_MAILBOX_BYTES = 300_000;
export const MAX_REMEMBERED_MESSAGES = 128;
export const MIN_MESSAGE_MEMORY_MS = 86_400_000;

/** Process ids that may wait for the same message and key. */
export const MAX_WAITERS_PER_MAILBOX = 8;

/** How long a message is kept unless it says so itself. */
export const DEFAULT_TIME_TO_LIVE = "PT1H";

/** Events that an instance keeps unread, their bytes, and ids that it remembers. */
export const MAX_INBOX_EVENTS = 64;
export const MAX_INBOX_BYTES = 8_192;
export const MAX_REMEMBERED_EVENTS = 64;

/** Broadcast events of one name that are kept. */
export const MAX_KEPT_EVENTS = 10_000;

/** How long a dead letter is kept. */
export const DEAD_LETTER_MS = 30 * 86_400_000;

// People

/** Candidate users, and candidate groups, of one task; each is a row by which it is found. */
export const MAX_CANDIDATES = 30;

// Workers

/** How long a worker may lock a task without a word, how many it may take at once, how long it may wait. */
export const MAX_LOCK_SECONDS = 43_200;
export const DEFAULT_LOCK_SECONDS = 60;
export const MAX_ACTIVATED = 100;
export const MAX_WAIT_SECONDS = 25;

/** Bytes of tasks with which a poll takes no more; the last of them may be as heavy as a task can be. */
export const MAX_ACTIVATED_BYTES = 1_500_000;

/** How long a host may go by what it has read of a type of task. */
export const TASK_TYPE_MEMORY_MS = 10_000;

/** How long a task rests whose instance a poll could not read, before a poll looks at it again. */
export const UNREADABLE_TASK_REST_MS = 60_000;

/** Rows that a poll loses to others before it spreads them wider. */
export const MAX_LOST_ROWS = 8;

/** Shards that one page of a list of tasks reads. */
export const MAX_SHARDS_PER_PAGE = 128;

/** Bytes of a task that is put into a queue of the user's own. */
export const MAX_OWN_QUEUE_BYTES = 256 * 1024;

// Queues

/** Bytes of a queued message; a longer one is kept outside, and the queue carries its name. */
export const MAX_QUEUED_BODY_BYTES = 60 * 1024;

/** The longest time that a queue holds a message back; what is due later is looked at again. */
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

/** Diagnostics that one compilation lists; of the others it tells only the number. */
export const MAX_DIAGNOSTICS = 200;

// Retention

/** How long an ended instance and its history are kept, unless said, and at the least. */
export const DEFAULT_RETENTION_MS = 30 * 86_400_000;
export const MIN_RETENTION_MS = 15 * 86_400_000;

/** Expired items that a store removes in one go. */
export const MAX_PURGED_AT_ONCE = 500;

// Requests

/** Lists and objects inside each other in one value. */
export const MAX_VALUE_DEPTH = 200;

/** Bytes of a page as JSON, one item apart: what a door of AWS lets through is 6 MB. */
export const MAX_PAGE_BYTES = 4_000_000;

/** Items of a page. */
export const MAX_PAGE_SIZE = 200;

/** Of those that are dealt with in one call, where nobody says how many. */
export const DEFAULT_BULK_SIZE = 50;

/** Items that a recovery names because it could not read or wholly see to them; it counts all. */
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

/** How long an HTTP call may take unless it says so itself, and at the most: it is a short task. */
export const DEFAULT_HTTP_TIMEOUT_MS = 20_000;
export const MAX_HTTP_TIMEOUT_MS = 40_000;

/** Characters of a secret at the least: a shorter text could not be told from others in an answer. */
export const MIN_SECRET_LENGTH = 8;
