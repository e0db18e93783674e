// Deploys one installation. Its settings come from the context, `-c name=value`:
// docs/reference/construct.md lists the names.
import { App, CliCredentialsStackSynthesizer, type IReusableStackSynthesizer } from "aws-cdk-lib";
import { appSettings } from "./app-settings.ts";
import { EngineStack } from "./engine-stack.ts";

const app = new App();
const { stackName, usesCliCredentials, fermata } = appSettings((name) =>
  app.node.tryGetContext(name),
);
new EngineStack(app, stackName, {
  description: "Fermata, a durable workflow engine",
  fermata,
  ...(usesCliCredentials && { synthesizer: cliCredentials() }),
});
app.synth();

/** The cast: where optional properties are exact, the library's class does not fit its own interface. */
function cliCredentials(): IReusableStackSynthesizer {
  return new CliCredentialsStackSynthesizer() as IReusableStackSynthesizer;
}
