import { defineConfig } from "vitest/config";

const project = (name: string, include: string[], extra = {}) => ({
  test: { name, include, ...extra },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", [
        "test/{definition,kernel,frontends,engine,adapters,api,client,embedded,cli,house,model}/**/*.test.ts",
        "examples/**/*.test.ts",
      ]),
      project("contract", ["test/contract/**/*.test.ts"]),
      project("simulation", ["test/simulation/**/*.test.ts"], { testTimeout: 600_000 }),
      project("killed", ["test/killed/**/*.test.ts"], { testTimeout: 1_200_000 }),
    ],
  },
});
