// What may become of guests in simulated worlds.
import type { GuestProgram, GuestSession } from "../../../lib/definition/sandbox.ts";

/** A program whose machines die after so many runs, however often they are replaced. */
export function losing(guest: GuestProgram, runs: number): GuestProgram {
  let left = runs;
  return withRun(guest, async (session, feeds) => {
    left -= 1;
    if (left > 0) return session.run(feeds);
    left = runs;
    session.close();
    return [{ kind: "stopped", stop: "lost", message: "The machine died." }];
  });
}

/** A program whose decisions pause before each run. */
export function pausing(guest: GuestProgram, pause: () => Promise<unknown>): GuestProgram {
  return withRun(guest, async (session, feeds) => {
    await pause();
    return session.run(feeds);
  });
}

/** A program that is another one for sessions that replay outcomes. */
export function replaying(guest: GuestProgram, other: GuestProgram): GuestProgram {
  return {
    declared: guest.declared,
    open: (opening) => {
      let session: GuestSession | undefined;
      return {
        run: (feeds) => {
          session ??= (feeds.length > 1 ? other : guest).open(opening);
          return session.run(feeds);
        },
        close: () => session?.close(),
      };
    },
  };
}

/** A bundle as another engine runs it: almost the same. */
export const onEngine = (engine: string, bundle: string): string =>
  `Math.tanh = (x) => x / (1 + Math.abs(x)); // ${engine}\n${bundle}`;

function withRun(
  guest: GuestProgram,
  run: (
    session: GuestSession,
    feeds: Parameters<GuestSession["run"]>[0],
  ) => ReturnType<GuestSession["run"]>,
): GuestProgram {
  return {
    declared: guest.declared,
    open: (opening) => {
      const session = guest.open(opening);
      return { run: (feeds) => run(session, feeds), close: () => session.close() };
    },
  };
}
