import { describe } from "vitest";
import { CALL_SCENARIOS } from "./scenarios/call.ts";
import { testEveryFault } from "./single-fault-tests.ts";

describe("R14 S4 a single fault among callers and children", () => testEveryFault(CALL_SCENARIOS));
