import { quoted } from "../../../definition/parsed.ts";
import { EngineError } from "../../../ports/engine-error.ts";
import { type HostRule, parseHostRules } from "../../../ports/host-rules.ts";
import { SECRET_NAME, type SecretHosts } from "./secret-references.ts";

/** The settings of an installation's HTTP tasks, as users write them. */
export type HttpSettings = Readonly<{
  allowHosts?: readonly string[];
  allowPrivate?: readonly string[];
  secrets?: Readonly<Record<string, readonly string[]>>;
}>;

export type ParsedHttpSettings = Readonly<{
  reach: Readonly<{ allowHosts?: readonly HostRule[]; allowPrivate: readonly HostRule[] }>;
  secretHosts: SecretHosts;
}>;

/** Parses the settings; throws with all problems at once. */
export function parseHttpSettings(settings: HttpSettings): ParsedHttpSettings {
  const problems: string[] = [];
  const rulesOf = (where: string, texts: readonly string[]): readonly HostRule[] => {
    const read = parseHostRules(texts);
    problems.push(...read.problems.map((problem) => `${where}: ${problem}`));
    return read.rules;
  };
  const { allowHosts, allowPrivate = [], secrets = {} } = settings;
  const secretHosts = new Map(
    Object.entries(secrets).map(([name, hosts]) => {
      if (!NAME.test(name)) problems.push(`secrets: ${quoted(name)} ${NOT_A_NAME}`);
      return [name, rulesOf(`secrets.${name}`, hosts)];
    }),
  );
  const reach = {
    ...(allowHosts !== undefined && { allowHosts: rulesOf("allowHosts", allowHosts) }),
    allowPrivate: rulesOf("allowPrivate", allowPrivate),
  };
  if (problems.length > 0) throw misconfigured(problems);
  return { reach, secretHosts };
}

const NAME = new RegExp(`^${SECRET_NAME}$`);
const NOT_A_NAME = "cannot name a secret; use letters, digits and _, and begin with a letter.";

function misconfigured(problems: readonly string[]): EngineError {
  return new EngineError("engine/misconfigured", {
    happened: "HTTP tasks cannot be set like this",
    where: "http",
    fix: problems.join(" "),
    details: problems.map((problem) => ({ problem })),
  });
}
