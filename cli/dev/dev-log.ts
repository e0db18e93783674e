import type { RecoveryReport, TrailNews } from "../../lib/embedded/index.ts";
import { describeEntry } from "../describe-entry.ts";
import type { Terminal } from "../terminal.ts";

/** The log of `fermata dev`: in words, or as JSON lines. */
export type DevLog = Readonly<{
  recovered(found: Recovered): void;
  ready(server: Readonly<{ url: string; dataDir: string; clock: string }>): void;
  note(text: string): void;
  step(news: TrailNews): void;
  trouble(message: string): void;
}>;

/** What an earlier run left in the data folder, and what recovery did about it. */
export type Recovered = Readonly<{ live: Readonly<{ count: number; more: boolean }> }> &
  RecoveryReport;

/** Writes the log for people. */
export function logInWords({ print, complain, mark }: Terminal): DevLog {
  return {
    recovered: (found) => {
      const text = describeRecovery(found);
      if (text !== undefined) print(text);
    },
    ready: ({ url, dataDir, clock }) =>
      print(mark("good", `Fermata is ready at ${url} (data in ${dataDir}, clock ${clock})`)),
    note: (text) => print(text),
    step: (news) => {
      // Flows connect two elements that are shown; `fermata history` lists them.
      if (news.type === "flow-taken") return;
      print(`${mark("faint", timeOf(news.at))}  ${news.instanceId}  ${describeEntry(news)}`);
    },
    trouble: (message) => complain(`fermata: ${message}`),
  };
}

/** Writes the log for programs, one JSON object per line. */
export function logAsJson({ print, complain }: Terminal): DevLog {
  return {
    recovered: (found) => print(JSON.stringify({ event: "recovered", ...found })),
    ready: (server) => print(JSON.stringify({ event: "ready", ...server })),
    note: (text) => print(JSON.stringify({ event: "note", text })),
    step: (news) => print(JSON.stringify({ event: "step", ...news })),
    trouble: (message) => complain(JSON.stringify({ event: "trouble", message })),
  };
}

/** A first run has nothing to recover, which is not worth a line. */
function describeRecovery({ live, ...report }: Recovered): string | undefined {
  const done = [
    counted(report.resumed, "instance resumed", "instances resumed"),
    counted(report.rearmed, "timer armed again", "timers armed again"),
    counted(report.timersFired, "overdue timer fired", "overdue timers fired"),
    counted(report.resent, "message sent again", "messages sent again"),
    counted(report.mailboxesPoked, "mailbox woken", "mailboxes woken"),
    counted(report.broadcastsResumed, "broadcast resumed", "broadcasts resumed"),
    counted(report.eventsOffered, "event offered again", "events offered again"),
    counted(report.unreadable, "item could not be read", "items could not be read"),
    counted(report.failed, "item failed", "items failed"),
  ].filter((part) => part !== undefined);
  if (live.count === 0 && done.length === 0) return undefined;
  const atLeast = live.more ? "at least " : "";
  const going = `${atLeast}${live.count} live ${live.count === 1 ? "instance" : "instances"}`;
  return `Recovered from the last run: ${[going, ...done].join(", ")}.`;
}

function counted(count: number, one: string, many: string): string | undefined {
  return count === 0 ? undefined : `${count} ${count === 1 ? one : many}`;
}

/** The local time of day, to the millisecond. */
function timeOf(at: string): string {
  const date = new Date(at);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
