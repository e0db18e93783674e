import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Folders that are separate projects; every other test is a unit test, so none is forgotten. */
const APART = [
  "kernel",
  "contract",
  "simulation",
  "killed",
  "durable",
  "infra",
  "aws",
  "end-to-end",
];

const project = (name: string, test: object) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...test },
});

/** Nothing is timed; the limit is for tests that hang, on a machine that may be very busy. */
const PATIENT = { testTimeout: 180_000, hookTimeout: 180_000 };

/**
 * A worker loads and compiles the engine once for all its files: a test restores what it changes.
 */
const TOGETHER = { isolate: false };

/** Node imports the files itself: calls through Vite's imports cost a tenth of a long computation. */
const NATIVE = { experimental: { viteModuleRunner: false, nodeLoader: false } };

/** The signer caches its credentials for the life of the process: one process for each file. */
const OWN_PROGRAM = ["test/cli/aws.test.ts", "test/client/aws-signer.test.ts"];

export default defineConfig({
  resolve: {
    // Examples and docs import the package by name, as a user would; here that means the source.
    alias: [
      { find: /^fermata-engine$/, replacement: source("./lib/index.ts") },
      { find: /^fermata-engine\/([a-z/-]+)$/, replacement: source("./lib/$1/index.ts") },
    ],
  },
  test: {
    // All cores: of two, vitest would leave one to itself, which has nothing to do while tests run.
    maxWorkers: "100%",
    coverage: {
      provider: "v8",
      include: ["lib/kernel/**/*.ts"],
      reporter: ["text-summary", "html"],
      // Every branch of a pure rule can be reached by a test, so every branch is.
      thresholds: { "lib/kernel/**/*.ts": { branches: 100 } },
    },
    projects: [
      project("unit", {
        ...PATIENT,
        ...TOGETHER,
        include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
        exclude: [...APART.map((room) => `test/${room}/**`), ...OWN_PROGRAM],
      }),
      // By itself, so that its coverage can be measured without slowing all other tests down.
      project("kernel", { ...PATIENT, ...TOGETHER }),
      project("unit alone", { ...PATIENT, include: OWN_PROGRAM }),
      project("contract", { ...PATIENT, ...TOGETHER }),
      project("simulation", { ...TOGETHER, ...NATIVE, testTimeout: 600_000 }),
      // Those at work under the kills need the machine for themselves: a life is killed within moments.
      project("killed", { testTimeout: 1_200_000, fileParallelism: false }),
      // Loading aws-cdk-lib is slow, too.
      project("infra", { ...TOGETHER, testTimeout: 300_000, hookTimeout: 300_000 }),
      // One emulator for all: its files take turns.
      project("aws", { testTimeout: 60_000, hookTimeout: 120_000, fileParallelism: false }),
      project("end-to-end", { testTimeout: 300_000, hookTimeout: 300_000, fileParallelism: false }),
    ],
  },
});
