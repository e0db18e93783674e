import { describe } from "vitest";
import { SIGNAL_SCENARIOS } from "./scenarios/signal.ts";
import { testEveryFault } from "./single-fault-tests.ts";

describe("a single fault among signals", () => testEveryFault(SIGNAL_SCENARIOS));
