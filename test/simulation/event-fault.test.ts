import { describe } from "vitest";
import { EVENT_SCENARIOS } from "./event-scenarios.ts";
import { testEveryFault } from "./single-fault-tests.ts";

describe("a single fault among events", () => testEveryFault(EVENT_SCENARIOS));
