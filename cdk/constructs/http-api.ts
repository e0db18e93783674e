import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  CorsHttpMethod,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpIamAuthorizer, HttpJwtAuthorizer } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { type IGrantable, PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type ILogGroup, LogGroup, type LogGroupProps } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Auth, Cors, Throttle } from "../api-access.ts";
import { ROUTES, type Route, type Verb } from "../routes.ts";

export type EngineHttpApiProps = Readonly<{
  handler: IFunction;
  auth: Auth;
  cors: Cors | undefined;
  throttle: Throttle;
  logs: LogGroupProps;
}>;

/** The HTTP API: every call is a route of its own, and none is open. */
export class EngineHttpApi extends Construct {
  /** Without a trailing slash. */
  readonly url: string;
  readonly #api: HttpApi;

  constructor(scope: Construct, id: string, props: EngineHttpApiProps) {
    super(scope, id);
    const { auth, cors, throttle } = props;
    this.#api = new HttpApi(this, "Api", {
      description: "Fermata",
      createDefaultStage: false,
      ...(cors !== undefined && { corsPreflight: preflight(cors) }),
    });
    const stage = new HttpStage(this, "Stage", {
      httpApi: this.#api,
      stageName: "$default",
      autoDeploy: true,
      throttle: { rateLimit: throttle.perSecond, burstLimit: throttle.burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLogs(this, props.logs)),
        format: accessLog({ route: "$context.routeKey", caller: callerBy(auth) }),
      },
    });
    this.url = stage.url.replace(/\/$/, "");
    this.#addRoutes(props);
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

  #addRoutes({ handler, auth, cors }: EngineHttpApiProps): void {
    const integration = new HttpLambdaIntegration("Integration", handler, {
      scopePermissionToRoute: false,
      timeout: Duration.seconds(29),
    });
    const authorizer = authorizerOf(auth);
    const add = (routeKey: HttpRouteKey, verb: Verb) =>
      new HttpRoute(this, routeKey.key, {
        httpApi: this.#api,
        integration,
        routeKey,
        authorizer,
        ...(auth.kind === "jwt" && { authorizationScopes: [scopeOf(auth.scopes, verb)] }),
      });
    for (const route of ROUTES)
      add(HttpRouteKey.with(route.path, HttpMethod[route.method]), route.verb);
    // HEAD, and the engine's own response for unknown paths; no call that changes anything uses
    // this route.
    for (const routeKey of cors === undefined ? [HttpRouteKey.DEFAULT] : ALL_BUT_OPTIONS) {
      add(routeKey, "read");
    }
    if (cors === undefined) this.#allowDefaultRoute(handler);
  }

  /** The permission of the integration covers only routes that have a method and a path. */
  #allowDefaultRoute(handler: IFunction): void {
    handler.addPermission("DefaultRoute", {
      scope: this,
      principal: new ServicePrincipal("apigateway.amazonaws.com"),
      sourceArn: Stack.of(this).formatArn({
        service: "execute-api",
        resource: this.#api.apiId,
        resourceName: "*/$default",
      }),
    });
  }

  #arnOf({ method, path }: Route): string {
    return Stack.of(this).formatArn({
      service: "execute-api",
      resource: this.#api.apiId,
      resourceName: `$default/${method}${path.replaceAll(/\{[^}]*\}/g, "*")}`,
    });
  }
}

/**
 * Browsers send preflight requests with OPTIONS and without credentials. The gateway answers these
 * by itself, unless there is a route for them: `$default` is one, and needs authentication.
 */
const ALL_BUT_OPTIONS = [
  HttpMethod.GET,
  HttpMethod.HEAD,
  HttpMethod.POST,
  HttpMethod.PUT,
  HttpMethod.PATCH,
  HttpMethod.DELETE,
].map((method) => HttpRouteKey.with("/{proxy+}", method));

/** The name of a verb's scope, unless the user's settings name another. */
function scopeOf(scopes: Partial<Record<Verb, string>> | undefined, verb: Verb): string {
  return scopes?.[verb] ?? `fermata/${verb}`;
}

function authorizerOf(auth: Auth): IHttpRouteAuthorizer {
  switch (auth.kind) {
    case "iam":
      return new HttpIamAuthorizer();
    case "jwt":
      return new HttpJwtAuthorizer("Jwt", auth.issuer, { jwtAudience: [...auth.audience] });
    case "none":
      return new HttpNoneAuthorizer();
  }
}

/** Only the subject of a token: other claims may hold personal data that does not belong in a log. */
function callerBy({ kind }: Auth): string {
  return kind === "jwt" ? "$context.authorizer.claims.sub" : SIGNER;
}

/** The signer of a request. */
export const SIGNER = "$context.identity.userArn";

/** What the client library sends, signatures included. */
function preflight({ origins, maxAge }: Cors) {
  return {
    allowOrigins: [...origins],
    allowMethods: [
      CorsHttpMethod.GET,
      CorsHttpMethod.HEAD,
      CorsHttpMethod.POST,
      CorsHttpMethod.PUT,
      CorsHttpMethod.PATCH,
      CorsHttpMethod.DELETE,
    ],
    allowHeaders: [
      "authorization",
      "content-type",
      "idempotency-key",
      "x-amz-content-sha256",
      "x-amz-date",
      "x-amz-security-token",
    ],
    exposeHeaders: ["location", "retry-after"],
    maxAge: maxAge ?? Duration.hours(1),
  };
}

/** Caller, route and status of each call, never its content. The first two have different variables. */
export const accessLog = ({ route, caller }: Readonly<{ route: string; caller: string }>) =>
  AccessLogFormat.custom(
    JSON.stringify({
      requestId: "$context.requestId",
      time: "$context.requestTime",
      method: "$context.httpMethod",
      route,
      status: "$context.status",
      sentBytes: "$context.responseLength",
      tookMs: "$context.responseLatency",
      caller,
      error: "$context.integrationErrorMessage",
    }),
  );

/** The log of calls. */
export function accessLogs(scope: Construct, props: LogGroupProps): ILogGroup {
  return new LogGroup(scope, "Calls", { removalPolicy: RemovalPolicy.DESTROY, ...props });
}
