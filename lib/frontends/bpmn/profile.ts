import type { Report } from "./report.ts";
import type { XmlElement } from "./xml.ts";

/** Warns when a file was drawn for another engine: its tasks then say nothing that is read here. */
export function reportProfile(root: XmlElement, report: Report): void {
  const platform = root.attributes.get("modeler:executionPlatform");
  const isForeign = platform !== undefined && platform !== "Camunda Cloud";
  if (!isForeign && usesZeebe(root)) return;
  report.warn({
    code: "bpmn/no-zeebe-profile",
    at: root,
    message: isForeign
      ? "The file was drawn for another engine; only the zeebe extensions are read."
      : "The file uses no zeebe extension, so that no task of it has a worker.",
    hint: "In the modeler choose the Camunda 8 profile, which writes the zeebe extensions.",
  });
}

function usesZeebe({ name, children }: XmlElement): boolean {
  return name.startsWith("zeebe:") || children.some(usesZeebe);
}
