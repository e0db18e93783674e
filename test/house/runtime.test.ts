import { describe, expect, test } from "vitest";

describe("the tests", () => {
  test("run on the pinned Node 24, whatever Node started them", () => {
    expect(process.versions.node.split(".")[0]).toBe("24");
  });
});
