import { describe } from "vitest";
import { aCode } from "../support/code-workflow.ts";
import { describeRunner } from "./runner.contract.ts";

const ROOMS = [
  ["the code runner", undefined],
  ["the code runner without sessions", { live: 0, idle: 0 }],
] as const;

describe.each(ROOMS)("%s", (name, room) => {
  describeRunner(name, {
    oneTask: () => aCode(`return task("work", input, { retry: { maxAttempts: 2 } });`, room),
    taskThenTimer: () =>
      aCode(`await task("work"); await delay("1h"); return task("after");`, room),
    race: () =>
      aCode(
        `const first = await race({ work: task("work"), late: delay("1h") });
         return task(first.key === "late" ? "too-late" : "on-time");`,
        room,
      ),
    signalled: () => aCode(`await signal("closed"); return task("after");`, room),
    messaged: () => aCode(`await message("paid", "42"); return task("after");`, room),
    firstOf: () =>
      aCode(
        `const { key } = await race({ signal: signal("closed"), message: message("paid", "42"), timer: delay("1h") });
         return task("on-" + key);`,
        room,
      ),
    assigned: "refused",
    exhausted: "failed",
    taken: "failed",
    patch: "refused",
  });
});
