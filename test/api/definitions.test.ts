import { describe, expect, test } from "vitest";
import { MAX_SOURCE_BYTES } from "../../lib/definition/limits.ts";
import { aDiagnostic } from "../support/canned-views.ts";
import { fakeApi } from "./fake-api.ts";

const XML = { "content-type": "application/xml" };
const umlaut = (declared: string) => `<?xml version="1.0" encoding="${declared}"?><a>ü€</a>`;
const windows1252 = (text: string) =>
  Uint8Array.from(text, (character) => (character === "€" ? 0x80 : character.charCodeAt(0)));

describe("deploying", () => {
  test("answers 201 with what was stored", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", "/v1/definitions", { headers: XML, body: "<a/>" });

    expect(answer).toMatchObject({
      status: 201,
      json: { definitions: [{ id: "order", version: 1, warnings: [{ code: "bpmn/broken" }] }] },
    });
    expect(asked).toEqual([["deploy", { notation: "bpmn", source: "<a/>" }]]);
  });

  test("answers 200 when the source is identical to the latest", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/definitions", { headers: XML, body: "<a>again</a>" });

    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual(["definitions"]);
  });

  test("answers 422 with all diagnostics", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/definitions", { headers: XML, body: "<broken/>" });

    expect(answer).toMatchObject({
      status: 422,
      json: { code: "definition/invalid", errors: [aDiagnostic, aDiagnostic] },
    });
  });

  test.each([
    ["JSON", "application/json", JSON.stringify({ notation: "bpmn", source: "<a/>" }), "bpmn"],
    ["text/xml", "text/xml", "<a/>", "bpmn"],
    ["a media type in capitals", "Application/XML; charset=UTF-8", "<a/>", "bpmn"],
  ])("takes %s", async (_, type, body, notation) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", "/v1/definitions", {
      headers: { "content-type": type },
      body,
    });

    expect(answer.status).toBe(201);
    expect(asked).toEqual([["deploy", { notation, source: "<a/>" }]]);
  });

  test.each([
    ["its declaration", "ISO-8859-1", "application/xml"],
    ["its declaration, in small letters", "windows-1252", "application/xml"],
    ["the charset, which beats the declaration", "utf-8", "application/xml; charset=iso-8859-1"],
  ])("decodes XML by %s", async (_, declared, type) => {
    const { api, asked } = await fakeApi();
    const body = windows1252(umlaut(declared));

    await api("POST", "/v1/definitions", { headers: { "content-type": type }, body });

    expect(asked).toEqual([["deploy", { notation: "bpmn", source: umlaut(declared) }]]);
  });

  test.each([
    ["that has no front end", "application/yaml", "a: 1", 422, "definition/notation-unknown"],
    ["in an unknown media type", "text/plain", "<a/>", 415, "request/unsupported-media-type"],
    ["without a media type", "", "<a/>", 415, "request/unsupported-media-type"],
    [
      "in an unknown encoding",
      "application/xml; charset=utf-7",
      "<a/>",
      415,
      "request/unsupported-media-type",
    ],
    ["in UTF-16", "application/xml", Uint8Array.of(0xff, 0xfe, 60, 0), 415, undefined],
    ["that is empty", "application/xml", "", 400, "request/invalid"],
    ["that is not UTF-8", "application/xml", Uint8Array.of(60, 0xff), 400, "request/invalid"],
    ["that is code, which has a path of its own", "application/json", code(), 400, undefined],
    ["one byte too long", "application/xml", "x".repeat(MAX_SOURCE_BYTES + 1), 413, undefined],
    ["one byte too long in JSON", "application/json", tooLong(), 413, "request/body-too-large"],
  ] as const)("refuses a source %s", async (_, type, body, status, code) => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/definitions", {
      headers: { "content-type": type },
      body,
    });

    expect(answer.status).toBe(status);
    if (code !== undefined) expect(answer.json.code).toBe(code);
  });

  test("takes a bundle of the longest length, and refuses one with a byte more", async () => {
    const { api } = await fakeApi();
    const headers = { "content-type": "application/javascript" };
    const deploy = (length: number) =>
      api("POST", "/v1/definitions:code", { headers, body: "x".repeat(length) });

    expect((await deploy(MAX_SOURCE_BYTES)).status).not.toBe(413);
    expect((await deploy(MAX_SOURCE_BYTES + 1)).status).toBe(413);
  });

  test("takes a source of the longest length", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/definitions", {
      headers: XML,
      body: "x".repeat(MAX_SOURCE_BYTES),
    });

    expect(answer.status).toBe(201);
  });

  function code(): string {
    return JSON.stringify({ notation: "code", source: "x" });
  }
  function tooLong(): string {
    return JSON.stringify({ notation: "bpmn", source: "x".repeat(MAX_SOURCE_BYTES + 1) });
  }
});

describe("validating", () => {
  test.each([
    ["<a/>", { valid: true, diagnostics: [] }],
    ["<broken/>", { valid: false, diagnostics: [aDiagnostic] }],
  ])("%s answers 200 with the verdict", async (body, expected) => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/definitions:validate", { headers: XML, body });

    expect(answer).toMatchObject({ status: 200, json: expected });
  });
});

describe("definitions", () => {
  test.each([
    ["GET", "/v1/definitions"],
    ["GET", "/v1/definitions/order"],
    ["GET", "/v1/definitions/order/versions"],
    ["GET", "/v1/definitions/order/versions/1"],
    ["GET", "/v1/definitions/order/versions/1/source"],
    ["POST", "/v1/definitions/order/disable"],
    ["POST", "/v1/definitions/order/enable"],
    ["DELETE", "/v1/definitions/order"],
  ])("answer %s %s with 200", async (method, path) => {
    const { api } = await fakeApi();

    const answer = await api(method, path);

    expect(answer.status).toBe(200);
  });

  test.each([
    ["GET", "/v1/definitions/nope"],
    ["GET", "/v1/definitions/nope/versions"],
    ["GET", "/v1/definitions/nope/versions/1"],
    ["GET", "/v1/definitions/order/versions/2"],
    ["GET", "/v1/definitions/nope/versions/1/source"],
    ["POST", "/v1/definitions/nope/disable"],
    ["POST", "/v1/definitions/nope/enable"],
    ["DELETE", "/v1/definitions/nope"],
    ["POST", "/v1/definitions/nope/instances"],
  ])("answer %s %s with 404", async (method, path) => {
    const { api } = await fakeApi();

    const answer = await api(method, path);

    expect(answer).toMatchObject({ status: 404, json: { code: "definition/not-found" } });
  });

  test("are listed in pages", async () => {
    const { api, asked } = await fakeApi();

    const first = await api("GET", "/v1/definitions", { query: "limit=1" });
    await api("GET", "/v1/definitions", { query: `cursor=${first.json.nextCursor}` });

    expect(asked).toEqual([
      ["definitions", { limit: 1 }],
      ["definitions", { limit: 50, cursor: "more" }],
    ]);
  });

  test("refuse a cursor of another list", async () => {
    const { api } = await fakeApi();

    const answer = await api("GET", "/v1/definitions", { query: "cursor=garbage" });

    expect(answer).toMatchObject({ status: 400, json: { code: "store/cursor-invalid" } });
  });
});

describe("a source", () => {
  test.each([
    ["ISO-8859-1", "iso-8859-1", windows1252(umlaut("ISO-8859-1"))],
    ["UTF-8", "utf-8", new TextEncoder().encode(umlaut("UTF-8"))],
  ])("in %s comes back as it was sent", async (declared, charset, bytes) => {
    const source = async () => ({ notation: "bpmn" as const, text: umlaut(declared) });
    const { api } = await fakeApi({ engine: { source } });

    const answer = await api("GET", "/v1/definitions/order/versions/1/source");

    expect(answer.headers["content-type"]).toBe(`application/xml; charset=${charset}`);
    expect(answer.bytes).toEqual(bytes);
  });

  test("that its declared encoding cannot represent is returned in UTF-8, and says so", async () => {
    const text = umlaut("ISO-8859-1").replace("ü", "語");
    const { api } = await fakeApi({ engine: { source: async () => ({ notation: "bpmn", text }) } });

    const answer = await api("GET", "/v1/definitions/order/versions/1/source");

    expect(answer.headers["content-type"]).toBe("application/xml; charset=utf-8");
    expect(answer.text).toBe(text);
  });

  test.each([
    ["journey", "application/yaml; charset=utf-8"],
    ["code", "application/javascript; charset=utf-8"],
  ] as const)("of a %s has the media type of its notation", async (notation, type) => {
    const { api } = await fakeApi({ engine: { source: async () => ({ notation, text: "a: ü" }) } });

    const answer = await api("GET", "/v1/definitions/order/versions/1/source");

    expect(answer).toMatchObject({ headers: { "content-type": type }, text: "a: ü" });
  });
});

describe("the listing of a definition", () => {
  test.each([0, 3, 65, 128, -1, 1.5, null, "8"])("is not spread over %j shards", async (shards) => {
    const { api, asked } = await fakeApi();

    const answer = await api("PUT", "/v1/definitions/order/listing", { json: { shards } });

    expect(answer).toMatchObject({ status: 400, json: { errors: [{ at: "/shards" }] } });
    expect(asked).toEqual([]);
  });

  test("shows its shards, and accepts more of them", async () => {
    const { api, asked } = await fakeApi();

    const shown = await api("GET", "/v1/definitions/order/listing");
    const spread = await api("PUT", "/v1/definitions/order/listing", { json: { shards: 8 } });

    expect(shown).toMatchObject({ status: 200, json: { definition: "order", shards: 1 } });
    expect(spread).toMatchObject({ status: 200, json: { definition: "order", shards: 8 } });
    expect(asked.at(-1)).toEqual(["setListing", "order", { shards: 8 }]);
  });

  test.each([
    {},
    { shards: 0 },
    { shards: 3 },
    { shards: 128 },
    { shards: "8" },
    { shards: 8, to: 1 },
  ])("is refused with %j", async (json) => {
    const { api } = await fakeApi();

    const answer = await api("PUT", "/v1/definitions/order/listing", { json });

    expect(answer).toMatchObject({ status: 400, json: { code: "request/invalid" } });
  });

  test("is refused for an unknown definition", async () => {
    const { api } = await fakeApi();

    expect(await api("GET", "/v1/definitions/nope/listing")).toMatchObject({ status: 404 });
    expect(await api("PUT", "/v1/definitions/nope/listing", { json: { shards: 8 } })).toMatchObject(
      { status: 404 },
    );
  });
});
