// What the steps of the programs did, in their order. The test runner and Node import this file each
// for themselves, so the list belongs to the process and not to the module.
import type { StepContext } from "fermata-engine/workflow";

const host = globalThis as { movedOverEffects?: Map<string, string[]> };
host.movedOverEffects ??= new Map();
const effects = host.movedOverEffects;

/** Called by a step: notes what it did for its instance. */
export function did({ instanceId }: StepContext, effect: string): void {
  effects.set(instanceId, [...effectsOf(instanceId), effect]);
}

/** Called by a test: what the steps of an instance did. */
export const effectsOf = (instanceId: string): readonly string[] => effects.get(instanceId) ?? [];
