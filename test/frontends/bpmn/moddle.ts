import { BpmnModdle, type ModdleElement } from "bpmn-moddle";
import zeebe from "zeebe-bpmn-moddle/resources/zeebe.json" with { type: "json" };

/** For each executable process: its id, then those of nodes and flows as bpmn-moddle reads them. */
export async function elementsByModdle(source: string): Promise<readonly (readonly string[])[]> {
  const { rootElement } = await new BpmnModdle({ zeebe }).fromXML(source);
  return (rootElement.rootElements ?? [])
    .filter((root) => root.$type === "bpmn:Process" && root.isExecutable === true)
    .map(idsWithin);
}

function idsWithin(element: ModdleElement): readonly string[] {
  const flowElements = (element.flowElements ?? []).filter(
    (one) => one.$instanceOf("bpmn:FlowNode") || one.$instanceOf("bpmn:SequenceFlow"),
  );
  return [element.id ?? "", ...flowElements.flatMap(idsWithin)];
}
