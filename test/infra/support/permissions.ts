import { expect } from "vitest";
import { inWords, type Synthesised } from "./synthesised.ts";

/** What a role may do: one line for each action, resource and condition. */
export function permissionsOf(role: string, installation: Synthesised): readonly string[] {
  const policies = installation
    .of("AWS::IAM::Policy")
    .filter(({ props }) => inWords(props.Roles[0], installation) === role);
  const lines = policies.flatMap(({ props }) =>
    props.PolicyDocument.Statement.flatMap((statement: Statement) => {
      expect(statement.Effect).toBe("Allow");
      return [statement.Action].flat().flatMap((action) =>
        [statement.Resource].flat().map((resource) => {
          const words = `${action} ${inWords(resource, installation)}`;
          return statement.Condition === undefined
            ? words
            : `${words} when ${conditionInWords(statement.Condition)}`;
        }),
      );
    }),
  );
  return lines.sort();
}

function conditionInWords(condition: NonNullable<Statement["Condition"]>): string {
  return Object.values(condition)
    .flatMap((keys) => Object.entries(keys))
    .map(([key, value]) => `${key} is ${value}`)
    .join(" and ");
}

type Statement = Readonly<{
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}>;
