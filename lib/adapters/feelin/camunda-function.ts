import type { Run } from "./run.ts";

/** A function of ours: parameter names, for calls by name, and what it does. */
export type CamundaFunction = Readonly<{
  parameters: readonly string[];
  call: (args: readonly unknown[], run: Run) => unknown;
}>;

/** Returned for arguments of unsupported types; the caller warns and gives null. */
export const MISFIT = Symbol("misfit");
