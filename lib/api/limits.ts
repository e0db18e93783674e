// What one request may hold. Each is in the OpenAPI document or in a refusal that names it.

import { MAX_SOURCE_BYTES } from "../definition/limits.ts";

/** Bytes of a body, except where a workflow's source is sent. */
export const MAX_BODY_BYTES = 256 * 1024;

/** Bytes of the longest body that any call takes: a source in JSON, every character escaped. */
export const MAX_ANY_BODY_BYTES = 6 * MAX_SOURCE_BYTES;

/** How deep lists and objects of a body may be nested. */
export const MAX_JSON_DEPTH = 64;

/** Characters of an id or a name in a path or a query. */
export const MAX_ID_LENGTH = 255;

/** Characters of an id that the engine derived from another, such as that of a replayed event. */
export const MAX_MADE_ID_LENGTH = 1_024;

/** Characters of a cursor; ours are shorter. */
export const MAX_CURSOR_LENGTH = 2_048;

/** The default size of a page. */
export const DEFAULT_PAGE_SIZE = 50;

/** Longest wait for a result: gateways give up after about thirty seconds. */
export const MAX_WAIT_SECONDS = 25;

/** Characters of a reason, a failure's message, an error code. */
export const MAX_TEXT_LENGTH = 1_000;

/** The highest version of a definition, and the most retries, of a request. */
export const MAX_VERSION = 999_999_999;
export const MAX_RETRIES = 1_000;

/** Problems of a request that are listed one by one; the rest is counted. */
export const MAX_NAMED_PROBLEMS = 50;
