import type { Report } from "./report.ts";
import { type XmlElement, ZEEBE_NAMESPACE } from "./xml.ts";

/**
 * Warns when a file was drawn for another engine: the extensions of its tasks are not read here.
 */
export function reportProfile(root: XmlElement, report: Report): void {
  const platform = root.attributes.get("modeler:executionPlatform");
  const isForeign = platform !== undefined && platform !== "Camunda Cloud";
  if (!isForeign && usesZeebe(root)) return;
  report.warn({
    code: "bpmn/no-zeebe-profile",
    at: root,
    message: isForeign
      ? "The file was drawn for another engine; only the zeebe extensions are read."
      : "The file does not use the zeebe extensions, so that no task of it can have a worker.",
    hint: "In the modeler choose the Camunda 8 profile, which writes the zeebe extensions.",
  });
}

/** Modelers declare the namespace on the root before they use it. */
function usesZeebe({ name, attributes, children }: XmlElement): boolean {
  if (name.startsWith("zeebe:")) return true;
  for (const [attribute, value] of attributes) {
    if (attribute.startsWith("xmlns") && value === ZEEBE_NAMESPACE) return true;
  }
  return children.some(usesZeebe);
}
