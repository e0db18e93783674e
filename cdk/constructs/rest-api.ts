import { RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import { type IGrantable, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type LogGroupProps } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import type { Auth, Throttle } from "../api-access.ts";
import { ROUTES, type Route, type Verb } from "../routes.ts";
import { accessLog, accessLogs, SIGNER } from "./http-api.ts";

const STAGE = "live";

export type EngineRestApiProps = Readonly<{
  handler: IFunction;
  auth: Exclude<Auth, { kind: "jwt" }>;
  throttle: Throttle;
  logs: LogGroupProps;
}>;

/**
 * The same API as a REST API, for endpoints without HTTP APIs: more expensive, and without JWT and
 * CORS.
 */
export class EngineRestApi extends Construct {
  /** Without a trailing slash. */
  readonly url: string;
  readonly #api: RestApi;

  constructor(scope: Construct, id: string, { handler, auth, throttle, logs }: EngineRestApiProps) {
    super(scope, id);
    this.#api = new RestApi(this, "Api", {
      description: "Fermata",
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: false,
      defaultMethodOptions: {
        authorizationType: auth.kind === "iam" ? AuthorizationType.IAM : AuthorizationType.NONE,
      },
      deployOptions: {
        stageName: STAGE,
        throttlingRateLimit: throttle.perSecond,
        throttlingBurstLimit: throttle.burst,
        accessLogDestination: new LogGroupLogDestination(accessLogs(this, logs)),
        accessLogFormat: accessLog({
          route: "$context.httpMethod $context.resourcePath",
          caller: SIGNER,
        }),
        loggingLevel: MethodLoggingLevel.ERROR,
      },
    });
    const integration = new LambdaIntegration(handler, { scopePermissionToMethod: false });
    for (const { method, path } of ROUTES) {
      const added = this.#api.root.resourceForPath(path).addMethod(method, integration);
      acknowledge(added, {
        "AwsSolutions-COG4":
          "Callers sign their calls; users of a pool are let in by the HTTP API.",
      });
    }
    this.url = this.#api.url.replace(/\/$/, "");
    this.#keepFailures(logs);
    this.#acknowledge();
  }

  /**
   * The gateway writes its own failures to a log group of this name; one that it creates itself
   * never expires.
   */
  #keepFailures(logs: LogGroupProps): void {
    const failures = new LogGroup(this, "Failures", {
      removalPolicy: RemovalPolicy.DESTROY,
      ...logs,
      logGroupName: `API-Gateway-Execution-Logs_${this.#api.restApiId}/${STAGE}`,
    });
    this.#api.deploymentStage.node.addDependency(failures);
  }

  /** Lets a caller that signs its requests make the calls of some verbs. */
  grantCall({ grantPrincipal }: IGrantable, verbs: readonly Verb[]): void {
    const resources = ROUTES.filter(({ verb }) => verbs.includes(verb)).map((route) =>
      this.#arnOf(route),
    );
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["execute-api:Invoke"], resources }),
    );
  }

  #arnOf({ method, path }: Route): string {
    return Stack.of(this).formatArn({
      service: "execute-api",
      resource: this.#api.restApiId,
      resourceName: `${STAGE}/${method}${path.replaceAll(/\{[^}]*\}/g, "*")}`,
    });
  }

  #acknowledge(): void {
    acknowledge(this.#api, {
      "AwsSolutions-APIG2": "The function checks every request against the API's own schemas.",
    });
    acknowledge(this.#api.deploymentStage, {
      "AwsSolutions-APIG3":
        "Callers sign their calls; who wants a firewall before that associates a web ACL with the stage.",
    });
  }
}
