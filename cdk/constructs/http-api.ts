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
import type { Auth, Cors, Throttle } from "../door.ts";
import { ROUTES, type Route, type Verb } from "../routes.ts";

export type EngineHttpApiProps = Readonly<{
  handler: IFunction;
  auth: Auth;
  cors: Cors | undefined;
  throttle: Throttle;
  logs: LogGroupProps;
}>;

/** The door: every call of the API is a route of its own, and none is open. */
export class EngineHttpApi extends Construct {
  /** Without a slash at its end. */
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

  /** Lets a caller that signs its calls make those of some verbs. */
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
    // HEAD, and the engine's own answer where nothing is; no call that changes anything comes this way.
    for (const routeKey of cors === undefined ? [HttpRouteKey.DEFAULT] : ALL_BUT_OPTIONS) {
      add(routeKey, "read");
    }
    if (cors === undefined) this.#allowDefaultRoute(handler);
  }

  /** The permission that the integration brings is for routes that have a method and a path. */
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
 * Browsers ask with OPTIONS and without a name which pages may call. The gateway answers that by
 * itself, unless there is a route for it: `$default` is one, and wants to know who asks.
 */
const ALL_BUT_OPTIONS = [
  HttpMethod.GET,
  HttpMethod.HEAD,
  HttpMethod.POST,
  HttpMethod.PUT,
  HttpMethod.PATCH,
  HttpMethod.DELETE,
].map((method) => HttpRouteKey.with("/{proxy+}", method));

/** The name of a verb's scope, unless the user's own tokens say it otherwise. */
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

/** Of a token the subject alone: other claims may say more about a person than a log should. */
function callerBy({ kind }: Auth): string {
  return kind === "jwt" ? "$context.authorizer.claims.sub" : SIGNER;
}

/** Who has signed a call. */
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

/** Who called what, and how it went; never what was said. How the first two are called differs. */
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
