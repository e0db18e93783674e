// Types are checked by the compiler; what runs here only holds the expressions.
import { describe, expectTypeOf, test } from "vitest";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import type * as api from "../../lib/shapes/signals.ts";
import {
  all,
  any,
  delay,
  event,
  type Fired,
  type Jsonified,
  message,
  race,
  type Step,
  sendEvent,
  sendMessage,
  signal,
  step,
  task,
  type Workflow,
  workflow,
} from "../../lib/workflow/index.ts";

type Order = Readonly<{ id: string; total: number }>;
type Parcel = Readonly<{ code: string; at: Date; note?: string }>;

const ship = step(
  "ship",
  async (order: Order): Promise<Parcel> => ({ code: order.id, at: new Date() }),
);
const ping = step("ping", async () => "pong" as const);
const note = step("note", (_: string | undefined) => {});
const order = workflow("order", async (given: Order) => ({ parcel: await ship(given), given }));
const plain = workflow("plain", async () => 5);

/** Never called: only its types count. */
const typesOf = (_: () => unknown): void => {};

describe("the types of a step", () => {
  test("lead from its code to its caller, as JSON carries them", () => {
    expectTypeOf(ship).toEqualTypeOf<Step<Order, Parcel>>();
    expectTypeOf(ship).returns.resolves.toEqualTypeOf<{
      readonly code: string;
      readonly at: string;
      readonly note?: string | undefined;
    }>();
    expectTypeOf(ping).returns.resolves.toEqualTypeOf<"pong">();
    expectTypeOf(note).returns.resolves.toEqualTypeOf<null>();
  });

  test("demand the input that its code takes", () => {
    expectTypeOf(ship).parameter(0).toEqualTypeOf<Order>();
    typesOf(() => [
      ship({ id: "1", total: 2 }, { timeout: "1h", retry: { maxAttempts: 2 } }),
      ping(),
      ping(undefined, { timeout: "1h" }),
      note(),
      // @ts-expect-error: the input is missing
      ship(),
      // @ts-expect-error: the total is a number
      ship({ id: "1", total: "2" }),
      // @ts-expect-error: there is no such option
      ship({ id: "1", total: 2 }, { tries: 3 }),
      // @ts-expect-error: a duration is a text
      ping(undefined, { timeout: 5 }),
    ]);
  });
});

describe("the types of operations", () => {
  test("are those that the author names, and unknown otherwise", () => {
    typesOf(() => {
      expectTypeOf(task("x")).resolves.toEqualTypeOf<unknown>();
      expectTypeOf(task<number>("x", { any: ["thing"] })).resolves.toEqualTypeOf<number>();
      expectTypeOf(event("x")).resolves.toEqualTypeOf<unknown>();
      expectTypeOf(event<Order>("x", { from: "inbox" })).resolves.toEqualTypeOf<Order>();
      expectTypeOf(delay("1h")).resolves.toEqualTypeOf<Fired>();
      expectTypeOf(signal<Order>("x")).resolves.toEqualTypeOf<Order>();
      expectTypeOf(message<Order>("x", 7)).resolves.toEqualTypeOf<Order>();
      // @ts-expect-error: an inbox is the only place to take events from
      return event("x", { from: "outbox" });
    });
  });

  test("of all() keep the shape of a list and of an object", () => {
    typesOf(() => {
      expectTypeOf(all([ping(), delay("1h"), task<number>("x")])).resolves.toEqualTypeOf<
        ["pong", Fired, number]
      >();
      expectTypeOf(all({ a: ping(), b: event<Order>("x") })).resolves.toEqualTypeOf<{
        a: "pong";
        b: Order;
      }>();
      expectTypeOf(all([1, 2].map(() => task<number>("x")))).resolves.toEqualTypeOf<number[]>();
      expectTypeOf(all([])).resolves.toEqualTypeOf<[]>();
      // @ts-expect-error: the rest is cancelled or left
      return all([ping()], { onFailure: "retry" });
    });
  });

  test("of race() and any() are a value of a list, and key and value of an object", () => {
    typesOf(async () => {
      expectTypeOf(race([ping(), task<number>("x")])).resolves.toEqualTypeOf<"pong" | number>();
      expectTypeOf(any([ping(), task<number>("x")])).resolves.toEqualTypeOf<"pong" | number>();
      const first = await race({ done: task<number>("x"), late: delay("1h") });
      if (first.key === "done") expectTypeOf(first.value).toEqualTypeOf<number>();
      else expectTypeOf(first.value).toEqualTypeOf<Fired>();
      // @ts-expect-error: there is no such member
      return first.key === "never";
    });
  });

  test("nest", () => {
    typesOf(() => {
      const nested = race({ both: all([ping(), task<number>("x")]), late: delay("1h") });
      expectTypeOf(nested).resolves.toEqualTypeOf<
        { key: "both"; value: ["pong", number] } | { key: "late"; value: Fired }
      >();
    });
  });
});

describe("the types of what is sent", () => {
  test("are the answers of the API", () => {
    expectTypeOf(sendEvent).returns.resolves.toEqualTypeOf<api.EventAnswer>();
    expectTypeOf(sendMessage).returns.resolves.toEqualTypeOf<api.MessageAnswer>();
  });
});

describe("the types of a workflow", () => {
  test("lead from its code to its handle", () => {
    expectTypeOf(plain).toEqualTypeOf<Workflow<undefined, number>>();
    expectTypeOf(order).toExtend<Workflow<Order, unknown>>();
  });

  test("lead from its handle to its start and its result", () => {
    typesOf(async () => {
      const engine = {} as EmbeddedEngine;
      const started = await engine.start(order, { input: { id: "1", total: 2 }, businessKey: "b" });
      expectTypeOf(started.instanceId).toEqualTypeOf<string>();
      const { result } = await engine.result(started);
      expectTypeOf(result?.parcel.at).toEqualTypeOf<string | undefined>();
      expectTypeOf(result?.given).toEqualTypeOf<Order | undefined>();
      const { result: five } = await engine.result(await engine.start(plain));
      expectTypeOf(five).toEqualTypeOf<number | undefined>();
    });
  });

  test("demand the input of the workflow at the start", () => {
    typesOf(() => {
      const engine = {} as EmbeddedEngine;
      return [
        engine.start(plain, { businessKey: "b" }, "key"),
        engine.start("order", { input: ["anything"] }),
        engine.start("order", { variables: { any: "thing" } }),
        // @ts-expect-error: the request with the input is missing
        engine.start(order),
        // @ts-expect-error: the input is missing
        engine.start(order, { businessKey: "b" }),
        // @ts-expect-error: the total is a number
        engine.start(order, { input: { id: "1", total: "2" } }),
        // @ts-expect-error: a handle takes its input, not variables
        engine.start(order, { variables: { id: "1", total: 2 } }),
      ];
    });
  });
});

describe("a type after a trip through JSON", () => {
  test("has texts for dates, null for nothing, and no functions", () => {
    expectTypeOf<Jsonified<Date>>().toEqualTypeOf<string>();
    expectTypeOf<Jsonified<undefined>>().toEqualTypeOf<null>();
    expectTypeOf<Jsonified<[Date, number | undefined]>>().toEqualTypeOf<[string, number | null]>();
    expectTypeOf<Jsonified<{ a: Date; b(): void; c?: number }>>().toEqualTypeOf<{
      a: string;
      c?: number | undefined;
    }>();
    expectTypeOf<Jsonified<bigint>>().toEqualTypeOf<never>();
    expectTypeOf<Jsonified<unknown>>().toEqualTypeOf<unknown>();
    expectTypeOf<Jsonified<{ toJSON(): { x: Date } }>>().toEqualTypeOf<{ x: string }>();
  });
});
