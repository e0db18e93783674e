import { describe } from "vitest";
import { CODE_SCENARIOS } from "./scenarios/code.ts";
import { testEveryFault } from "./single-fault-tests.ts";

/** Several instances that take turns in one session: random faults are enough for these. */
const CROWDED = "code-evicted";

describe("D2: a single fault among workflows in code", () =>
  testEveryFault(CODE_SCENARIOS.filter(({ name }) => name !== CROWDED)));
