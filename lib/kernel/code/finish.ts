/** How a workflow that has returned or thrown comes to its end. */
import type { GuestEnd, GuestError } from "../../definition/sandbox.ts";
import { closeTickets, type Draft, end, excerpt } from "../draft.ts";
import type { Ticket } from "../instance.ts";
import { lifeOf } from "./feed.ts";
import { isDeadline, isTimeout, operationsOf } from "./open-operations.ts";
import type { Sessions } from "./sessions.ts";
import { type CodeState, stateJson } from "./state.ts";
import { noteTerminated, openIn } from "./view.ts";

/** The workflow has returned or thrown. */
export function finish(sessions: Sessions, draft: Draft, state: CodeState, ended: GuestEnd): void {
  if ("error" in ended) {
    sessions.discard(lifeOf(draft));
    noteTerminated(draft, openIn(draft));
    end(draft, "failed", "failure", shortened(ended.error));
    return;
  }
  const isLeft = (open: Ticket) => isDeadline(open) || isWork(open) || isTimeout(state, open);
  noteTerminated(
    draft,
    draft.tickets.filter((open) => !isLeft(open)),
  );
  closeTickets(draft, (open) => !isLeft(open));
  const open = new Set(draft.tickets.filter(isWork).flatMap((it) => operationsOf(state, it)));
  const left = { ...state, r: ended.value, o: state.o.filter(([n]) => open.has(n)) };
  draft.state = stateJson(left);
  endWhenDone(sessions, draft, left);
}

/** As much of an error as state keeps; its name and stack are shortened with every error. */
const shortened = ({ message, code, ...traced }: GuestError): GuestError => ({
  ...traced,
  message: excerpt(message),
  ...(code !== undefined && { code: excerpt(code) }),
});

/** What still has to be done after the return: tasks that nobody waits for any more. */
const isWork = ({ on }: Ticket): boolean => on === "task" || on === "family" || on === "incident";

/** Whether tasks are open: its session is worth more than that of an instance that only waits. */
export const hasTasks = ({ tickets }: Draft): boolean =>
  tickets.some(({ on }) => on === "task" || on === "family");

/** Ends an instance that has returned and whose tasks are done. */
export function endWhenDone(sessions: Sessions, draft: Draft, state: CodeState): void {
  if (draft.tickets.some(isWork)) return;
  sessions.discard(lifeOf(draft));
  draft.state = stateJson({ ...state, o: [] });
  end(draft, "succeeded", "success");
}
