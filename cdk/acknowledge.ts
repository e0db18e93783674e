import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** Tells the rule checkers, for one construct, which findings are meant to be so, and why. */
export function acknowledge(
  construct: IConstruct,
  reasons: Readonly<Record<string, string>>,
): void {
  const rules = Object.entries(reasons).map(([id, reason]) => ({ id, reason }));
  Validations.of(construct).acknowledge(...rules);
}
