// Ends what `npm run local:up` started, and removes what it left.

import { readCommandLine } from "./command-line.ts";
import { isRunning, readLocalState, removeLocalState } from "./deployment/local-state.ts";
import { stopEmulator } from "./emulator/start-emulator.ts";

readCommandLine(import.meta.filename, {});
const state = readLocalState();
const runs = state !== undefined && (await isRunning(state));
if (runs) await stopEmulator(state.pid);
removeLocalState();
console.log(runs ? `Ended: ${state.apiUrl ?? state.endpoint}` : "Nothing of local:up runs here.");
