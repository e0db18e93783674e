import { describe } from "vitest";
import { MESSAGE_SCENARIOS } from "./scenarios/message.ts";
import { testEveryFault } from "./single-fault-tests.ts";

describe("a single fault among messages", () => testEveryFault(MESSAGE_SCENARIOS));
