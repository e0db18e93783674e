// Temporal, samples-typescript "timer-examples" and "Updatable Timer Pattern": a countdown whose deadline
// is moved from outside. Changed: a loop over a race instead of `condition`; the query is left out.
import { event, now, race, sleepUntil, workflow } from "fermata-engine/workflow";

export const countdown = workflow("countdown", async (first: string) => {
  let deadline = first;
  for (let moves = 0; ; moves++) {
    const next = await race({
      moved: event<string>("set-deadline"),
      over: sleepUntil(deadline),
    });
    if (next.key === "over") return { moves, endedAt: now() };
    deadline = next.value;
  }
});
