/** How triggers are named: by what they want to consume, so that a redelivery can be recognised. */
export const attemptName = (ticket: string, attempt: number): string => `${ticket}/${attempt}`;

/** A start's own trigger. */
export const START = "start";
