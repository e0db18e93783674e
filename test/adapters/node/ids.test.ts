import { describe, expect, test } from "vitest";
import { nodeIds } from "../../../lib/adapters/node/ids.ts";

describe("ids of this machine", () => {
  test("are never the same twice", () => {
    const ids = nodeIds();

    expect(new Set(Array.from({ length: 1_000 }, () => ids.fresh())).size).toBe(1_000);
  });
});

describe("a digest", () => {
  test("is the first half of the SHA-256, in 22 characters for URLs", () => {
    expect(nodeIds().digest("")).toBe("47DEQpj8HBSa-_TImW-5JA");
    expect(nodeIds().digest("a")).toHaveLength(22);
  });

  test("is the same for the same text only", () => {
    const { digest } = nodeIds();

    expect(digest("order-1")).toBe(digest("order-1"));
    expect(digest("order-1")).not.toBe(digest("order-2"));
  });
});
