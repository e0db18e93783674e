/** The exit codes, as documented in docs/reference/cli.md. */
export const EXIT = {
  ok: 0,
  /** The request was refused, or it failed. */
  refused: 1,
  /** The arguments are not valid. */
  usage: 2,
  /** No server responds. */
  unreachable: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
