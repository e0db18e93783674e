import { describe } from "vitest";
import { EVENT_SCENARIOS } from "./scenarios/event.ts";
import { testEveryFault } from "./single-fault-tests.ts";

describe("a single fault among events", () => testEveryFault(EVENT_SCENARIOS));
