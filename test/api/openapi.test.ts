import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../lib/api/openapi.ts";
import { operations } from "../../lib/api/operations.ts";
import { problemKinds, problemType } from "../../lib/api/problem.ts";
import { UNDECLARED } from "../../lib/engine/rows/event.ts";
import { lookUp, parseDocument } from "../support/api-client.ts";

const document = parseDocument(JSON.stringify(openApiDocument(operations, { version: "1.2.3" })));
const reference = (page: string) =>
  readFileSync(join(import.meta.dirname, "../../docs/reference", page), "utf8");

describe("the OpenAPI document", () => {
  test("is OpenAPI 3.1 with every operation, each named once", () => {
    const ids = operations.map(({ path, method }) => {
      const described = lookUp(
        document,
        `/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}`,
      );
      return described.operationId;
    });

    expect(document.openapi).toBe("3.1.0");
    expect(lookUp(document, "/info")).toMatchObject({ title: "Fermata", version: "1.2.3" });
    expect(ids).toEqual(operations.map(({ id }) => id));
    expect(new Set(ids).size).toBe(operations.length);
  });

  test("has no dangling reference", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)];

    expect(references.length).toBeGreaterThan(50);
    for (const [, pointer = ""] of references) {
      expect(Object.keys(lookUp(document, pointer)), pointer).not.toEqual([]);
    }
  });

  test("declares the parameters of every path, and no others", () => {
    for (const { path, method } of operations) {
      const described = lookUp(
        document,
        `/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}`,
      );
      const parameters = Array.isArray(described.parameters) ? described.parameters : [];
      const inPath = parameters.filter((parameter) => parameter.in === "path");

      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required === true)).toBe(true);
      expect(parameters.every(({ schema }) => typeof schema === "object")).toBe(true);
    }
  });

  test("says that a message is a duplicate when it comes again, and refused when it has changed", () => {
    const { responses, description } = lookUp(document, "/paths/~1v1~1messages/post");

    expect(Object.keys(responses ?? {})).toContain("409");
    expect(description).toContain("`duplicate`");
  });

  test("has the engine's defaults for the settings of an event type", () => {
    const settings = "/components/schemas/EventSettings/properties";

    const defaults = Object.keys(lookUp(document, settings)).map((name) => [
      name,
      lookUp(document, `${settings}/${name}`).default,
    ]);

    expect(Object.fromEntries(defaults)).toEqual(UNDECLARED);
  });

  test("has schemas that JSON Schema 2020-12 understands", () => {
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      formats: { "date-time": true, duration: true },
    });
    ajv.addSchema({ ...lookUp(document, "/components"), $id: "components" }, "components");

    for (const name of Object.keys(lookUp(document, "/components/schemas"))) {
      const schema = JSON.parse(
        JSON.stringify(lookUp(document, `/components/schemas/${name}`)).replaceAll(
          "#/components/",
          "components#/",
        ),
      );
      expect(ajv.validateSchema(schema), name).toBe(true);
    }
  });

  test("documents the errors common to all operations on every operation", () => {
    for (const { path, method } of operations) {
      const pointer = `/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}/responses`;
      const statuses = Object.keys(lookUp(document, pointer)).map(Number);

      expect(statuses).toEqual(expect.arrayContaining([400, 401, 405, 429, 500, 503]));
      if (["POST", "PUT"].includes(method))
        expect(statuses).toEqual(expect.arrayContaining([413, 415]));
    }
  });

  test("requires a token exactly when the server does", () => {
    const guarded = openApiDocument(operations, { version: "1", token: "t" });
    const security = (doc: typeof guarded, path: string) =>
      lookUp(doc, `/paths/${path.replaceAll("/", "~1")}/get`).security;

    expect(security(guarded, "/v1/instances")).toEqual([{ bearer: [] }]);
    expect(security(guarded, "/v1/health")).toEqual([]);
    expect(security(document, "/v1/instances")).toEqual([]);
  });

  test("allows no unknown property in any request object", () => {
    const bodies = operations.map(({ path, method }) => {
      const pointer = `/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}`;
      return lookUp(document, `${pointer}/requestBody/content/application~1json/schema`);
    });
    const known = bodies.filter((body) => Object.keys(body).length > 0);

    expect(known.length).toBeGreaterThan(10);
    for (const body of known) expect(body.additionalProperties, JSON.stringify(body)).toBe(false);
  });
});

describe("the type of a problem", () => {
  const anchors = [...reference("errors.md").matchAll(/^##+ (.+)$/gm)].map(
    ([, heading = ""]) => `/docs/reference/errors.md#${heading.replaceAll("/", "")}`,
  );

  test.each(parseCodes())("%s is a link to its heading", (code) => {
    expect(anchors).toContain(problemType(code));
  });

  function parseCodes() {
    return Object.keys(problemKinds) as (keyof typeof problemKinds)[];
  }
});

describe("docs/reference/http-api.md", () => {
  test.each(operations.map(({ method, path }) => `${method} ${path}`))("documents %s", (call) => {
    expect(reference("http-api.md")).toContain(`\`${call}\``);
  });
});
