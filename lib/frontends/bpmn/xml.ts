// Text to a tree of elements, each with its line.
// 1. Everything costs time in proportion to the text: a hostile file is refused, not waited for.
// 2. What is not well-formed is refused; nothing is mended or dropped on the way.
// 3. A declaration (DOCTYPE, ENTITY) ends the reading where it stands.

import { Parser } from "saxen";
import { MAX_XML_DEPTH, MAX_XML_ELEMENTS } from "../../definition/limits.ts";
import { type Parsed, quoted } from "../../definition/parsed.ts";
import type { BpmnCode } from "./codes.ts";
import { lineCounter } from "./line-counter.ts";
import { decodeAttribute, decodeText } from "./xml-text.ts";

/** An element of the source; `bpmn:` and `zeebe:` names have these prefixes whatever the file says. */
export type XmlElement = Readonly<{
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: readonly XmlElement[];
  /** The text directly inside, without the blanks around it. */
  text: string;
  line: number;
}>;

/** The root of the tree, or the one reason why there is none. */
export type XmlReading = Readonly<{ ok: true; root: XmlElement } | ({ ok: false } & XmlProblem)>;

export type XmlProblem = Readonly<{ code: BpmnCode; line: number; message: string; hint: string }>;

/** The namespace in which task types, mappings and headers are written. */
export const ZEEBE_NAMESPACE = "http://camunda.org/schema/zeebe/1.0";

/** The namespaces that mean something here, and the prefix that each gets. */
const NAMESPACES = {
  "http://www.omg.org/spec/BPMN/20100524/MODEL": "bpmn",
  [ZEEBE_NAMESPACE]: "zeebe",
  "http://camunda.org/schema/modeler/1.0": "modeler",
};

/** Reads XML; line breaks are taken as one character each, as XML prescribes. */
export function readXml(text: string): XmlReading {
  const source = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const lines = lineCounter(source);
  const parser = new Parser({ proxy: true }).ns(NAMESPACES);
  const open: Growing[] = [];
  let root: Growing | undefined;
  let count = 0;
  let problem: XmlProblem | undefined;

  /** Keeps the first problem: the ones that follow it are its consequences. */
  function refuse(code: BpmnCode, line: number, message: string, hint: string): void {
    problem ??= { code, line, message, hint };
    parser.stop();
  }
  function understood(decoded: Parsed<string>): string {
    if (decoded.ok) return decoded.value;
    refuse("bpmn/malformed-xml", lines.line(), decoded.problem, decoded.hint);
    return "";
  }
  function malformed(error: Error, getContext: () => Readonly<{ line: number }>): void {
    if (problem !== undefined) return;
    const unclosed = error.message === "unexpected end of file" ? open.at(-1) : undefined;
    const [line, what] =
      unclosed === undefined
        ? [getContext().line + 1, error.message]
        : [unclosed.line, `<${unclosed.name}> of this line is never closed`];
    refuse("bpmn/malformed-xml", line, `The XML is not well-formed: ${what}.`, MEND);
  }

  parser
    .on("openTag", (tag) => {
      const line = lines.openTag(tag.originalName);
      const attributes = new Map<string, string>();
      for (const [name, value] of Object.entries(tag.attrs || {})) {
        attributes.set(name, understood(decodeAttribute(value)));
      }
      const element: Growing = { name: tag.name, attributes, children: [], text: "", line };
      const parent = open.at(-1);
      if (parent === undefined && root !== undefined) {
        refuse("bpmn/malformed-xml", line, "The XML has a second root element.", MEND);
      }
      if (parent === undefined) root ??= element;
      else parent.children.push(element);
      open.push(element);
      count += 1;
      if (count > MAX_XML_ELEMENTS) {
        refuse(
          "bpmn/too-many-elements",
          line,
          `The file has more than ${MAX_XML_ELEMENTS} XML elements.`,
          "Split the process into several files.",
        );
      }
      if (open.length > MAX_XML_DEPTH) {
        refuse(
          "bpmn/too-deep",
          line,
          `The XML is nested more than ${MAX_XML_DEPTH} elements deep.`,
          "Nest fewer sub-processes inside each other.",
        );
      }
    })
    .on("closeTag", () => {
      const element = open.pop();
      if (element !== undefined) element.text = element.text.trim();
    })
    .on("text", (raw) => {
      const element = open.at(-1);
      if (element !== undefined) element.text += understood(decodeText(raw));
    })
    .on("cdata", (raw) => {
      const element = open.at(-1);
      if (element !== undefined) element.text += raw;
      lines.skip("<![CDATA[", "]]>");
    })
    .on("comment", () => lines.skip("<!--", "-->"))
    .on("question", () => lines.skip("<?", "?>"))
    .on("attention", (raw) => {
      refuse(
        "bpmn/doctype-refused",
        lines.skip("<!", ""),
        `The file declares ${quoted(raw.slice(0, 40))}; declarations such as DOCTYPE and ENTITY are refused.`,
        "Remove the declaration; BPMN files need none.",
      );
    })
    .on("warn", malformed)
    .on("error", malformed)
    .parse(source);

  if (problem !== undefined) return { ok: false, ...problem };
  if (root === undefined) {
    const message = "The file has no XML element.";
    return { ok: false, code: "bpmn/malformed-xml", line: 1, message, hint: MEND };
  }
  return { ok: true, root };
}

type Growing = {
  name: string;
  attributes: Map<string, string>;
  children: Growing[];
  text: string;
  line: number;
};

const MEND = "Save the file again from the modeler, or mend this line.";
