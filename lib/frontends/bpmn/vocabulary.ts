// The names of BPMN and of the zeebe extensions, sorted by what is done with them. A name that is
// in no list is not silently dropped: in BPMN it is refused, in the extensions it is warned about.

/** Flow elements that run. */
export const SUPPORTED: ReadonlySet<string> = new Set([
  "startEvent",
  "endEvent",
  "intermediateThrowEvent",
  "intermediateCatchEvent",
  "boundaryEvent",
  "serviceTask",
  "sendTask",
  "receiveTask",
  "businessRuleTask",
  "scriptTask",
  "userTask",
  "task",
  "manualTask",
  "exclusiveGateway",
  "parallelGateway",
  "eventBasedGateway",
  "subProcess",
  "callActivity",
]);

/** What can replace a flow element that is not supported yet. */
export const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["transaction", "Use an embedded sub-process with an error boundary event."],
  ["adHocSubProcess", "Use an embedded sub-process with gateways."],
  ["inclusiveGateway", "Use a parallel gateway with an exclusive gateway in each branch."],
  ["complexGateway", "Use exclusive and parallel gateways."],
  ["implicitThrowEvent", "Use an intermediate throw event."],
  ["choreographyTask", "Choreographies do not run; draw a process."],
  ["subChoreography", "Choreographies do not run; draw a process."],
  ["callChoreography", "Choreographies do not run; draw a process."],
]);

/** Children of a process or sub-process that carry no behaviour. */
export const INERT_IN_SCOPE: ReadonlySet<string> = new Set([
  "association",
  "correlationSubscription",
  "dataObject",
  "dataObjectReference",
  "dataStoreReference",
  "group",
  "laneSet",
  "supportedInterfaceRef",
  "supports",
  "textAnnotation",
]);

/** Children of any element that carry no behaviour, or whose meaning is expressed elsewhere. */
export const INERT_ANYWHERE: ReadonlySet<string> = new Set([
  "auditing",
  "categoryValueRef",
  "dataInput",
  "dataInputAssociation",
  "dataOutput",
  "dataOutputAssociation",
  "documentation",
  "extensionElements",
  "humanPerformer",
  "incoming",
  "inputSet",
  "ioBinding",
  "ioSpecification",
  "monitoring",
  "outgoing",
  "outputSet",
  "performer",
  "potentialOwner",
  "property",
  "resourceRole",
  // The script of a script task in another language; only zeebe:script runs.
  "script",
]);

/** What makes an activity a multi-instance activity. */
export const LOOP_MARKER = "multiInstanceLoopCharacteristics";

/** Children of flow elements that the rules of events and activities check. */
export const JUDGED: ReadonlySet<string> = new Set([
  "cancelEventDefinition",
  "compensateEventDefinition",
  "conditionalEventDefinition",
  "errorEventDefinition",
  "escalationEventDefinition",
  "eventDefinitionRef",
  "linkEventDefinition",
  "messageEventDefinition",
  LOOP_MARKER,
  "signalEventDefinition",
  "standardLoopCharacteristics",
  "terminateEventDefinition",
  "timerEventDefinition",
]);

/** Extensions that change behaviour in ways that are not supported yet. */
export const UNSUPPORTED_EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["zeebe:executionListeners", "execution listeners"],
  ["zeebe:taskListeners", "task listeners"],
  ["zeebe:calledDecision", "a called decision"],
  ["zeebe:publishMessage", "a published message"],
]);

/** Extensions that describe a model to readers and tools, or only order waiting work. */
export const INERT_EXTENSIONS: ReadonlySet<string> = new Set([
  "zeebe:agentDefinition",
  "zeebe:jobPriorityDefinition",
  "zeebe:linkedResources",
  "zeebe:properties",
  "zeebe:userTaskForm",
  "zeebe:versionTag",
]);

/** Throw and end events with a message: not a separate kind in BPMN, but a worker runs them. */
export const MESSAGE_THROW = "message throw";

const JOBS = ["serviceTask", "sendTask", "businessRuleTask", "scriptTask", MESSAGE_THROW];
const GATEWAYS = ["exclusiveGateway", "parallelGateway", "eventBasedGateway"];
const MAPPED = [...SUPPORTED, MESSAGE_THROW].filter((name) => !GATEWAYS.includes(name));

/** Extensions that are read, and the elements on which they have a meaning. */
export const READ_EXTENSIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["zeebe:taskDefinition", new Set(JOBS)],
  ["zeebe:taskHeaders", new Set([...JOBS, "userTask"])],
  ["zeebe:userTask", new Set(["userTask"])],
  ["zeebe:assignmentDefinition", new Set(["userTask"])],
  ["zeebe:taskSchedule", new Set(["userTask"])],
  ["zeebe:priorityDefinition", new Set(["userTask"])],
  // A start event's form is for the user interface that starts the process; it is not read here.
  ["zeebe:formDefinition", new Set(["userTask", "startEvent"])],
  ["zeebe:script", new Set(["scriptTask"])],
  ["zeebe:calledElement", new Set(["callActivity"])],
  ["zeebe:subscription", new Set(["message"])],
  ["zeebe:ioMapping", new Set(MAPPED)],
]);
