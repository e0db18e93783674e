/**
 * The most bytes that the bundle of a function may have. A cold start reads, compiles and runs all
 * of them before the first response, so what is not needed there does not belong in a bundle.
 *
 * Set from what was measured on 2026-11-17, Node 24.21.0 on two x86-64 cores that others used as
 * well: CPU time of `import()` in a fresh process, the least of eight runs, in milliseconds. A
 * client of the AWS SDK alone took 85 to 115.
 *
 *   http-api 217 (a quarter more with every locale of zod, 350 kB that are not needed)
 *   run-task 182, Secrets Manager included · advance 169, and the others about the same · compile 54
 *
 * Each of them has 150 kB more since patterns are matched by re2js: 7 ms (decision 19). The
 * function run-work has 80 kB more: it checks signals that events ask for by the shapes of the API.
 *
 * A test holds the bundles to the budgets, which leave about a tenth for growth.
 */
export const MAX_BUNDLE_BYTES = {
  "http-api": 1_580_000,
  "run-task": 1_470_000,
  advance: 1_340_000,
  "fire-timer": 1_340_000,
  "run-work": 1_420_000,
  sweep: 1_340_000,
  "dead-letters": 1_340_000,
  compile: 450_000,
} as const;
