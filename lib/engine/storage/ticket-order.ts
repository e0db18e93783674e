/**
 * The order in which tickets were opened: their ids hold the version that opened them, a number
 * within it, and the members of a family theirs besides.
 */
export function compareTickets(a: string, b: string): number {
  const [of, than] = [numbersIn(a), numbersIn(b)];
  const differing = of.findIndex((number, place) => number !== than[place]);
  return (of[differing] ?? 0) - (than[differing] ?? 0);
}

/** Whether a text could be the id of a ticket, or of a member. */
export const isTicketId = (text: string): boolean => ID.test(text);

const ID = /^[a-z](\d{1,15})\.(\d{1,15})(?:#(\d{1,9}))?$/;

function numbersIn(id: string): readonly number[] {
  const [, version = 0, number = 0, member = -1] = ID.exec(id) ?? [];
  return [Number(version), Number(number), Number(member)];
}
