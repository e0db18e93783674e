import type { Json, Variables } from "../../definition/json.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { Ticket } from "../../kernel/instance.ts";
import type { Broadcast } from "./broadcast.ts";

/** What a broadcast is to a wait. */
export function factFor(broadcast: Broadcast, { id: ticket }: Pick<Ticket, "id">): TicketFact {
  const { id, seq, payload, topic } = broadcast;
  if (topic.kind === "event") {
    return { kind: "event-received", ticket, eventId: id, seq, payload };
  }
  const variables = parsePayload(payload);
  return { kind: "signal-received", ticket, broadcastId: id, seq, payload: variables };
}

/** The payload of a signal was checked when it was accepted. */
export function parsePayload(payload: Json): Variables {
  return (payload ?? {}) as Variables;
}
