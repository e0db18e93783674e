import * as z from "zod";
import { errorCodes } from "../../ports/engine-error.ts";
import { named } from "./registry.ts";
import { count } from "./values.ts";

/** What is wrong with a workflow's source. */
export const diagnostic = named(
  "Diagnostic",
  z.strictObject({
    severity: z.enum(["error", "warning"]),
    code: z.string(),
    message: z.string(),
    element: z.string().exactOptional().describe("The id of the element, where there is one."),
    file: z.string().exactOptional().describe("The author's file, where there are several."),
    line: count.exactOptional(),
    column: count.exactOptional(),
    hint: z.string(),
  }),
);

const problemEntry = named(
  "ProblemEntry",
  z
    .looseObject({
      message: z.string(),
      in: z.enum(["path", "query", "header", "body"]).exactOptional(),
      at: z
        .string()
        .exactOptional()
        .describe("A parameter's name, or a JSON pointer into the body."),
      severity: z.enum(["error", "warning"]).exactOptional(),
      code: z.string().exactOptional(),
      element: z.string().exactOptional(),
      file: z.string().exactOptional(),
      line: count.exactOptional(),
      column: count.exactOptional(),
      hint: z.string().exactOptional(),
    })
    .describe("One thing that is wrong: a fault of the request, or a diagnostic of a source."),
);

/** Every error, as RFC 9457 lays it out. */
export const problem = named(
  "Problem",
  z.strictObject({
    type: z.string().describe("Where the code is explained."),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe("What happened, where, and what to do about it."),
    code: z.enum(errorCodes).describe("A promise: it keeps its meaning."),
    instance: z.string().describe("The path of the request."),
    errors: z.array(problemEntry).exactOptional(),
    errorId: z.string().exactOptional().describe("Finds a failure of the engine in its log."),
  }),
);
