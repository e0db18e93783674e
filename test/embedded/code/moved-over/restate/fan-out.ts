// Restate, "Parallelizing work" guide: a task is split, its parts run at once, their results are joined.
// Changed: a part is a step and not a call of another handler.
import { all, step, workflow } from "fermata-engine/workflow";
import { did } from "../effects.ts";

export const split = step("fan-out-split", async (text: string, context) => {
  did(context, "split");
  return text.split(/\s+/);
});
export const runPart = step("fan-out-part", async (word: string, context) => {
  did(context, "part");
  return word.length;
});

export const fanOut = workflow("fan-out", async (text: string) => {
  const parts = await split(text);
  const lengths = await all(parts.map((part) => runPart(part)));
  return {
    parts: parts.length,
    letters: lengths.reduce((sum, length) => sum + length, 0),
    lengths,
  };
});
