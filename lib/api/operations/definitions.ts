import * as z from "zod";
import type { Notation } from "../../definition/definition.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { codeBody, ignoredBody, jsonBody, noBody, sourceBody } from "../body.ts";
import { paged } from "../cursor.ts";
import { MAX_VERSION } from "../limits.ts";
import { type ApiSettings, nothing, type Operation, operation } from "../operation.ts";
import * as shape from "../shapes/definition.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";
import { idText, integerText } from "../shapes/values.ts";
import { encodeXml } from "../source-text.ts";

const byId = z.strictObject({ definitionId: idText });
const byVersion = z.strictObject({
  definitionId: idText,
  version: integerText({ min: 1, max: MAX_VERSION }),
});
const tag = "Definitions";

/** Deploying, reading, disabling and undeploying definitions. */
export const definitionOperations: readonly Operation[] = [
  operation({
    id: "deploy",
    method: "POST",
    path: "/v1/definitions",
    tag,
    summary: "Deploy a workflow",
    description:
      "The body is the source itself, or JSON around it. A source with errors is refused with every diagnostic, and nothing is stored.",
    params: nothing,
    query: nothing,
    body: sourceBody,
    answers: { 201: "Stored as a new version.", 200: "Identical to the latest; nothing stored." },
    answer: shape.deployment,
    problems: ["definition/invalid", "definition/notation-unknown"],
    run: async ({ body }, { engine }) => {
      const { created, definitions } = await engine.deploy(body);
      return { status: created ? 201 : 200, json: { definitions } };
    },
  }),
  operation({
    id: "validate",
    method: "POST",
    path: "/v1/definitions:validate",
    tag,
    summary: "Check a workflow without storing it",
    params: nothing,
    query: nothing,
    body: sourceBody,
    answers: { 200: "Whether it could be deployed, and every diagnostic." },
    answer: shape.validation,
    problems: ["definition/notation-unknown"],
    run: async ({ body }, { engine }) => ({ status: 200, json: await engine.validate(body) }),
  }),
  operation({
    id: "deployCode",
    method: "POST",
    path: "/v1/definitions:code",
    tag,
    summary: "Deploy workflows in code",
    description:
      "The body is a bundle of JavaScript, as `fermata deploy` makes it from TypeScript. It is a call of its own, so that it can have a permission of its own; a server takes it only if it was started to do so.",
    params: nothing,
    query: nothing,
    body: codeBody,
    answers: { 201: "Stored as a new version.", 200: "Identical to the latest; nothing stored." },
    answer: shape.deployment,
    problems: ["definition/code-not-accepted", "definition/invalid", "definition/notation-unknown"],
    run: async ({ body }, { engine, settings }) => {
      demandCode(settings);
      const { created, definitions } = await engine.deploy(body);
      return { status: created ? 201 : 200, json: { definitions } };
    },
  }),
  operation({
    id: "validateCode",
    method: "POST",
    path: "/v1/definitions:validate-code",
    tag,
    summary: "Check workflows in code without storing them",
    params: nothing,
    query: nothing,
    body: codeBody,
    answers: { 200: "Whether they could be deployed, and every diagnostic." },
    answer: shape.validation,
    problems: ["definition/code-not-accepted", "definition/notation-unknown"],
    run: async ({ body }, { engine, settings }) => {
      demandCode(settings);
      return { status: 200, json: await engine.validate(body) };
    },
  }),
  operation({
    id: "definitions",
    method: "GET",
    path: "/v1/definitions",
    tag,
    summary: "List definitions, each in its latest version",
    params: nothing,
    query: z.strictObject(pageQuery),
    body: ignoredBody,
    answers: { 200: "A page of definitions." },
    answer: shape.definitionList,
    problems: ["store/cursor-invalid"],
    run: async ({ query }, { engine }) => ({
      status: 200,
      json: paged(await engine.definitions(pageOf(query))),
    }),
  }),
  operation({
    id: "definition",
    method: "GET",
    path: "/v1/definitions/{definitionId}",
    tag,
    summary: "Get the latest version of a definition",
    params: byId,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The definition." },
    answer: shape.definition,
    problems: ["definition/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.definition(params.definitionId),
    }),
  }),
  operation({
    id: "undeploy",
    method: "DELETE",
    path: "/v1/definitions/{definitionId}",
    tag,
    summary: "Undeploy a definition",
    description:
      "It starts no more instances. Running instances continue with their stored version.",
    params: byId,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "Undeployed." },
    answer: shape.undeployed,
    problems: ["definition/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.undeploy(params.definitionId),
    }),
  }),
  operation({
    id: "versions",
    method: "GET",
    path: "/v1/definitions/{definitionId}/versions",
    tag,
    summary: "List the versions of a definition",
    params: byId,
    query: z.strictObject(pageQuery),
    body: ignoredBody,
    answers: { 200: "A page of versions, the newest first." },
    answer: shape.definitionList,
    problems: ["definition/not-found", "store/cursor-invalid"],
    run: async ({ params, query }, { engine }) => ({
      status: 200,
      json: paged(await engine.versions(params.definitionId, pageOf(query))),
    }),
  }),
  operation({
    id: "definitionVersion",
    method: "GET",
    path: "/v1/definitions/{definitionId}/versions/{version}",
    tag,
    summary: "Get one version of a definition",
    params: byVersion,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The definition." },
    answer: shape.definition,
    problems: ["definition/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.definition(params.definitionId, params.version),
    }),
  }),
  operation({
    id: "source",
    method: "GET",
    path: "/v1/definitions/{definitionId}/versions/{version}/source",
    tag,
    summary: "Get the source of a version, as it was sent",
    params: byVersion,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The source; an XML file comes in the encoding that it declares." },
    answer: z.string(),
    answerTypes: ["application/xml", "application/yaml", "application/javascript"],
    problems: ["definition/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      ...sourceAnswer(await engine.source(params.definitionId, params.version)),
    }),
  }),
  operation({
    id: "listing",
    method: "GET",
    path: "/v1/definitions/{definitionId}/listing",
    tag,
    summary: "Over how many shards the instances of a definition are listed",
    params: byId,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The number." },
    answer: shape.listing,
    problems: ["definition/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.listing(params.definitionId),
    }),
  }),
  operation({
    id: "setListing",
    method: "PUT",
    path: "/v1/definitions/{definitionId}/listing",
    tag,
    summary: "Spread the lists of a definition's instances over more shards",
    description:
      "For a definition whose instances start, end or get incidents some hundred times a second. Existing instances stay where they are; new ones are spread. The number only grows, and every page reads all shards.",
    params: byId,
    query: nothing,
    body: jsonBody(shape.setListing),
    answers: { 200: "As it is now." },
    answer: shape.listing,
    problems: ["definition/not-found", "definition/fewer-shards"],
    run: async ({ params, body }, { engine }) => ({
      status: 200,
      json: await engine.setListing(params.definitionId, body),
    }),
  }),
  operation({
    id: "disable",
    method: "POST",
    path: "/v1/definitions/{definitionId}/disable",
    tag,
    summary: "Disable a definition",
    description: "Starts are refused until it is enabled again. Running instances continue.",
    params: byId,
    query: nothing,
    body: noBody,
    answers: { 200: "Disabled, now or before." },
    answer: shape.definition,
    problems: ["definition/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.disable(params.definitionId),
    }),
  }),
  operation({
    id: "enable",
    method: "POST",
    path: "/v1/definitions/{definitionId}/enable",
    tag,
    summary: "Enable a definition",
    params: byId,
    query: nothing,
    body: noBody,
    answers: { 200: "Enabled, now or before." },
    answer: shape.definition,
    problems: ["definition/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.enable(params.definitionId),
    }),
  }),
];

/** Deployed code runs in the engine's sandbox, so the host must have enabled it. */
function demandCode({ acceptsCode = false }: ApiSettings): void {
  if (acceptsCode) return;
  throw new EngineError("definition/code-not-accepted", {
    happened: "This server does not take workflows in code",
    where: "POST /v1/definitions:code",
    fix: "Start it with `acceptCode` (`fermata dev --accept-code`), and let only those reach it who may deploy code.",
  });
}

function sourceAnswer({ notation, text }: Readonly<{ notation: Notation; text: string }>) {
  switch (notation) {
    case "bpmn": {
      const { bytes, charset } = encodeXml(text);
      return { raw: bytes, type: `application/xml; charset=${charset}` };
    }
    case "journey":
      return { raw: text, type: "application/yaml; charset=utf-8" };
    case "code":
      return { raw: text, type: "application/javascript; charset=utf-8" };
  }
}
