import { type ParseArgsConfig, parseArgs } from "node:util";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** One command of `fermata`. */
export type Command = Readonly<{
  name: string;
  summary: string;
  run(args: readonly string[], terminal: Terminal): Promise<ExitCode>;
}>;

/** An option; `value` names what follows it, in the help. A switch has none. */
export type Option = Readonly<
  { help: string } & (
    | { type: "boolean" }
    | { type: "string"; value: string }
    | { type: "string"; value: string; multiple: true }
  )
>;

export type Options = Readonly<Record<string, Option>>;

/** The values given, by option name. */
export type Values<O extends Options> = {
  readonly [K in keyof O]?: O[K] extends { type: "boolean" }
    ? boolean
    : O[K] extends { multiple: true }
      ? readonly string[]
      : string;
};

export type CommandSpec<O extends Options> = Readonly<{
  name: string;
  summary: string;
  /** The arguments of the command: `[NAME]` is optional, and the last one with `…` takes several. */
  operands: readonly string[];
  options: O;
  /** Further help text. */
  notes?: string;
  run(
    call: Readonly<{
      values: Values<O & typeof COMMON>;
      operands: readonly string[];
      terminal: Terminal;
    }>,
  ): Promise<ExitCode>;
}>;

/** Creates a command that parses its options, prints its help, and rejects invalid arguments. */
export function command<const O extends Options>(spec: CommandSpec<O>): Command {
  const options = { ...spec.options, ...COMMON };
  return {
    name: spec.name,
    summary: spec.summary,
    run: async (args, terminal) => {
      const { values, operands } = parseCall(spec, options, args);
      if (values.help) {
        terminal.print(helpOf(spec, options));
        return EXIT.ok;
      }
      checkOperands(spec, operands);
      return spec.run({ values, operands, terminal });
    },
  };
}

const COMMON = {
  json: { type: "boolean", help: "print JSON, for programs" },
  help: { type: "boolean", help: "show this help" },
} as const satisfies Options;

type Named = Readonly<{
  name: string;
  summary: string;
  operands: readonly string[];
  notes?: string;
}>;

function parseCall<O extends Options>(
  spec: Named,
  options: O & typeof COMMON,
  args: readonly string[],
) {
  const config: ParseArgsConfig["options"] = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { type: option.type, multiple: "multiple" in option },
    ]),
  );
  try {
    const parsed = parseArgs({ args: [...args], options: config, allowPositionals: true });
    return {
      values: parsed.values as Values<O & typeof COMMON>,
      operands: parsed.positionals,
    };
  } catch (cause) {
    // The first sentence says what is wrong; the others are about Node's own conventions.
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split(/\.? To /);
    throw new UsageError(`${reason}. ${seeHelp(spec)}`, { cause });
  }
}

function checkOperands(spec: Named, operands: readonly string[]): void {
  const takesMore = spec.operands.some((operand) => /…\]?$/.test(operand));
  const missing = spec.operands[operands.length];
  if (missing !== undefined && !missing.startsWith("[")) {
    throw new UsageError(`${missing.replace("…", "")} is missing. ${seeHelp(spec)}`);
  }
  if (operands.length > spec.operands.length && !takesMore) {
    const surplus = operands[spec.operands.length];
    throw new UsageError(`Unexpected argument "${surplus}". ${seeHelp(spec)}`);
  }
}

const seeHelp = ({ name }: Named): string => `Usage: \`fermata ${name} --help\`.`;

function helpOf(spec: Named, options: Options): string {
  const rows = Object.entries(options).map(([name, option]) => {
    const value = option.type === "string" ? ` ${option.value}` : "";
    return { left: `--${name}${value}`, help: option.help };
  });
  const width = Math.max(...rows.map(({ left }) => left.length));
  return [
    `fermata ${[spec.name, ...spec.operands].join(" ")} [options]`,
    "",
    `  ${spec.summary}`,
    "",
    ...rows.map(({ left, help }) => `  ${left.padEnd(width)}  ${help}`),
    ...(spec.notes === undefined ? [] : ["", spec.notes]),
  ].join("\n");
}
