import type { GuestProgram, GuestSession, Ran } from "../../lib/definition/sandbox.ts";
import { aBody, aGuest } from "./code-workflow.ts";

/** A guest whose sessions are counted, and may answer otherwise than the real ones. */
export function watched(
  body: string,
  answer: (real: () => Promise<readonly Ran[]>) => Promise<readonly Ran[]> = (real) => real(),
) {
  const seen = { opened: 0, closed: 0, feeds: 0 };
  const load = async (): Promise<GuestProgram> => {
    const guest = await aGuest(aBody(body));
    return { declared: guest.declared, open: (opening) => watching(guest.open(opening)) };
  };
  const watching = (session: GuestSession): GuestSession => {
    seen.opened += 1;
    return {
      run: (feeds) => {
        seen.feeds += feeds.length;
        return answer(() => session.run(feeds));
      },
      close: () => {
        seen.closed += 1;
        session.close();
      },
    };
  };
  return { seen, load };
}
