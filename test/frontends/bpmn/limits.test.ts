import { describe, expect, test } from "vitest";
import {
  MAX_DIAGNOSTICS,
  MAX_ELEMENT_ID_LENGTH,
  MAX_LABEL_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PROCESSES_PER_SOURCE,
  MAX_SOURCE_BYTES,
  MAX_WAITS_PER_STEP,
  MAX_XML_DEPTH,
  MAX_XML_ELEMENTS,
} from "../../../lib/definition/limits.ts";
import { MAX_TRIGGERED_STARTS } from "../../../lib/frontends/bpmn/limits.ts";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  onSignal,
  process,
  race,
  receive,
  sequence,
  service,
  start,
  xml,
} from "../../support/bpmn-xml.ts";
import { compile, compiled } from "./compiling.ts";

const form = (formId: string) =>
  `${xml("zeebe:userTask", {})}${xml("zeebe:formDefinition", { formId })}`;

// One past each limit is among the refusals; here is each limit itself.
describe("a BPMN file at its limit", () => {
  test("compiles with that many bytes", async () => {
    const source = sequence(service("t")).padEnd(MAX_SOURCE_BYTES);

    expect(await compiled(source)).toHaveLength(1);
  });

  test("compiles with that many XML elements", async () => {
    const around = (sequence(service("t")).match(/<[a-z]/g) ?? []).length;
    const more = "<other:x/>\n".repeat(MAX_XML_ELEMENTS - around);

    expect(await compiled(sequence(service("t"), more))).toHaveLength(1);
  });

  test("compiles with sub-processes that deep inside each other", async () => {
    // The root, the process, the sub-processes and the innermost start event.
    const depth = MAX_XML_DEPTH - 3;
    let content = start("innermost");
    for (let n = depth; n >= 1; n -= 1) {
      content = start(`s${n}`) + xml("subProcess", { id: `sub${n}` }, content);
    }

    expect(await compiled(file(process(content)))).toHaveLength(1);
  });

  test("compiles with ids of that length", async () => {
    expect(await compiled(sequence(service("x".repeat(MAX_ELEMENT_ID_LENGTH))))).toHaveLength(1);
    expect(await compiled(sequence(service("字".repeat(111))))).toHaveLength(1);
  });

  test("compiles with types of that length", async () => {
    const typed = (type: string) =>
      sequence(xml("serviceTask", { id: "t" }, extensions(job(type))));

    expect(await compiled(typed("x".repeat(MAX_NAME_LENGTH)))).toHaveLength(1);
    expect(await compiled(typed("字".repeat(111)))).toHaveLength(1);
  });

  test("compiles with names and keys of that length", async () => {
    const long = "x".repeat(MAX_NAME_LENGTH);
    const source = beside(
      sequence(receive("t", "m1"), start("b", onSignal("s1"))),
      aMessage("m1", { name: long, key: long }),
      aSignal("s1", `="${long}"`),
    );

    expect((await compiled(source))[0]?.startEvents[1]).toMatchObject({ name: long });
  });

  test("compiles with labels of that length", async () => {
    const name = "x".repeat(MAX_LABEL_LENGTH);
    const task = xml("userTask", { id: "t", name }, extensions(form(name)));
    const last = end("end", xml("errorEventDefinition", { errorRef: "e" }));
    const flows = [flow("f1", "start", "t"), flow("f2", "t", "end")];
    const source = file(
      xml("process", { id: "p", name, isExecutable: "true" }, start(), task, last, ...flows),
      xml("error", { id: "e", errorCode: name }),
    );

    expect((await compiled(source))[0]).toMatchObject({ name });
  });

  test("compiles with that many waits after a gateway or on an activity", async () => {
    const ids = Array.from({ length: MAX_WAITS_PER_STEP }, (_, n) => `s${n}`);
    const signals = ids.map((id) => aSignal(id));
    const behind = ids.map((id) => catching(`c-${id}`, onSignal(id)));
    const racing = process(start(), flow("f1", "start", "g"), race("g", ...behind));
    const attached = ids.map((id) => boundary(`b-${id}`, "t", onSignal(id)));

    expect(await compiled(beside(file(racing), ...signals))).toHaveLength(1);
    expect(await compiled(beside(sequence(service("t"), ...attached), ...signals))).toHaveLength(1);
  });

  test("compiles with that many start events with a signal", async () => {
    const ids = Array.from({ length: MAX_TRIGGERED_STARTS }, (_, n) => `s${n}`);
    const starts = ids.map((id) => start(`e-${id}`, onSignal(id)));
    const source = file(process(start(), ...starts), ...ids.map((id) => aSignal(id)));

    expect((await compiled(source))[0]?.startEvents).toHaveLength(MAX_TRIGGERED_STARTS + 1);
  });

  test("compiles with that many processes", async () => {
    const processes = Array.from({ length: MAX_PROCESSES_PER_SOURCE }, (_, n) =>
      xml("process", { id: `p${n}`, isExecutable: "true" }, start(`s${n}`)),
    );

    expect(await compiled(file(...processes))).toHaveLength(MAX_PROCESSES_PER_SOURCE);
  });

  test("lists that many problems and no more", async () => {
    const tasks = Array.from({ length: MAX_DIAGNOSTICS }, (_, n) =>
      xml("serviceTask", { id: `t${n}` }),
    );

    const { diagnostics } = await compile(file(process(start(), ...tasks)));

    expect(diagnostics).toHaveLength(MAX_DIAGNOSTICS);
    expect(diagnostics.at(-1)?.code).toBe("bpmn/task-without-type");
  });
});
