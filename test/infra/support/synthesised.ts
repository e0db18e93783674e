import { App, type Environment, NestedStack, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Fermata, type FermataProps } from "../../../cdk/fermata.ts";
import cdkJson from "../../../cdk.json" with { type: "json" };

export type Resource = Readonly<{
  id: string;
  type: string;
  /** Its path in the construct tree, below the stack. */
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is what it is.
  props: any;
  deletionPolicy: string | undefined;
  dependsOn: readonly string[];
}>;

export type Synthesised = Readonly<{
  app: App;
  stack: Stack;
  resources: readonly Resource[];
  of(type: string): readonly Resource[];
  /** The one of a type whose path ends so. */
  one(type: string, path: string): Resource;
}>;

/** A stack with one installation, as it would be deployed. */
export function synthesised(
  props: FermataProps | ((stack: Stack) => FermataProps) = {},
  env: Environment = {},
): Synthesised {
  const app = anApp();
  const stack = new Stack(app, "Test", { env });
  new Fermata(stack, "Fermata", typeof props === "function" ? props(stack) : props);
  return read(app, stack);
}

/** As the command line would start it, with the feature flags of this app. */
export function anApp(): App {
  return new App({ context: { ...cdkJson.context, "aws:cdk:enable-path-metadata": true } });
}

/** What a stack comes to. */
export function read(app: App, stack: Stack): Synthesised {
  const template = Template.fromStack(stack).toJSON() as { Resources: Record<string, RawResource> };
  const resources = Object.entries(template.Resources).map(([id, raw]) => ({
    id,
    type: raw.Type,
    path: (raw.Metadata?.["aws:cdk:path"] ?? "").replace(/^[^/]*\//, ""),
    props: raw.Properties ?? {},
    deletionPolicy: raw.DeletionPolicy,
    dependsOn: raw.DependsOn ?? [],
  }));
  const of = (type: string) => resources.filter((resource) => resource.type === type);
  return {
    app,
    stack,
    resources,
    of,
    one: (type, path) => {
      const found = of(type).filter((resource) => `/${resource.path}`.endsWith(`/${path}`));
      if (found.length !== 1 || found[0] === undefined) {
        throw new Error(`${found.length} resources ${type} at ${path}`);
      }
      return found[0];
    },
  };
}

/** The separate stack that monitors an installation. */
export function observabilityOf({ app, stack }: Synthesised): Synthesised {
  const nested = stack.node.findAll().find((child) => NestedStack.isNestedStack(child));
  if (!(nested instanceof NestedStack)) throw new Error("There is no observability stack.");
  return read(app, nested);
}

/**
 * A readable form of a template value: `Queues/Tasks/Queue` for the ARN or the name of that queue.
 */
export function inWords(value: unknown, { resources }: Pick<Synthesised, "resources">): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::GetAtt": attribute, "Fn::Join": joined } = value as Intrinsic;
  if (Ref !== undefined) return nameOf(Ref, resources);
  if (attribute !== undefined) return nameOf(attribute[0], resources);
  const [glue, parts] = joined ?? ["", []];
  const text = parts.map((part) => inWords(part, { resources })).join(glue);
  return text.replace(/^arn:.*:scheduler:.*:schedule\/(.*)\/\*$/, (_, name) =>
    groupInWords(name, resources),
  );
}

/**
 * A schedule group has its name in the template: Scheduler requires it in the ARNs of schedules.
 */
function groupInWords(name: string, resources: readonly Resource[]): string {
  const group = resources.find(
    ({ type, props }) => type === "AWS::Scheduler::ScheduleGroup" && props.Name === name,
  );
  return `${group === undefined ? name : nameOf(group.id, resources)}/*`;
}

function nameOf(id: string, resources: readonly Resource[]): string {
  const path = resources.find((resource) => resource.id === id)?.path;
  return path === undefined ? `<${id}>` : path.replace(/^Fermata\//, "").replace(/\/Resource$/, "");
}

type RawResource = Readonly<{
  Type: string;
  Properties?: object;
  DeletionPolicy?: string;
  DependsOn?: readonly string[];
  Metadata?: Readonly<Record<string, string>>;
}>;

type Intrinsic = Readonly<{
  Ref?: string;
  "Fn::GetAtt"?: readonly [string, string];
  "Fn::Join"?: readonly [string, readonly unknown[]];
}>;

/** The condition of a policy that denies connections without TLS. */
export const WITHOUT_TLS = { Condition: { Bool: { "aws:SecureTransport": "false" } } };

/** Which queue triggers which function, and how. */
export function mappingsOf(installation: Synthesised) {
  return installation.of("AWS::Lambda::EventSourceMapping").map(({ props }) => ({
    source: inWords(props.EventSourceArn, installation),
    target: inWords(props.FunctionName, installation),
    batch: props.BatchSize,
    reports: props.FunctionResponseTypes,
    filter: props.FilterCriteria,
    most: props.ScalingConfig?.MaximumConcurrency,
  }));
}
