// DBOS, "Human-in-the-loop" (agent inbox, an example in Python): an agent asks a person and waits for days.
// Changed: the published status, from which the inbox is made, is left out: an operator lists waits instead.
import { delay, event, race, step, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export const act = step("agent-act", async (task: string, context) => {
  did(context, task);
  return `done: ${task}`;
});

export const agent = workflow(
  "agent",
  async ({ task, patience = "7d" }: { task: string; patience?: string }) => {
    const answer = await race({
      answered: event<"approve" | "deny">("approval"),
      silence: delay(patience),
    });
    if (answer.key === "silence") return "timed out";
    return answer.value === "approve" ? act(task) : "denied";
  },
);
