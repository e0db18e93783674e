import type {
  ConsumedCapacity,
  DynamoDBClient,
  ServiceOutputTypes,
} from "@aws-sdk/client-dynamodb";
import type { Telemetry } from "./middleware/telemetry.ts";

/**
 * Requests the consumed units with each response of the table. Refused requests are billed as well,
 * but not reported.
 */
export function countUnits(
  client: DynamoDBClient,
  telemetry: Pick<Telemetry, "measure">,
): DynamoDBClient {
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const input = { ...args.input, ReturnConsumedCapacity: "TOTAL" };
        const answer = await next({ ...args, input });
        const units = unitsIn(answer.output);
        if (units > 0)
          telemetry.measure(READS.test(commandName) ? "ReadUnits" : "WriteUnits", units);
        return answer;
      },
    { step: "initialize", name: "fermataUnits", override: true },
  );
  return client;
}

const READS = /^(Get|BatchGet|Query)/;

/** One for each table; a list where a request could have named several. */
function unitsIn(output: ServiceOutputTypes): number {
  const said = "ConsumedCapacity" in output ? (output.ConsumedCapacity ?? []) : [];
  return [said].flat().reduce((sum, each) => sum + unitsOf(each), 0);
}

function unitsOf(capacity: Readonly<Pick<ConsumedCapacity, "CapacityUnits">> | object): number {
  return "CapacityUnits" in capacity ? (capacity.CapacityUnits ?? 0) : 0;
}
