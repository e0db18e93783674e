/** The sandbox in the thread that calls it. */
import type { GuestSession, Opening, Sandbox } from "../../definition/sandbox.ts";
import { feedText, loadProgram, type Program } from "./program.ts";
import { quickjs } from "./wasm.ts";

/** A sandbox that runs guests where it is called: nothing can stop a guest that does not poll. */
export function quickjsSandbox(): Sandbox {
  return {
    get engine() {
      return quickjs().name;
    },
    load: async (bundle) => {
      const loaded = loadProgram(bundle);
      if (!loaded.ok) return loaded;
      const { program } = loaded;
      return {
        ok: true,
        program: { declared: program.declared, open: (opening) => openSession(program, opening) },
      };
    },
    close: async () => {},
  };
}

function openSession(program: Program, opening: Opening): GuestSession {
  const session = program.open(opening);
  return { run: async (feeds) => session.run(feeds.map(feedText)), close: () => session.close() };
}
