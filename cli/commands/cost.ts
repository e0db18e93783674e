import { readFileSync } from "node:fs";
import type { CostReport } from "../../lib/cost/estimate-cost.ts";
import { command } from "../command.ts";
import { diagnosticLine } from "../diagnostic-line.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { printFacts, printJson, printTable } from "../lay-out.ts";
import { parseChoice } from "../parse-choice.ts";
import { parseVariables } from "../parse-json.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";

/** Estimates what a workflow would cost on AWS; needs no server and no account. */
export const cost = command({
  name: "cost",
  summary: "estimate what a workflow would cost on AWS, compared with other engines",
  operands: ["FILE"],
  options: {
    process: {
      type: "string",
      value: "ID",
      help: "which process; default the first that a call can start",
    },
    variables: { type: "string", value: "JSON|@FILE", help: "its initial variables" },
    instances: { type: "string", value: "NUMBER", help: "how many to run; default 10" },
    tasks: {
      type: "string",
      value: "FOLDER",
      help: "task handlers; a task without one completes at once",
    },
    mode: {
      type: "string",
      value: "MODE",
      help: "inline (default): short tasks run one after another in one invocation; queued: each is a message",
    },
  },
  notes: [
    "Runs instances in memory, on the engine as deployed and a clock that skips waiting times. Sends",
    "the signals, messages and events that the instances wait for.",
  ].join("\n"),
  run: async ({ values, operands: [file = ""], terminal }) => {
    // Only this command needs an engine that counts, so the others do not load it.
    const { estimateCost } = await import("../../lib/cost/estimate-cost.ts");
    const report = await estimateCost({
      source: textOf(file),
      mode: parseChoice(values.mode ?? "inline", { option: "mode", choices: ["inline", "queued"] }),
      ...(values.process !== undefined && { process: values.process }),
      ...(values.tasks !== undefined && { tasks: values.tasks }),
      ...(values.variables !== undefined && {
        variables: parseVariables(values.variables, "variables"),
      }),
      ...(values.instances !== undefined && {
        instances: parseWholeNumber(values.instances, { option: "instances", min: 1, max: 10_000 }),
      }),
    });
    return print(terminal, file, report, values.json ?? false);
  },
});

function print(terminal: Terminal, file: string, report: CostReport, asJson: boolean): ExitCode {
  switch (report.kind) {
    case "counted":
      if (asJson) printJson(terminal, report);
      else printBill(terminal, report);
      return EXIT.ok;
    case "refused":
      for (const diagnostic of report.diagnostics) {
        terminal.complain(asJson ? JSON.stringify(diagnostic) : diagnosticLine(file, diagnostic));
      }
      return EXIT.refused;
    case "stuck":
      terminal.complain(
        `fermata: ${file} cannot be counted: ${report.why}. Try other --variables, or --tasks that let it continue.`,
      );
      return EXIT.refused;
  }
}

function printBill(terminal: Terminal, report: Extract<CostReport, { kind: "counted" }>): void {
  const { process, mode, instances, counts, bill, peers, prices, stateBytes } = report;
  printFacts(terminal, [
    ["process", `${process}, ${mode}, ${amount(counts.steps)} steps per instance`],
    ["state", `${stateBytes} bytes at the end`],
    ["prices", `list prices of ${prices.region}, ${prices.asOf}, in US dollars`],
  ]);
  terminal.print("");
  printTable(
    terminal,
    ["service", "units per instance", "$ per million steps"],
    [
      ...bill.lines.map(({ service, units, perMillionSteps }) => [
        service,
        amount(units / instances),
        dollars(perMillionSteps),
      ]),
      ["marginal: the cost of another step", "", dollars(bill.marginal)],
      ["all-in: with start, listing, history, storage", "", dollars(bill.allIn)],
      ["all-in with HTTP API calls", "", dollars(bill.allIn + bill.door)],
      [
        "in addition: CloudWatch logs, bytes",
        amount(bill.logs.units / instances),
        dollars(bill.logs.perMillionSteps),
      ],
      ...peers.map(({ name, counted, perMillionSteps }) => [
        name,
        counted,
        dollars(perMillionSteps),
      ]),
    ],
  );
  terminal.print("");
  terminal.print(
    `A million instances cost $ ${report.perMillionInstances.toFixed(2)}, calls and logs included.`,
  );
}

const dollars = (value: number): string => value.toFixed(3);

const amount = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toPrecision(3);

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be read. Check its name.`, { cause });
  }
}
