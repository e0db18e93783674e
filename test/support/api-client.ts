import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { ApiRequest, ApiResponse } from "../../lib/api/http.ts";

/** Sends one request to an API, in this process or over the wire. */
export type Send = (request: ApiRequest) => Promise<ApiResponse>;

/** What a test sends; a `json` value is sent as such, a `body` as it is. */
type Call = Readonly<{
  query?: string;
  json?: unknown;
  body?: string | Uint8Array;
  headers?: Readonly<Record<string, string>>;
}>;

/** A response, after it was validated against the document. */
type Answered = Readonly<{
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Empty if the body is not JSON. */
  json: Readonly<Record<string, unknown>>;
  text: string;
  bytes: Uint8Array;
}>;

/** Calls an API, and throws when a response is not one that its own document describes. */
export type CheckedApi = (method: string, path: string, call?: Call) => Promise<Answered>;

/** Reads the document that the API serves, and validates every response against it. */
export async function checkedApi(send: Send): Promise<CheckedApi> {
  const served = await send(requestOf("GET", "/v1/openapi.json", {}));
  if (served.status !== 200) throw new Error(`No document: ${textOf(served)}`);
  const { document, validator } = checksFor(textOf(served));

  return async (method, path, call = {}) => {
    const response = await send(requestOf(method, path, call));
    const text = textOf(response);
    const type = response.headers["content-type"]?.split(";")[0] ?? "";
    const isJson = type === "application/json" || type === "application/problem+json";
    const json = isJson && text !== "" ? parseObject(text) : {};
    const name = `${method} ${path} → ${response.status} ${text.slice(0, 500)}`;
    const place = placeOf(document, method, path, response.status);
    if (place === "undocumented") throw new Error(`Not in the document: ${name}`);
    const media = place === undefined ? {} : lookUp(document, `${place}/content`);
    const isEmpty = Object.keys(media).length === 0 && text === "" && type === "";
    if (place !== undefined && method !== "HEAD" && !isEmpty) {
      if (media[type] === undefined) throw new Error(`Undocumented type "${type}": ${name}`);
      const validate = validator(`${place}/content/${escaped(type)}/schema`);
      if (!validate(isJson ? json : text)) {
        throw new Error(`Not as documented: ${name}\n${JSON.stringify(validate.errors)}`);
      }
      const headers = lookUp(document, `${place}/headers`);
      for (const header of Object.keys(headers)) {
        if (response.headers[header.toLowerCase()] === undefined) {
          throw new Error(`No ${header}: ${name}`);
        }
      }
    }
    return {
      status: response.status,
      headers: response.headers,
      json,
      text,
      bytes: bytesOf(response),
    };
  };
}

/** Sends over the wire what a router would get. */
export function sendTo(baseUrl: string): Send {
  return async ({ method, path, query, headers, body }) => {
    const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    const response = await fetch(`${baseUrl}${path}${query === "" ? "" : `?${query}`}`, {
      method,
      headers: sent,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: new Uint8Array(await response.arrayBuffer()),
    };
  };
}

type Checks = Readonly<{ document: Document; validator: (pointer: string) => ValidateFunction }>;

/** Compiled once for each document, because most tests of a run get the same one. */
const checksByDocument = new Map<string, Checks>();

function checksFor(text: string): Checks {
  const known = checksByDocument.get(text);
  if (known !== undefined) return known;
  const document = parseDocument(text);
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS });
  ajv.addSchema(document, "document");
  const validators = new Map<string, ValidateFunction>();
  const validator = (pointer: string): ValidateFunction => {
    const found = validators.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    validators.set(pointer, found);
    return found;
  };
  const checks = { document, validator };
  checksByDocument.set(text, checks);
  return checks;
}

/** The parts of the document that tests read. */
export type Document = Readonly<Record<string, unknown>>;

/** The object at a JSON pointer, its own reference followed; empty where there is none. */
export function lookUp(document: Document, pointer: string): Document {
  let found: unknown = document;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) ? follow(document, found)[name] : undefined;
  }
  return isObject(found) ? follow(document, found) : {};
}

/** The document in its text. */
export function parseDocument(text: string): Document {
  return parseObject(text);
}

const FORMATS = {
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  duration: /^P/,
};

function requestOf(method: string, path: string, call: Call): ApiRequest {
  const isJson = call.json !== undefined;
  const body = isJson ? JSON.stringify(call.json) : (call.body ?? "");
  return {
    method,
    path,
    query: call.query ?? "",
    headers: { ...(isJson && { "content-type": "application/json" }), ...call.headers },
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
  };
}

/**
 * The document's description of this response. Undefined if no operation matches: an unknown path
 * must answer 404 or 401, an unknown method 405, and OPTIONS is not described.
 */
function placeOf(
  document: Document,
  method: string,
  path: string,
  status: number,
): string | "undocumented" | undefined {
  const templates = Object.keys(lookUp(document, "/paths"));
  // As OpenAPI says: a path that is written out goes before one with variable parts.
  const template =
    templates.find((candidate) => candidate === path) ??
    templates.find((candidate) =>
      new RegExp(`^${candidate.replace(/\{[^}]+\}/g, "[^/]+")}$`).test(path),
    );
  if (template === undefined) return [401, 404].includes(status) ? undefined : "undocumented";
  const operation = `/paths/${escaped(template)}/${(method === "HEAD" ? "GET" : method).toLowerCase()}`;
  if (Object.keys(lookUp(document, operation)).length === 0) {
    const expected = method === "OPTIONS" ? [204, 401] : [405, 401];
    return expected.includes(status) ? undefined : "undocumented";
  }
  const place = `${operation}/responses/${status}`;
  const response = lookUp(document, `${operation}/responses`)[String(status)];
  if (!isObject(response)) return "undocumented";
  return typeof response.$ref === "string" ? response.$ref.slice(1) : place;
}

function follow(document: Document, node: Document): Document {
  return typeof node.$ref === "string" ? lookUp(document, node.$ref.slice(1)) : node;
}

const escaped = (part: string): string => part.replaceAll("~", "~0").replaceAll("/", "~1");

const bytesOf = ({ body }: ApiResponse): Uint8Array =>
  typeof body === "string" ? new TextEncoder().encode(body) : body;

const textOf = (response: ApiResponse): string => new TextDecoder().decode(bytesOf(response));

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error(`Not an object: ${text.slice(0, 200)}`);
  return value;
}
