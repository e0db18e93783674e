/** How long to wait after so many failures in a row: 1 s, 2 s, 4 s … and never more than 30 s. */
export function growingPauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
