/** The values that a step adds to an instance: an instance that is too large says what makes it so. */
import type { Json } from "../../definition/json.ts";
import type { Site } from "../../definition/sandbox.ts";
import type { Instance } from "../instance.ts";
import { jsonBytes } from "../json-bytes.ts";
import type { AddedValues } from "../runner.ts";
import { operationsOf } from "./open-operations.ts";
import { operationAt, readState } from "./state.ts";

/** The largest of them, and the bytes of all; undefined where the step adds none. */
export function addedValues(before: Instance, after: Instance): AddedValues | undefined {
  const values = [
    ...ofWorkflow(before, after),
    ...inputs(before, after),
    ...outcomes(before, after),
  ]
    .map(({ value, ...about }) => ({ ...about, bytes: jsonBytes(value) }))
    .toSorted((a, b) => b.bytes - a.bytes);
  const [largest] = values;
  return largest && { largest, bytes: values.reduce((sum, { bytes }) => sum + bytes, 0) };
}

type Value = Readonly<{ what: string; value: Json; site?: Site }>;

function ofWorkflow(before: Instance, after: Instance): readonly Value[] {
  const [was, is] = [readState(before.state), readState(after.state)];
  return [
    ...(was.d === "" && is.i !== undefined
      ? [{ what: "the input of the workflow", value: is.i }]
      : []),
    ...(was.r === undefined && is.r !== undefined
      ? [{ what: "the result of the workflow", value: is.r }]
      : []),
  ];
}

function inputs(before: Instance, after: Instance): readonly Value[] {
  const [was, is] = [readState(before.state), readState(after.state)];
  return is.o.flatMap(([n, site, value]) => {
    if (value === undefined || operationAt(was, n) !== undefined) return [];
    const ticket = after.tickets.find((open) => operationsOf(is, open).includes(n));
    const what = `the input of operation ${n}, ${ticket?.element}`;
    return [{ what, value, ...(site !== 0 && { site }) }];
  });
}

function outcomes(before: Instance, { journal }: Instance): readonly Value[] {
  const { next, entries } = journal ?? { next: 1, entries: [] };
  const first = next - entries.length;
  const known = (before.journal?.next ?? 1) - first;
  return entries
    .slice(known)
    .map(([n, , value]) => ({ what: `the outcome of operation ${n}`, value }));
}
