import { describe, expect, test } from "vitest";
import { parseSettings, VARIABLES } from "../../functions/settings.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";

describe("the settings of a function", () => {
  test("are those that it reads, and no others", () => {
    const env = { [VARIABLES.table]: "Instances", [VARIABLES.busName]: "bus" };

    expect(parseSettings(env, "table", "tenant")).toEqual({
      table: "Instances",
      tenant: "default",
    });
  });

  test("have the defaults of an installation if nothing is set", () => {
    const usual = parseSettings(
      {},
      "retentionMs",
      "timerBackend",
      "timerQueueMaxSeconds",
      "scheduleLeadSeconds",
      "announces",
      "metricsNamespace",
    );

    expect(usual).toEqual({
      retentionMs: 30 * 86_400_000,
      timerBackend: "scheduler",
      timerQueueMaxSeconds: 900,
      scheduleLeadSeconds: 90,
      announces: false,
      metricsNamespace: "Fermata",
    });
  });

  test("are parsed into their types", () => {
    const env = {
      [VARIABLES.timerBackend]: "wheel",
      [VARIABLES.timerQueueMaxSeconds]: "20",
      [VARIABLES.announces]: "true",
    };

    expect(parseSettings(env, "timerBackend", "timerQueueMaxSeconds", "announces")).toEqual({
      timerBackend: "wheel",
      timerQueueMaxSeconds: 20,
      announces: true,
    });
  });

  test("of HTTP tasks are JSON; absent, all public hosts may be called", () => {
    const names = ["httpAllowHosts", "httpAllowPrivate", "httpSecrets"] as const;
    const wrong = { [VARIABLES.httpAllowHosts]: "a,b", [VARIABLES.httpSecrets]: '{"A":"arn"}' };

    expect(parseSettings({}, ...names)).toEqual({
      httpAllowHosts: undefined,
      httpAllowPrivate: [],
      httpSecrets: {},
    });
    expect(parseSettings({ [VARIABLES.httpAllowHosts]: '["a"]' }, ...names)).toMatchObject({
      httpAllowHosts: ["a"],
    });
    expect(thrownBy(() => parseSettings(wrong, ...names)).details).toHaveLength(2);
  });

  test("that are missing or wrong are all named in one error", () => {
    const env = {
      [VARIABLES.table]: "",
      [VARIABLES.timerBackend]: "moon",
      [VARIABLES.timerQueueMaxSeconds]: "901",
      [VARIABLES.announces]: "yes",
    };

    const error = thrownBy(() =>
      parseSettings(env, "table", "busName", "timerBackend", "timerQueueMaxSeconds", "announces"),
    );

    expect(error.code).toBe("engine/misconfigured");
    expect(error.details.map(({ problem }) => problem)).toEqual([
      "FERMATA_TABLE is not set",
      "FERMATA_BUS_NAME is not set",
      "FERMATA_TIMER_BACKEND is neither scheduler nor wheel",
      "FERMATA_TIMER_QUEUE_MAX_SECONDS is no whole number from 1 to 900",
      "FERMATA_ANNOUNCES is neither true nor false",
    ]);
  });
});

function thrownBy(call: () => unknown): EngineError {
  try {
    call();
  } catch (error) {
    if (error instanceof EngineError) return error;
  }
  throw new Error("no EngineError was thrown");
}
