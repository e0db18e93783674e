/** A script as those of `scripts` are: runs a command that starts another, until somebody ends it. */
import { endBySignal } from "../../scripts/deployment/end-by-signal.ts";
import { runCommand } from "../../scripts/run-command.ts";

const [port = "", way = ""] = process.argv.slice(2);

// Whoever runs holds a connection: it breaks when the process is gone, and not before.
const stubborn = way === "stubborn" ? 'process.on("SIGTERM", () => {});' : "";
const grandchild = `${stubborn} require("net").connect(${port}, "127.0.0.1").write("grandchild ");`;
const child = `
  ${stubborn}
  require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}], { stdio: "inherit" });
  require("net").connect(${port}, "127.0.0.1").write("child ");
`;

endBySignal(async () => void process.stdout.write("undone\n"));
if (way === "fails") process.stdin.once("data", () => process.exit(7));
await runCommand(process.execPath, ["-e", child], { group: true });
