/** The OpenAPI 3.1 document, generated from the same table that routes and validates. */
import * as z from "zod";
import { JSON_TYPE, PROBLEM_TYPE } from "./http.ts";
import { type ApiSettings, idempotencyKey, KEY_HEADER, type Operation } from "./operation.ts";
import { type ProblemCode, problemKinds } from "./problem.ts";
import { problem } from "./shapes/problem.ts";
import { shapes } from "./shapes/registry.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Describes every operation as the router runs it. */
export function openApiDocument(operations: readonly Operation[], settings: ApiSettings): Schema {
  return {
    openapi: "3.1.0",
    info: {
      title: "Fermata",
      version: settings.version,
      description: "A durable workflow engine. Errors are problem details (RFC 9457).",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    servers: [{ url: "/" }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: pathsOf(operations, settings),
    components: {
      schemas: namedSchemas(),
      responses: problemResponses(),
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function pathsOf(operations: readonly Operation[], settings: ApiSettings): Schema {
  const paths = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries(
    [...paths].map(([path, there]) => [
      path,
      Object.fromEntries(
        there.map((operation) => [
          operation.method.toLowerCase(),
          describe(operation, settings.token !== undefined),
        ]),
      ),
    ]),
  );
}

function describe(operation: Operation, isGuarded: boolean): Schema {
  const { id, tag, summary, description, isOpen } = operation;
  const parameters = parametersOf(operation);
  const content = contentOf(operation.body.media);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: isGuarded && isOpen !== true ? [{ bearer: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(Object.keys(content).length > 0 && {
      requestBody: { required: operation.body.isRequired, content },
    }),
    responses: { ...goodResponses(operation), ...badResponses(operation) },
  };
}

function parametersOf({ params, query, takesKey }: Operation): readonly Schema[] {
  const header = {
    name: KEY_HEADER,
    in: "header",
    required: false,
    description: "The same key and body give the same response; another body is refused.",
    schema: inline(idempotencyKey),
  };
  return [
    ...parametersIn("path", params),
    ...parametersIn("query", query),
    ...(takesKey === true ? [header] : []),
  ];
}

function parametersIn(place: "path" | "query", shape: z.ZodObject): readonly Schema[] {
  return Object.entries(shape.shape).map(([name, field]) => {
    const { description, ...schema } = inline(field);
    return {
      name,
      in: place,
      required: place === "path",
      ...(description !== undefined && { description }),
      schema,
    };
  });
}

function goodResponses(operation: Operation): Schema {
  const types = operation.answerTypes ?? [JSON_TYPE];
  const headers = Object.fromEntries(
    Object.entries(operation.answerHeaders ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: "string" } },
    ]),
  );
  return Object.fromEntries(
    Object.entries(operation.answers).map(([status, description]) => [
      status,
      {
        description,
        ...(Object.keys(headers).length > 0 && { headers }),
        ...(types.length > 0 && {
          content: contentOf(Object.fromEntries(types.map((type) => [type, operation.answer]))),
        }),
      },
    ]),
  );
}

/** Errors of every call. */
const ALWAYS: readonly ProblemCode[] = [
  "request/invalid",
  "request/unauthorized",
  "request/method-not-allowed",
  "engine/busy",
  "engine/unexpected",
  "engine/closed",
];
/** Errors of every call that changes something. */
const CHANGING: readonly ProblemCode[] = ["engine/outcome-unknown"];
/** Errors of calls with a body. */
const WITH_BODY: readonly ProblemCode[] = [
  "request/body-too-large",
  "request/unsupported-media-type",
];

function badResponses({ problems, method }: Operation): Schema {
  const codes = [
    ...ALWAYS,
    ...(method === "GET" ? [] : CHANGING),
    ...(["POST", "PUT", "PATCH"].includes(method) ? WITH_BODY : []),
    ...problems,
  ];
  const byStatus = Map.groupBy(codes, (code) => problemKinds[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, its]) => [
      status,
      its.every((code) => !problems.some((own) => own === code))
        ? { $ref: `#/components/responses/Problem${status}` }
        : problemDescription(status, its),
    ]),
  );
}

function problemResponses(): Schema {
  const byStatus = Map.groupBy(
    [...ALWAYS, ...CHANGING, ...WITH_BODY],
    (code) => problemKinds[code].status,
  );
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [`Problem${status}`, problemDescription(status, codes)]),
  );
}

const PROBLEM_HEADERS: ReadonlyMap<number, string> = new Map([
  [401, "WWW-Authenticate"],
  [405, "Allow"],
  [429, "Retry-After"],
  [503, "Retry-After"],
]);

function problemDescription(status: number, codes: readonly ProblemCode[]): Schema {
  const header = PROBLEM_HEADERS.get(status);
  return {
    description: codes.map((code) => `${problemKinds[code].title} (\`${code}\`).`).join(" "),
    ...(header !== undefined && {
      headers: { [header]: { required: true, schema: { type: "string" } } },
    }),
    content: contentOf({ [PROBLEM_TYPE]: problem }),
  };
}

function contentOf(media: Readonly<Record<string, z.ZodType>>): Schema {
  return Object.fromEntries(
    Object.entries(media).map(([type, shape]) => {
      const id = shapes.get(shape)?.id;
      return [type, { schema: id === undefined ? inline(shape) : { $ref: refTo(id) } }];
    }),
  );
}

const refTo = (id: string): string => `#/components/schemas/${id}`;

/** Responses and query parameters are described in their output form; bodies are not transformed. */
const AS_READ = { io: "output", unrepresentable: "any" } as const;

function inline(shape: z.core.$ZodType): Schema {
  return withoutDialect(z.toJSONSchema(shape, AS_READ));
}

function namedSchemas(): Schema {
  const { schemas } = z.toJSONSchema(shapes, { ...AS_READ, uri: refTo });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]),
  );
}

/** The document names the dialect and the ids of its schemas once, not in each of them. */
function withoutDialect(schema: Schema): Schema {
  const { $schema: _, $id: __, ...rest } = schema;
  return rest;
}
