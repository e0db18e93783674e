/** What a script learns from how the command ended; docs/reference/cli.md promises these. */
export const EXIT = {
  ok: 0,
  /** The request was refused, or it failed. */
  refused: 1,
  /** The command was called in a way that makes no sense. */
  usage: 2,
  /** No server answers. */
  unreachable: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
