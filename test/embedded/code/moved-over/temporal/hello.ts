// Temporal, samples-typescript "hello-world": a workflow calls one activity.
// Changed: the activity is a step beside the workflow; there is no proxy and no worker to register it.
import { step, workflow } from "fermata-engine/workflow";

export const greet = step("greet", async (name: string) => `Hello, ${name}!`, {
  timeout: "1m",
});

export const hello = workflow("hello", async (name: string) => greet(name));
