// Who may import whom. One row per room: what it may import, and what to do when a check refuses.
// A room that is not listed as allowed is forbidden, packages and Node's own modules included.

const AWS_ADAPTERS =
  "^lib/adapters/(dynamodb|sqs|lambda|scheduler|eventbridge|s3|secrets-manager)/";
const OURS = "^(lib|cli|functions|cdk|console|examples|bench|scripts|test)/";
const packages = (...names) => `^node_modules/(@types/)?(${names.join("|")})/`;

/** The rule `name`: files under `from` import nothing but what `allowed` matches. */
const room = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { pathNot: allowed },
});

/** The rule `name`: files under `from` may name types of `to`, and never run its code. */
const typesOnly = (name, from, to, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { path: to, dependencyTypesNot: ["type-only"] },
});

const forbidden = (name, from, to, comment) => ({ name, comment, severity: "error", from, to });

/**
 * The layers of lib/engine, lowest first: a file imports its own layer and those before it. Use cases
 * are one layer and may import each other.
 */
const ENGINE_LAYERS = [
  ["storage", "How things are stored. What concerns rows, steps or a use case belongs further up."],
  [
    "rows",
    "What lets the outside find a wait or a task. A row knows what a step changes (`Change`), not how the step is planned or taken.",
  ],
  [
    "step",
    "Load, decide, commit, dispatch. What a committed step owes to a use case leaves through the table of senders (SENDERS in lib/engine/engine.ts).",
  ],
  [
    "drive",
    "Who runs a step. A message reaches its use case through the table of handlers (HANDLERS in lib/engine/engine.ts).",
  ],
  [
    "(signals|messages|events|workers|user-tasks|calls|multi-instance|timer-starts|definitions|instances)",
    "A use case. It may use other use cases, and never recovery or the engine as a whole.",
    "use-cases",
  ],
  [
    "recovery",
    "Recovery stands on everything else, and nothing stands on it but the engine as a whole.",
  ],
];

/** A rule per layer: nothing of a later layer, and no file of lib/engine but the world that all share. */
const engineLayers = ENGINE_LAYERS.map(([folder, comment, name = folder], at) =>
  forbidden(
    `engine-layer-${name}`,
    { path: `^lib/engine/${folder}/` },
    {
      path: [
        "^lib/engine/[^/]+$",
        ...ENGINE_LAYERS.slice(at + 1).map(([later]) => `^lib/engine/${later}/`),
      ],
      pathNot: "^lib/engine/world\\.ts$",
    },
    comment,
  ),
);

export default {
  forbidden: [
    ...engineLayers,
    room(
      "definition-imports-nothing",
      "^lib/definition/",
      ["^lib/definition/", packages("temporal-polyfill", "temporal-spec", "temporal-utils")],
      "lib/definition is what everything else stands on. Move what you need into it, or move the file that needs it out. Only its time module uses a package, temporal-polyfill.",
    ),
    forbidden(
      "temporal-only-in-time",
      { path: "^lib/", pathNot: "^lib/definition/time" },
      { path: packages("temporal-polyfill") },
      "Calendar and zone arithmetic has one home, the time module of lib/definition. Add the function there and call it.",
    ),
    room(
      "kernel-imports-definition",
      "^lib/kernel/",
      ["^lib/kernel/", "^lib/definition/"],
      "lib/kernel is pure: no packages, no Node modules, no other room. Take what you need as an argument, or return an effect and let lib/engine do it.",
    ),
    room(
      "front-end-imports-definition-and-parser",
      "^lib/frontends/([^/]+)/",
      [
        "^lib/frontends/$1/",
        "^lib/definition/",
        packages("bpmn-moddle", "zeebe-bpmn-moddle", "moddle", "moddle-xml", "saxen", "yaml"),
        packages("@babel/parser", "@babel/types"),
      ],
      "A front end turns text into a definition with diagnostics. It reads no files and knows no other front end: what two of them share belongs in lib/definition.",
    ),
    room(
      "bundler-imports-definition-and-syntax",
      "^lib/bundler/",
      [
        "^lib/bundler/",
        "^lib/definition/",
        "^lib/frontends/code/(syntax/|source-map\\.ts$)",
        packages("esbuild", "@babel/parser", "@babel/types"),
        "^(node:)?(path|url|fs|fs/promises|module|crypto)$",
      ],
      "lib/bundler turns an author's files into one text. It shares the syntax tree and the source map with the front end for code; it never runs a workflow and knows no engine.",
    ),
    typesOnly(
      "babel-types-are-types",
      "^lib/",
      packages("@babel/types"),
      "Only @babel/parser is a dependency. Use `import type`.",
    ),
    room(
      "workflow-imports-nothing",
      "^lib/workflow/",
      ["^lib/workflow/"],
      "lib/workflow is bundled into every workflow and runs in the sandbox: it has nothing but itself. Keep it small.",
    ),
    room(
      "ports-import-definition-and-kernel",
      "^lib/ports/",
      ["^lib/ports/", "^lib/definition/", "^lib/kernel/", packages("zod/mini")],
      "A port is an interface in the engine's own words. Keep the technology in lib/adapters. The one package is zod/mini, for the schemas beside the types of messages; the full zod is larger, and most functions bundle lib/ports.",
    ),
    typesOnly(
      "ports-use-kernel-types",
      "^lib/ports/",
      "^lib/kernel/",
      "A port names what the kernel decides, it does not decide. Use `import type`.",
    ),
    room(
      "shapes-are-types",
      "^lib/shapes/",
      ["^lib/shapes/", "^lib/definition/", "^lib/kernel/", "^lib/ports/"],
      "lib/shapes has the types of requests and answers, which the engine, the API, the library and the client share. It knows nothing of how they are stored or sent.",
    ),
    typesOnly(
      "shapes-run-nothing",
      "^lib/shapes/",
      "^lib/(definition|kernel|ports)/",
      "lib/shapes holds types and no code. Use `import type`, and put a rule beside the use case that it guards, or into lib/api/shapes.",
    ),
    room(
      "engine-imports-kernel-and-ports",
      "^lib/engine/",
      ["^lib/engine/", "^lib/definition/", "^lib/kernel/", "^lib/ports/", "^lib/shapes/"],
      "lib/engine sees the world through lib/ports only. Compilers, expression engines and adapters are handed to it by lib/embedded or functions/composition.ts.",
    ),
    forbidden(
      "adapter-imports-ports",
      { path: "^lib/adapters/([^/]+)/" },
      {
        path: OURS,
        pathNot: ["^lib/adapters/$1/", "^lib/ports/", "^lib/definition/", "^lib/kernel/"],
      },
      "An adapter translates one technology into ports. It never calls the engine or another adapter: what two of them share belongs in lib/ports.",
    ),
    typesOnly(
      "adapters-use-kernel-types",
      "^lib/adapters/",
      "^lib/kernel/",
      "An adapter decides nothing. Use `import type`, or move the decision into lib/kernel or lib/engine.",
    ),
    room(
      "api-imports-engine",
      "^lib/api/",
      [
        "^lib/api/",
        "^lib/engine/",
        "^lib/shapes/",
        "^lib/ports/",
        "^lib/definition/",
        packages("zod"),
      ],
      "lib/api is the HTTP surface over lib/engine, the same in one process and in Lambda. Servers, files and adapters belong to lib/embedded and functions.",
    ),
    room(
      "client-imports-api-types",
      "^lib/client/(?!aws/)",
      ["^lib/client/(?!aws/)", "^lib/api/"],
      "lib/client talks HTTP and is bundled into other people's programs. It knows the shapes of lib/api and nothing else; signing is handed to it.",
    ),
    room(
      "client-aws-signs",
      "^lib/client/aws/",
      [
        "^lib/client/",
        packages("@smithy/signature-v4", "@aws-sdk/credential-provider-node"),
        "^(node:)?crypto$",
      ],
      "lib/client/aws signs requests of lib/client as AWS credentials. It is an entry point of its own, so that other programs do without its packages.",
    ),
    typesOnly(
      "client-uses-api-types",
      "^lib/client/",
      "^lib/api/",
      "lib/client knows the shapes of lib/api, not its code. Use `import type`.",
    ),
    forbidden(
      "embedded-needs-no-aws",
      { path: "^lib/(embedded|testing)/" },
      { path: [AWS_ADAPTERS, packages("@aws-sdk", "@aws-lambda-powertools", "@middy")] },
      "The embedded engine runs with Node alone. Use the local or simulated adapters; AWS is wired in functions/composition.ts.",
    ),
    forbidden(
      "cost-counts-without-aws",
      { path: "^lib/cost/" },
      {
        path: [AWS_ADAPTERS, packages("@aws-sdk", "@aws-lambda-powertools", "@middy")],
        pathNot: "^lib/adapters/dynamodb/(attributes|metering|units)\\.ts$",
      },
      "lib/cost counts in memory, with Node alone. Of the AWS adapters it takes the rules by which they are billed, and nothing that sends.",
    ),
    forbidden(
      "lib-stays-in-lib",
      { path: "^lib/" },
      { path: "^(cli|functions|cdk|console|examples|bench|scripts|test)/" },
      "lib is a plain library. Move what it needs into the room of lib that owns it.",
    ),
    forbidden(
      "published-code-uses-dependencies",
      // Functions and what only they use are bundled when the package is built.
      { path: "^(lib|cli)/", pathNot: AWS_ADAPTERS },
      {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["type-only"],
      },
      "A user who installs the package does not get this one. A new run-time dependency is added to `dependencies` and needs a page in docs/decisions.",
    ),
    forbidden(
      "cli-uses-client-and-embedded",
      { path: "^cli/" },
      {
        path: "^(lib|functions|cdk|examples|bench|scripts|test)/",
        pathNot: "^lib/(client|embedded|cost|bundler)/",
      },
      "The command is a client of the API. What it needs from deeper rooms is offered by lib/client, lib/embedded, lib/cost or lib/bundler.",
    ),
    forbidden(
      "function-stands-alone",
      { path: "^functions/([^/]+)/" },
      { path: "^functions/[^/]+/", pathNot: ["^functions/$1/", "^functions/middleware/"] },
      "Each function is deployed by itself. What two share is a middleware or belongs in lib.",
    ),
    forbidden(
      "functions-use-lib",
      { path: "^functions/" },
      { path: "^(cli|cdk|console|examples|bench|scripts|test)/" },
      "A function wires lib to Lambda, with middy and Powertools. Move what it needs into lib.",
    ),
    room(
      "cdk-names-functions-by-path",
      "^cdk/",
      [
        "^cdk/",
        "^functions/settings\\.ts$",
        packages("aws-cdk-lib", "constructs", "cdk-nag", "esbuild"),
        "^(node:)?(path|url|fs|os|child_process)$",
      ],
      "cdk says what is deployed. Functions are named by path; the names of their settings come from functions/settings.ts.",
    ),
    typesOnly(
      "console-uses-api-types",
      "^console/",
      "^lib/",
      "The console knows the engine only over HTTP. Use `import type` from lib/api.",
    ),
    forbidden(
      "console-uses-api-only",
      { path: "^console/" },
      { path: OURS, pathNot: ["^console/", "^lib/api/"] },
      "The console knows the engine only over HTTP: types of lib/api, nothing else of ours.",
    ),
    forbidden(
      "examples-import-the-package",
      { path: "^examples/" },
      {
        path: OURS,
        pathNot: "^examples/",
        dependencyTypesNot: ["aliased"],
      },
      'An example is written as a user would write it: import "fermata-engine", "fermata-engine/embedded" or "fermata-engine/client", never a path into the engine.',
    ),
    forbidden(
      "no-cycles",
      {},
      { circular: true },
      "Two files that need each other hold one idea: merge them, or move what both need to a third file.",
    ),
    forbidden(
      "no-unresolvable",
      {},
      { couldNotResolve: true },
      "This import leads nowhere. Relative imports carry `.ts`; a package must be in package.json.",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "node", "default"],
    },
  },
};
