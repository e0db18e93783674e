import { Stack, Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** Acknowledges findings of the rule checkers for one resource, with the reasons. */
export function acknowledge(of: IConstruct, reasons: Readonly<Record<string, string>>): void {
  const rules = Object.entries(reasons).map(([id, reason]) => ({ id, reason }));
  Validations.of(of.node.defaultChild ?? of).acknowledge(...rules);
}

/** The finding of a checker for a resource with a wildcard in a policy. */
export function wildcardFinding(scope: IConstruct, resource: string): string {
  return `AwsSolutions-IAM5[Resource::${inTemplate(Stack.of(scope).resolve(resource))}]`;
}

/** As it stands in the template, references in angle brackets. */
function inTemplate(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const [[kind, of] = []] = Object.entries(value);
  if (kind === "Fn::Join" && Array.isArray(of)) return of[1].map(inTemplate).join(of[0]);
  return `<${[of].flat().join(".")}>`;
}
