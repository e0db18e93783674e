/** How triggers are named: by what they want to consume, so that a redelivery can be recognised. */
import type { Message } from "../ports/message.ts";

export const attemptName = (ticket: string, attempt: number): string => `${ticket}/${attempt}`;

/** A start's own trigger. */
export const START = "start";

export function nameOf(message: Message): string {
  switch (message.kind) {
    case "task":
      return attemptName(message.ticket, message.attempt);
    case "timer":
      return message.ticket;
    case "parked":
    case "owed":
      return message.name;
  }
}
