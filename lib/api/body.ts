import * as z from "zod";
import type { Notation } from "../definition/definition.ts";
import { MAX_SOURCE_BYTES } from "../definition/limits.ts";
import type { Source } from "../shapes/definitions.ts";
import { check } from "./check.ts";
import { type ApiRequest, JSON_TYPE, parseContentType } from "./http.ts";
import { decodeUtf8, parseJson } from "./json-text.ts";
import { MAX_ANY_BODY_BYTES, MAX_BODY_BYTES } from "./limits.ts";
import { invalid, refuse } from "./refuse.ts";
import { sourceInJson } from "./shapes/definition.ts";
import { decodeXml } from "./source-text.ts";

/** How a call parses its body, and how the document describes it. */
export type BodySpec<T> = Readonly<{
  /** The shape by media type; none where the call needs no body. */
  media: Readonly<Record<string, z.ZodType>>;
  isRequired: boolean;
  read(request: ApiRequest): T;
}>;

/** A body of JSON. Where every field may be absent, so may the body. */
export function jsonBody<S extends z.ZodType>(shape: S): BodySpec<z.output<S>> {
  const isRequired = !shape.safeParse({}).success;
  return {
    media: { [JSON_TYPE]: shape },
    isRequired,
    read: (request) => check(shape, shortJsonOf(request, isRequired), "body"),
  };
}

/** Of calls that need no body; an empty object is accepted. */
export const noBody: BodySpec<unknown> = {
  media: {},
  isRequired: false,
  read: (request) => check(z.strictObject({}), shortJsonOf(request, false), "body"),
};

/** Of calls whose method gives a body no meaning: the body is ignored. */
export const ignoredBody: BodySpec<unknown> = {
  media: {},
  isRequired: false,
  read: () => undefined,
};

/** A workflow's source: the file itself, or JSON around it. */
export const sourceBody: BodySpec<Source> = {
  media: {
    "application/xml": z.string().describe("BPMN 2.0."),
    "text/xml": z.string().describe("BPMN 2.0."),
    "application/yaml": z.string().describe("A journey."),
    [JSON_TYPE]: sourceInJson,
  },
  isRequired: true,
  read: (request) => {
    refuseEncoded(request);
    const { type, charset } = parseContentType(request.headers["content-type"]);
    if (type === JSON_TYPE) {
      limitTo(MAX_ANY_BODY_BYTES, request.body.length);
      const source = check(sourceInJson, jsonOf(request, true), "body");
      limitTo(MAX_SOURCE_BYTES, new TextEncoder().encode(source.source).length);
      return source;
    }
    limitTo(MAX_SOURCE_BYTES, request.body.length);
    const notation = SOURCE_TYPES.get(type);
    if (notation === undefined) throw unreadable(type, Object.keys(sourceBody.media));
    if (request.body.length === 0) throw empty("Send the workflow's source as the body.");
    if (notation === "bpmn") return { notation, source: decodeXml(request.body, charset) };
    return { notation, source: decodeUtf8(request.body) };
  },
};

/** A bundle of workflows in code. */
export const codeBody: BodySpec<Source> = {
  media: {
    "application/javascript": z.string().min(1).describe("A bundle, as `fermata deploy` makes it."),
    "text/javascript": z.string().min(1).describe("The same."),
  },
  isRequired: true,
  read: (request) => {
    refuseEncoded(request);
    limitTo(MAX_SOURCE_BYTES, request.body.length);
    const { type } = parseContentType(request.headers["content-type"]);
    const known = Object.keys(codeBody.media);
    if (!known.includes(type)) throw unreadable(type, known);
    if (request.body.length === 0) throw empty("Send the bundle as the body.");
    return { notation: "code", source: decodeUtf8(request.body) };
  },
};

const SOURCE_TYPES: ReadonlyMap<string, Notation> = new Map([
  ["application/xml", "bpmn"],
  ["text/xml", "bpmn"],
  ["application/yaml", "journey"],
]);

function shortJsonOf(request: ApiRequest, isRequired: boolean): unknown {
  refuseEncoded(request);
  limitTo(MAX_BODY_BYTES, request.body.length);
  return jsonOf(request, isRequired);
}

function jsonOf(request: ApiRequest, isRequired: boolean): unknown {
  const { body, headers } = request;
  if (body.length === 0) {
    if (isRequired) throw empty("Send a JSON object as the body.");
    return {};
  }
  const { type, charset = "utf-8" } = parseContentType(headers["content-type"]);
  if (type !== JSON_TYPE || !["utf-8", "utf8"].includes(charset)) {
    throw unreadable(type === JSON_TYPE ? `${type}; charset=${charset}` : type, [JSON_TYPE]);
  }
  return parseJson(body);
}

/** Nothing is decompressed: a small body could become a very large one. */
function refuseEncoded({ body, headers }: ApiRequest): void {
  const encoding = headers["content-encoding"] ?? "";
  const codings = encoding.split(",").map((coding) => coding.trim().toLowerCase());
  if (body.length === 0 || codings.every((coding) => ["", "identity"].includes(coding))) return;
  throw refuse(
    "request/unsupported-media-type",
    `The body has the Content-Encoding ${JSON.stringify(encoding.slice(0, 40))}`,
    "header content-encoding",
    "Send the body uncompressed, without Content-Encoding.",
  );
}

function limitTo(limit: number, bytes: number): void {
  if (bytes <= limit) return;
  throw refuse(
    "request/body-too-large",
    `The body has ${bytes} bytes or more`,
    "body",
    `Send at most ${limit} bytes.`,
  );
}

function unreadable(type: string, known: readonly string[]) {
  return refuse(
    "request/unsupported-media-type",
    type === ""
      ? "The body has no media type"
      : `A body of ${JSON.stringify(type)} is not read here`,
    "header content-type",
    `Send ${known.join(", ")} in UTF-8, and say so in Content-Type.`,
  );
}

function empty(message: string) {
  return invalid([{ in: "body", at: "", message }]);
}
