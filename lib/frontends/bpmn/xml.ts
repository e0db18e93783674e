// Parses text into a tree of elements, each with its line.
// 1. All work is proportional to the text: a hostile file is refused quickly.
// 2. Text that is not well-formed is refused; nothing is repaired or dropped.
// 3. A declaration (DOCTYPE, ENTITY) ends the parsing where it occurs.

import { type GetContext, Parser, type Tag } from "saxen";
import { MAX_XML_DEPTH, MAX_XML_ELEMENTS } from "../../definition/limits.ts";
import { type Parsed, quoted } from "../../definition/parsed.ts";
import type { BpmnCode } from "./codes.ts";
import { lineCounter } from "./line-counter.ts";
import { decodeAttribute, decodeText } from "./xml-text.ts";

/**
 * An element of the source; `bpmn:` and `zeebe:` names have these prefixes whatever the file uses.
 */
export type XmlElement = Readonly<{
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: readonly XmlElement[];
  /** The text directly inside, trimmed. */
  text: string;
  line: number;
}>;

/** The root of the tree, or the one reason why there is none. */
export type XmlReading = Readonly<{ ok: true; root: XmlElement } | ({ ok: false } & XmlProblem)>;

type XmlProblem = Readonly<{ code: BpmnCode; line: number; message: string; hint: string }>;

/** The namespace of task types, mappings and headers. */
export const ZEEBE_NAMESPACE = "http://camunda.org/schema/zeebe/1.0";

/** The namespaces with a meaning here, and the prefix that each gets. */
const NAMESPACES = {
  "http://www.omg.org/spec/BPMN/20100524/MODEL": "bpmn",
  [ZEEBE_NAMESPACE]: "zeebe",
  "http://camunda.org/schema/modeler/1.0": "modeler",
};

/** Parses XML; line breaks count as one character each, as XML prescribes. */
export function readXml(text: string): XmlReading {
  const source = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const tree = startTree(source);
  const parser = new Parser({ proxy: true })
    .ns(NAMESPACES)
    .on("openTag", tree.openTag)
    .on("closeTag", tree.closeTag)
    .on("text", tree.text)
    .on("cdata", tree.cdata)
    .on("comment", () => tree.skip("<!--", "-->"))
    .on("question", () => tree.skip("<?", "?>"))
    .on("attention", tree.declaration)
    .on("warn", tree.malformed)
    .on("error", tree.malformed);
  try {
    parser.parse(source);
    return { ok: true, root: tree.root() };
  } catch (stopped) {
    if (stopped instanceof Unreadable) return { ok: false, ...stopped.problem };
    throw stopped;
  }
}

/**
 * Ends the parsing from inside the parser's callbacks. When stopped normally, the parser would
 * still finish its current tag, with an error object for each wrong character.
 */
class Unreadable extends Error {
  readonly problem: XmlProblem;
  constructor(problem: XmlProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

function malformedXml(line: number, what: string, hint = SAVE_AGAIN): Unreadable {
  // The parser repeats names of the source, which may be as long as the source.
  const message = `The XML is not well-formed: ${what.slice(0, 100)}.`;
  return new Unreadable({ code: "bpmn/malformed-xml", line, message, hint });
}

const SAVE_AGAIN = "Save the file again from the modeler, or fix this line.";

type Growing = {
  name: string;
  attributes: Map<string, string>;
  children: Growing[];
  text: string;
  line: number;
};

/** Receives the parser's events and builds the tree. */
function startTree(source: string) {
  const lines = lineCounter(source);
  const open: Growing[] = [];
  let root: Growing | undefined;
  let count = 0;

  function understood(decoded: Parsed<string>): string {
    if (decoded.ok) return decoded.value;
    throw malformedXml(lines.line(), decoded.problem, decoded.hint);
  }
  function addText(text: string): void {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  }

  return {
    openTag(tag: Tag): void {
      const line = lines.openTag(tag.originalName);
      const attributes = new Map<string, string>();
      for (const [name, value] of Object.entries(tag.attrs || {})) {
        attributes.set(name, understood(decodeAttribute(value)));
      }
      const element: Growing = { name: tag.name, attributes, children: [], text: "", line };
      const parent = open.at(-1);
      if (parent !== undefined) parent.children.push(element);
      else if (root === undefined) root = element;
      else throw malformedXml(line, "it has a second root element");
      open.push(element);
      count += 1;
      checkSize(count, open.length, line);
    },
    closeTag(): void {
      const element = open.pop();
      if (element !== undefined) element.text = element.text.trim();
    },
    text: (raw: string) => addText(understood(decodeText(raw))),
    cdata(raw: string): void {
      addText(raw);
      lines.skip("<![CDATA[", "]]>");
    },
    skip: (from: string, to: string): void => void lines.skip(from, to),
    declaration(raw: string): void {
      throw new Unreadable({
        code: "bpmn/doctype-refused",
        line: lines.skip("<!", ""),
        message: `The file declares ${quoted(raw.slice(0, 40))}; declarations such as DOCTYPE and ENTITY are refused.`,
        hint: "Remove the declaration; BPMN files need none.",
      });
    },
    malformed(error: Error, getContext: GetContext): void {
      const unclosed = error.message === "unexpected end of file" ? open.at(-1) : undefined;
      if (unclosed === undefined) throw malformedXml(getContext().line + 1, error.message);
      throw malformedXml(unclosed.line, `<${unclosed.name}> of this line is never closed`);
    },
    root(): XmlElement {
      if (root === undefined) throw malformedXml(1, "it has no element");
      return root;
    },
  };
}

function checkSize(count: number, depth: number, line: number): void {
  if (count > MAX_XML_ELEMENTS) {
    throw new Unreadable({
      code: "bpmn/too-many-elements",
      line,
      message: `The file has more than ${MAX_XML_ELEMENTS} XML elements.`,
      hint: "Split the process into several files.",
    });
  }
  if (depth > MAX_XML_DEPTH) {
    throw new Unreadable({
      code: "bpmn/too-deep",
      line,
      message: `The XML is nested more than ${MAX_XML_DEPTH} elements deep.`,
      hint: "Nest fewer sub-processes inside each other.",
    });
  }
}
