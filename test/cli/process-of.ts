/** BPMN text of a start and an end, with a task `pay` of a type in between where one is named. */
export function processOf(id: string, taskType?: string): string {
  const row = taskType === undefined ? ["start", "end"] : ["start", "pay", "end"];
  const flows = row.slice(1).map((target, n) => {
    return `<bpmn:sequenceFlow id="flow-${n}" sourceRef="${row[n]}" targetRef="${target}" />`;
  });
  const task = `<bpmn:serviceTask id="pay"><bpmn:extensionElements><zeebe:taskDefinition type="${taskType}" /></bpmn:extensionElements></bpmn:serviceTask>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="http://example.com">
  <bpmn:process id="${id}" isExecutable="true">
    <bpmn:startEvent id="start" />
    ${taskType === undefined ? "" : task}
    <bpmn:endEvent id="end" />
    ${flows.join("")}
  </bpmn:process>
</bpmn:definitions>
`;
}
