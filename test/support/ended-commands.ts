/** A script like those of `scripts`: runs a command that starts another, until it is ended. */
import { endBySignal } from "../../scripts/deployment/end-by-signal.ts";
import { runCommand } from "../../scripts/run-command.ts";

const [port = "", way = ""] = process.argv.slice(2);

// Each running process holds a connection: it breaks when the process is gone, and not before.
const stubborn = way === "stubborn" ? 'process.on("SIGTERM", () => {});' : "";
// Reports to the test that it was signalled, and ends when the test says so.
const patient =
  way === "patient"
    ? 'process.on("SIGTERM", () => test.write("told ")); test.on("data", () => process.exit());'
    : "";
const grandchild = `${stubborn} require("net").connect(${port}, "127.0.0.1").write("grandchild ");`;
const child = `
  ${stubborn}
  require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}], { stdio: "inherit" });
  const test = require("net").connect(${port}, "127.0.0.1");
  test.write("child ");
  ${patient}
`;

endBySignal(async () => void process.stdout.write("undone\n"));
process.on("SIGTERM", () => void process.stdout.write("SIGTERM\n"));
if (way === "fails") process.stdin.once("data", () => process.exit(7));
await runCommand(process.execPath, ["-e", child], { group: true });
