import { isKeyName } from "../../definition/key-name.ts";
import { MAX_ELEMENT_ID_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import type { Report } from "./report.ts";
import { bpmnName, called, idOf } from "./source.ts";
import type { XmlElement } from "./xml.ts";

/**
 * Maps the ids below these elements to their elements, and refuses ids that cannot name anything
 * or that name two things. Extensions have ids of their own that nothing refers to.
 */
export function indexIds(
  roots: readonly XmlElement[],
  report: Report,
): ReadonlyMap<string, XmlElement> {
  const byId = new Map<string, XmlElement>();
  const visit = (element: XmlElement): void => {
    const name = bpmnName(element);
    if (name === undefined || name === "extensionElements") return;
    const id = element.attributes.get("id");
    if (id !== undefined && id !== "") addId(byId, { id, element }, report);
    for (const child of element.children) visit(child);
  };
  for (const root of roots) visit(root);
  return byId;
}

/** Refuses an element without a valid id, which history needs. */
export function requireId(element: XmlElement, report: Report): void {
  if (idOf(element) !== "") return;
  report.refuse({
    code: "bpmn/missing-id",
    at: element,
    message: `${called(element)}: every process, flow element and sequence flow needs an id.`,
    hint: 'Add an id attribute, for example id="charge-card".',
  });
}

function addId(
  byId: Map<string, XmlElement>,
  { id, element }: Readonly<{ id: string; element: XmlElement }>,
  report: Report,
): void {
  if (!NC_NAME.test(id) || id.length > MAX_ELEMENT_ID_LENGTH || !isKeyName(id)) {
    report.refuse({
      code: "bpmn/invalid-id",
      at: element,
      message: `${called(element)}: the id cannot be used.`,
      hint: `Begin with a letter or _, go on with letters, digits, hyphens, dots or _, and use at most ${MAX_ELEMENT_ID_LENGTH} characters, fewer where they are not of ASCII.`,
    });
  }
  const first = byId.get(id);
  if (first === undefined) {
    byId.set(id, element);
    return;
  }
  report.refuse({
    code: "bpmn/duplicate-id",
    at: element,
    message: `${called(element)}: the id ${quoted(id)} is already used in line ${first.line}.`,
    hint: "Give one of the two another id.",
  });
}

/** An XML name without a colon, as the BPMN schema requires. */
const NC_NAME = /^[\p{L}_][\p{L}\p{M}\p{N}_.\-·]*$/u;
