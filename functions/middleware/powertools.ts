import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import { METRICS, type Telemetry } from "./telemetry.ts";
import { currentTrace } from "./trace.ts";

/** Logs as lines of JSON, and metrics in them as CloudWatch takes them from there. */
export type Powertools = Telemetry &
  Readonly<{
    /**
     * What Lambda calls: every log line names the request, and metrics are flushed before the
     * response.
     */
    told<E, R>(code: (event: E, context: Context) => Promise<R>): LambdaFunction<E, R>;
  }>;

type LambdaFunction<E, R> = (event: E, context: Context) => Promise<R>;

/** The telemetry of one function; `service` is its name. */
export function powertools({
  service,
  namespace,
}: Readonly<{ service: string; namespace: string }>): Powertools {
  const logger = new Logger({ serviceName: service });
  const metrics = new Metrics({ serviceName: service, namespace });
  /** Without metrics nothing is published, since Powertools would warn. */
  const publish = () => {
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
  };
  return {
    log: (level, name, { error, ...fields }) => {
      const { traceId, spanId } = currentTrace() ?? {};
      const trace = traceId === undefined ? {} : { traceId, spanId };
      logger[level](name, { ...fields, ...trace, ...(error !== undefined && errorField(error)) });
    },
    measure: (metric, value, dimensions) => {
      // Metrics published together share dimensions: one with its own gets a separate line.
      const lines = dimensions ? metrics.singleMetric().addDimensions(dimensions) : metrics;
      lines.addMetric(metric, METRICS[metric], value);
    },
    told: (code) =>
      middy(code)
        .before(({ context }) => logger.addContext(context))
        .after(publish)
        .onError(({ error }) => {
          logger.error("function-failed", errorField(error));
          publish();
        }),
  };
}

const errorField = (error: unknown) => ({
  error: error instanceof Error ? error : new Error(String(error)),
});
