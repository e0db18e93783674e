import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DynamoDbStore } from "../../lib/adapters/dynamodb/store.ts";
import type { Item, Write } from "../../lib/ports/store.ts";
import { createTable, endpointFrom, localClient } from "../support/dynamodb-table.ts";
import {
  broken,
  type Fault,
  faultyClient,
  type Json,
  refusal,
} from "../support/faulty-dynamodb.ts";

const endpoint = endpointFrom("FERMATA_TEST_DYNAMODB_ENDPOINT");

describe("a DynamoDB store whose service", () => {
  let table: Awaited<ReturnType<typeof createTable>>;
  beforeAll(async () => {
    table = await createTable(localClient(endpoint));
  });
  afterAll(() => table.drop());

  /** A store with the faults, the requests that it sent meanwhile, and a store without faults. */
  function opened(operation: string, faults: readonly Fault[]) {
    const { client, sent } = faultyClient(endpoint, operation, faults);
    const calm = { random: () => 0.5, pause: async () => undefined };
    return {
      store: new DynamoDbStore({ client, table: table.name, ...calm }),
      sent,
      other: new DynamoDbStore({ client: localClient(endpoint), table: table.name }),
    };
  }

  describe("is busy", () => {
    test.each([
      "ProvisionedThroughputExceededException",
      "ThrottlingException",
      "RequestLimitExceeded",
      "TransactionConflictException",
    ])("with %s reports it at once and has written nothing", async (name) => {
      const { store, sent, other } = opened("PutItem", [refusal(name)]);
      const item = anItem();

      const outcome = await store.commit([{ put: item, when: "absent" }]);

      expect(outcome).toEqual({ kind: "busy", retryAfterMs: 60 });
      expect(sent()).toHaveLength(1);
      expect(await other.get([item.key])).toEqual([undefined]);
      expect(await store.commit([{ put: item, when: "absent" }])).toEqual({ kind: "committed" });
    });

    test.each(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])(
      "with a transaction cancelled for %s reports it, even beside a failed condition",
      async (code) => {
        const reasons = [{ Code: "ConditionalCheckFailed" }, { Code: code }];
        const cancelled = refusal("TransactionCanceledException", { CancellationReasons: reasons });
        const { store, sent, other } = opened("TransactWriteItems", [cancelled]);
        const [a, b] = [anItem(), anItem()];

        const outcome = await store.commit([
          { put: a, when: "absent" },
          { put: b, when: "absent" },
        ]);

        expect(outcome).toEqual({ kind: "busy", retryAfterMs: 60 });
        expect(sent()).toHaveLength(1);
        expect(await other.get([a.key, b.key])).toEqual([undefined, undefined]);
      },
    );

    test("for a read is retried", async () => {
      const { store, sent, other } = opened("GetItem", [refusal("ThrottlingException")]);
      const item = anItem();
      await other.commit([{ put: item, when: "absent" }]);

      const [found] = await store.get([item.key]);

      expect(found?.version).toBe(item.version);
      expect(sent()).toHaveLength(2);
    });
  });

  describe("leaves the outcome of a write unknown", () => {
    const timeout = Object.assign(new Error("too slow"), { name: "TimeoutError" });
    const failures: readonly [string, Fault, boolean][] = [
      ["the connection breaks before", broken("ECONNRESET", "before"), false],
      ["the connection breaks after", broken("ECONNRESET", "after"), true],
      ["nothing comes back in time, before", { failure: timeout, when: "before" }, false],
      ["nothing comes back in time, after", { failure: timeout, when: "after" }, true],
      ["the service fails inside", refusal("InternalServerError", {}, 500), false],
      ["something between is down", { answer: { status: 503, body: {} } }, false],
    ];

    test.each(failures)("when %s: a put is sent once", async (_, fault, isThere) => {
      const { store, sent, other } = opened("PutItem", [fault]);
      const item = anItem();

      const outcome = await store.commit([{ put: item, when: "absent" }]);

      expect(outcome).toEqual({ kind: "unknown" });
      expect(sent()).toHaveLength(1);
      expect((await other.get([item.key]))[0]?.version).toBe(isThere ? 1 : undefined);
    });

    test.each(failures)("when %s: a removal is sent once", async (_, fault, isGone) => {
      const { store, sent, other } = opened("DeleteItem", [fault]);
      const item = anItem();
      await other.commit([{ put: item, when: "absent" }]);

      const outcome = await store.commit([{ remove: item.key, when: "exists" }]);

      expect(outcome).toEqual({ kind: "unknown" });
      expect(sent()).toHaveLength(1);
      expect((await other.get([item.key]))[0]?.version).toBe(isGone ? undefined : 1);
    });

    test.each(failures)("when %s: a transaction is sent once", async (_, fault, isThere) => {
      const { store, sent, other } = opened("TransactWriteItems", [fault]);
      const items = [anItem(), anItem()] as const;

      const outcome = await store.commit(puts(items));

      expect(outcome).toEqual({ kind: "unknown" });
      expect(sent()).toHaveLength(1);
      const found = await other.get(items.map(({ key }) => key));
      expect(found.map((item) => item?.version)).toEqual(isThere ? [1, 1] : [undefined, undefined]);
    });

    test("when the same transaction is still in progress", async () => {
      const { store } = opened("TransactWriteItems", [refusal("TransactionInProgressException")]);

      expect(await store.commit(puts([anItem(), anItem()]))).toEqual({ kind: "unknown" });
    });
  });

  describe("processes a batch in part", () => {
    test("is asked for the keys that are left, and the order stays", async () => {
      const leaveHalf = {
        change: (answer: Json, asked: Json) => halfOf(table.name, answer, asked),
      };
      const { store, sent, other } = opened("BatchGetItem", [leaveHalf, leaveHalf]);
      const items = Array.from({ length: 8 }, (_, n) => anItem({ version: n + 1 }));
      for (const item of items) await other.commit([{ put: item, when: "absent" }]);
      const keys = items.map(({ key }) => key);

      const found = await store.get([anItem().key, ...keys, ...keys.slice(0, 2)]);

      const versions = items.map(({ version }) => version);
      expect(found.map((item) => item?.version)).toEqual([undefined, ...versions, 1, 2]);
      expect(sent()).toHaveLength(3);
    });

    test("without end fails the read with a retryable error", async () => {
      const nothing = { instead: (asked: Json) => ({ UnprocessedKeys: asked.RequestItems }) };
      const { store } = opened("BatchGetItem", Array<Fault>(50).fill(nothing));

      const reading = store.get([anItem().key, anItem().key]);

      await expect(reading).rejects.toMatchObject({ code: "store/read-failed", retryable: true });
    });

    test("is sent the removals that are left, also while it is throttled", async () => {
      const leaveAll = { instead: (asked: Json) => ({ UnprocessedItems: asked.RequestItems }) };
      const throttle = refusal("ProvisionedThroughputExceededException");
      const { store, sent, other } = opened("BatchWriteItem", [leaveAll, throttle]);
      const items = [anItem(), anItem(), anItem()];
      for (const item of items) await other.commit([{ put: item, when: "absent" }]);
      const keys = items.map(({ key }) => key);

      await store.tidy([...keys, ...keys]);

      expect(await other.get(keys)).toEqual([undefined, undefined, undefined]);
      expect(sent()).toHaveLength(3);
    });

    test("with an unknown outcome is not sent the same removals again", async () => {
      const { store, sent, other } = opened("BatchWriteItem", [broken("ECONNRESET", "before")]);
      const item = anItem();
      await other.commit([{ put: item, when: "absent" }]);

      await store.tidy([item.key]);

      expect(sent()).toHaveLength(1);
      expect((await other.get([item.key]))[0]?.version).toBe(1);
    });
  });

  describe("refuses", () => {
    test("an invalid write: nothing was saved, and a retry cannot help", async () => {
      const { store } = opened("PutItem", [refusal("ValidationException")]);

      const commit = store.commit([{ put: anItem(), when: "absent" }]);

      await expect(commit).rejects.toMatchObject({ code: "store/commit-failed", retryable: false });
    });

    test("a transaction for another reason: nothing was saved", async () => {
      const reasons = [{ Code: "None" }, { Code: "ValidationError", Message: "too large" }];
      const cancelled = refusal("TransactionCanceledException", { CancellationReasons: reasons });
      const { store } = opened("TransactWriteItems", [cancelled]);

      const commit = store.commit(puts([anItem(), anItem()]));

      await expect(commit).rejects.toMatchObject({ code: "store/commit-failed" });
    });

    test("everything because the table does not exist", async () => {
      const store = new DynamoDbStore({ client: localClient(endpoint), table: "no-such-table" });

      const commit = store.commit([{ put: anItem(), when: "absent" }]);

      await expect(commit).rejects.toMatchObject({
        code: "store/commit-failed",
        message: expect.stringContaining("no-such-table"),
      });
      await expect(store.get([anItem().key])).rejects.toMatchObject({ code: "store/read-failed" });
      await expect(store.tidy([anItem().key])).rejects.toMatchObject({
        code: "store/commit-failed",
      });
    });
  });

  test("is unreachable has saved nothing", async () => {
    const { client, sent } = faultyClient(
      endpoint,
      "PutItem",
      Array<Fault>(9).fill(broken("ECONNREFUSED", "before")),
    );
    const store = new DynamoDbStore({ client, table: table.name });

    const commit = store.commit([{ put: anItem(), when: "absent" }]);

    await expect(commit).rejects.toMatchObject({ code: "store/commit-failed", retryable: true });
    // Nothing can have been written, so the client may retry.
    expect(sent().length).toBeGreaterThan(1);
  });
});

let items = 0;

function anItem(parts: Partial<Item> = {}): Item {
  items += 1;
  return { key: { pk: "p", sk: `n${items}` }, version: 1, body: new Uint8Array(3), ...parts };
}

function puts([a, b]: readonly [Item, Item]): [Write, Write] {
  return [
    { put: a, when: "absent" },
    { put: b, when: "absent" },
  ];
}

/** A response without the second half of the keys, which it leaves unprocessed. */
function halfOf(table: string, answer: Json, asked: Json): Json {
  type Keys = readonly Readonly<{ sk: { S: string } }>[];
  const requests = asked.RequestItems as Record<string, { Keys: Keys }>;
  const rows = (answer.Responses as Record<string, Keys>)[table] ?? [];
  const keys = requests[table]?.Keys ?? [];
  const left = keys.slice(Math.ceil(keys.length / 2));
  const isLeft = new Set(left.map(({ sk }) => sk.S));
  return {
    Responses: { [table]: rows.filter(({ sk }) => !isLeft.has(sk.S)) },
    UnprocessedKeys: { [table]: { ...requests[table], Keys: left } },
  };
}
