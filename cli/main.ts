#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Caches compiled code: from the second run on, the command starts twice as fast.
enableCompileCache();
const { runCommandLine } = await import("./run-command-line.ts");
const { processTerminal } = await import("./terminal.ts");

process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal());
