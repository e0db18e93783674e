// Sets the checkout up when it must, then runs the command it was given on the pinned Node.
// Plain JavaScript that any Node >= 20 runs, because on a fresh clone there is nothing else yet.
//
//   node scripts/bootstrap.mjs                  only set up
//   node scripts/bootstrap.mjs vitest run …     set up if needed, then run

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = 20;
const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules", ".bin");
const stamp = join(root, "node_modules", ".fermata-installed");
const onWindows = process.platform === "win32";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const [command, ...args] = process.argv.slice(2);

if (Number(process.versions.node.split(".")[0]) < OLDEST_NODE) {
  stop(`Node ${process.versions.node} is too old. Install Node ${OLDEST_NODE} or newer.`);
}
if (!isInstalled()) await install();
if (command !== undefined) run(command, args);

/** True when node_modules was installed from the current package.json and lock file. */
function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === wanted();
}

/**
 * What is to be installed, in one line: a copied or touched file with the same content changes
 * nothing.
 */
function wanted() {
  const hash = createHash("sha256");
  const { dependencies, devDependencies } = readJson("package.json");
  hash.update(JSON.stringify({ dependencies, devDependencies }));
  if (existsSync(join(root, "package-lock.json"))) {
    hash.update(JSON.stringify(readJson("package-lock.json")));
  }
  return `${hash.digest("hex")} ${process.platform} ${process.arch}\n`;
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), "utf8"));
}

async function install() {
  console.error("Setting up (npm install), about a minute…");
  const started = Date.now();
  const beat = setInterval(() => {
    console.error(`  still installing, ${Math.round((Date.now() - started) / 1000)} s`);
  }, 10_000);
  const { code, stderr } = await npmInstall();
  clearInterval(beat);
  if (code !== 0) stop(whyInstallFailed(stderr));
  if (!existsSync(join(bin, onWindows ? "node.cmd" : "node"))) {
    stop(
      "npm install ran, but the pinned Node is missing: npm is set to skip install scripts. " +
        "Run `npm install --ignore-scripts=false`.",
    );
  }
  writeFileSync(stamp, wanted());
  console.error(`Set up in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/** The output of npm goes to stderr, so that stdout belongs to the command that follows. */
function npmInstall() {
  // Not saved: another npm version would write the lock file its own way.
  const npm = spawn(
    "npm",
    ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: root,
      shell: onWindows,
      stdio: ["ignore", 2, "pipe"],
    },
  );
  let stderr = "";
  npm.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  // A signal to this process also ends npm: half an install is started over the next time.
  const forward = (signal) => npm.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  return new Promise((resolve) => {
    npm.on("error", (error) => stop(`npm could not be run: ${error.message}.`));
    npm.on("close", (code, signal) => {
      if (signal !== null) process.exit(codeOf(signal));
      for (const name of SIGNALS) process.off(name, forward);
      resolve({ code, stderr });
    });
  });
}

function whyInstallFailed(output) {
  // Without a network npm 10 may end with "Exit handler never called" and no code of its own.
  if (/ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|Exit handler never/.test(output)) {
    return "The package registry cannot be reached. Check the network, or npm's `registry` and proxy settings, and run this again.";
  }
  process.stderr.write(output);
  return "npm install failed; its own message stands above.";
}

/**
 * Runs the command with the pinned Node first on the PATH; forwards signals and returns its exit
 * code.
 */
function run(wantedCommand, wantedArgs) {
  const child = spawn(wantedCommand, wantedArgs, {
    cwd: root,
    shell: onWindows,
    stdio: "inherit",
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` },
  });
  // A terminal sends Ctrl-C to the whole group, so the child has it already and a second one might
  // mean "at once" to it; any other signal is sent to us alone. The child decides when to end.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => stop(`${wantedCommand} could not be run: ${error.message}.`));
  child.on("exit", (code, signal) => process.exit(code ?? codeOf(signal)));
}

/** The exit code that a shell reports for a command that was ended by a signal. */
function codeOf(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

function stop(message) {
  console.error(`fermata: ${message}`);
  process.exit(1);
}
