import { feelExpressions } from "../../lib/adapters/feelin/feel-expressions.ts";
import { bpmnCompiler } from "../../lib/frontends/bpmn/compiler.ts";
import { compile } from "./handler.ts";

const expressions = feelExpressions();

export const handler = compile({ bpmn: bpmnCompiler({ expressions }) });
