import { Stack } from "aws-cdk-lib";
import { AccountPrincipal, Role } from "aws-cdk-lib/aws-iam";
import { describe, expect, test } from "vitest";
import { Fermata } from "../../cdk/fermata.ts";
import { ROUTES } from "../../cdk/routes.ts";
import { operations } from "../../lib/api/operations.ts";
import { anApp, inWords, read, type Synthesised, synthesised } from "./support/synthesised.ts";

const JWT = { kind: "jwt", issuer: "https://id.example.com", audience: ["fermata"] } as const;

const byIam = synthesised({ alarms: "off" });
const byJwt = synthesised({ alarms: "off", auth: JWT });
const rest = synthesised({ alarms: "off", api: "rest" });

describe("the routes of an installation", () => {
  /** An installation on AWS does not take workflows in code yet: the catch-all answers with 403. */
  const wanted = operations
    .filter(({ id }) => id !== "deployCode" && id !== "validateCode")
    .map(({ method, path }) => `${method} ${path}`)
    .sort();

  test("are the operations of the API, all of them and no others", () => {
    expect(ROUTES.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(wanted);
  });

  test("of an HTTP API are these, and a catch-all", () => {
    const keys = routesOf(byIam).map(({ RouteKey }) => RouteKey);

    expect(keys.sort()).toEqual(["$default", ...wanted].sort());
  });

  test("of a REST API are these", () => {
    expect(methodsOf(rest).sort()).toEqual(wanted);
  });
});

describe("every route", () => {
  test("of an HTTP API requires a signature by default", () => {
    for (const { RouteKey, AuthorizationType } of routesOf(byIam)) {
      expect([RouteKey, AuthorizationType]).toEqual([RouteKey, "AWS_IAM"]);
    }
  });

  test("of a REST API also requires a signature", () => {
    const methods = rest.of("AWS::ApiGateway::Method");

    expect(methods.length).toBeGreaterThan(30);
    for (const { path, props } of methods) {
      expect([path, props.AuthorizationType]).toEqual([path, "AWS_IAM"]);
    }
  });

  test("with JWT requires the scope of its verb", () => {
    const [authorizer, ...more] = byJwt.of("AWS::ApiGatewayV2::Authorizer");

    expect(more).toEqual([]);
    expect(authorizer?.props).toMatchObject({
      AuthorizerType: "JWT",
      JwtConfiguration: { Issuer: JWT.issuer, Audience: JWT.audience },
    });
    for (const { RouteKey, AuthorizationType, AuthorizationScopes } of routesOf(byJwt)) {
      const verb =
        ROUTES.find(({ method, path }) => `${method} ${path}` === RouteKey)?.verb ?? "read";
      expect([RouteKey, AuthorizationType, AuthorizationScopes]).toEqual([
        RouteKey,
        "JWT",
        [`fermata/${verb}`],
      ]);
    }
  });

  test("that changes anything requires more than reading; deploying requires its own scope", () => {
    for (const { method, path, verb } of ROUTES) {
      expect([method, path, verb === "read"]).toEqual([method, path, method === "GET"]);
    }
    const deploying = ROUTES.filter(({ verb }) => verb === "deploy").map(
      ({ method, path }) => `${method} ${path}`,
    );
    expect(deploying).toEqual([
      "POST /v1/definitions",
      "POST /v1/definitions:validate",
      "POST /v1/definitions/{definitionId}/disable",
      "POST /v1/definitions/{definitionId}/enable",
      "DELETE /v1/definitions/{definitionId}",
    ]);
  });

  test("accepts the scope names of the user's tokens", () => {
    const named = synthesised({
      alarms: "off",
      auth: { ...JWT, scopes: { deploy: "workflows:publish" } },
    });

    const scopes = Object.fromEntries(
      routesOf(named).map(({ RouteKey, AuthorizationScopes }) => [RouteKey, AuthorizationScopes]),
    );

    expect(scopes["POST /v1/definitions"]).toEqual(["workflows:publish"]);
    expect(scopes["POST /v1/signals"]).toEqual(["fermata/send"]);
  });

  test("is open only if configured so, with a warning", () => {
    const app = anApp();
    const stack = new Stack(app, "Test");
    const fermata = new Fermata(stack, "Fermata", { alarms: "off", auth: { kind: "none" } });

    const routes = routesOf(read(app, stack));

    expect(new Set(routes.map(({ AuthorizationType }) => AuthorizationType))).toEqual(
      new Set(["NONE"]),
    );
    const warnings = fermata.node.metadata.filter(({ type }) => type === "aws:cdk:warning");
    expect(String(warnings[0]?.data)).toContain("The API is open");
  });
});

describe("the API gateway", () => {
  test("throttles as configured, and logs the caller", () => {
    const { props } = byIam.one("AWS::ApiGatewayV2::Stage", "Stage/Resource");

    expect(props.DefaultRouteSettings).toEqual({
      ThrottlingRateLimit: 500,
      ThrottlingBurstLimit: 1_000,
    });
    expect(inWords(props.AccessLogSettings.DestinationArn, byIam)).toBe("Api/Calls");
    expect(props.AccessLogSettings.Format).not.toMatch(/path\b|queryString|authorizer\.claims/);
  });

  test("logs the subject of a token, and no other claim", () => {
    const { Format } = byJwt.one("AWS::ApiGatewayV2::Stage", "Stage/Resource").props
      .AccessLogSettings;

    expect(JSON.parse(Format).caller).toBe("$context.authorizer.claims.sub");
    expect(Format.match(/claims/g)).toHaveLength(1);
  });

  test("is the only API that may call the function", () => {
    const permissions = byIam
      .of("AWS::Lambda::Permission")
      .filter(({ props }) => props.Principal === "apigateway.amazonaws.com");

    const api = "arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:Api/Api";
    expect(permissions.map(({ props }) => inWords(props.SourceArn, byIam)).sort()).toEqual([
      // Stage and route: that of everything else has neither a method nor a path.
      `${api}/*/$default`,
      `${api}/*/*/*`,
    ]);
  });

  test("answers no web page unless its origin is configured", () => {
    const cors = synthesised({ alarms: "off", cors: { origins: ["https://console.example.com"] } });

    expect(
      byIam.one("AWS::ApiGatewayV2::Api", "Api/Resource").props.CorsConfiguration,
    ).toBeUndefined();
    expect(
      cors.one("AWS::ApiGatewayV2::Api", "Api/Resource").props.CorsConfiguration,
    ).toMatchObject({
      AllowOrigins: ["https://console.example.com"],
      AllowHeaders: expect.arrayContaining(["authorization", "idempotency-key", "x-amz-date"]),
      AllowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    });
  });

  test("answers CORS preflights by itself, because a browser sends them without a signature", () => {
    const cors = synthesised({ alarms: "off", cors: { origins: ["https://console.example.com"] } });
    const elsewhere = routesOf(cors).filter(({ RouteKey }) => !/ \/v1\//.test(RouteKey));

    expect(elsewhere.map(({ RouteKey }) => RouteKey).sort()).toEqual([
      "DELETE /{proxy+}",
      "GET /{proxy+}",
      "HEAD /{proxy+}",
      "PATCH /{proxy+}",
      "POST /{proxy+}",
      "PUT /{proxy+}",
    ]);
    for (const { AuthorizationType } of routesOf(cors)) expect(AuthorizationType).toBe("AWS_IAM");
  });

  test("as a REST API logs the route, and keeps its failure logs no longer than that", () => {
    const { props } = rest.one("AWS::ApiGateway::Stage", "DeploymentStage.live/Resource");
    const failures = rest.one("AWS::Logs::LogGroup", "Api/Failures/Resource");

    expect(props.AccessLogSetting.Format).toContain("$context.resourcePath");
    expect(props.AccessLogSetting.Format).not.toMatch(/path\b|queryString|authorizer\.claims/);
    for (const { DataTraceEnabled } of props.MethodSettings) expect(DataTraceEnabled).toBe(false);
    expect(inWords(failures.props.LogGroupName, rest)).toBe(
      "API-Gateway-Execution-Logs_Api/Api/live",
    );
    expect(failures.props.RetentionInDays).toBe(30);
  });

  test("refuses JWT and CORS as a REST API", () => {
    expect(() => synthesised({ api: "rest", auth: JWT })).toThrow(/neither JWT nor CORS/);
    expect(() => synthesised({ api: "rest", cors: { origins: ["*"] } })).toThrow(
      /neither JWT nor CORS/,
    );
  });

  test.each(["http", "rest"] as const)(
    "grants the operations of a verb, and no others (%s)",
    (api) => {
      const app = anApp();
      const stack = new Stack(app, "Test");
      const fermata = new Fermata(stack, "Fermata", { alarms: "off", api });
      const caller = new Role(stack, "Somebody", {
        assumedBy: new AccountPrincipal("111122223333"),
      });

      fermata.grantCall(caller, "start", "work");

      const granted = read(app, stack);
      const { Statement } = granted.one("AWS::IAM::Policy", "Somebody/DefaultPolicy/Resource").props
        .PolicyDocument;
      const calls = Statement.flatMap(({ Resource }: { Resource: unknown[] }) => Resource).map(
        (resource: unknown) => inWords(resource, granted).replace(/^.*:Api\/Api\//, ""),
      );
      const stage = api === "http" ? "$default" : "live";
      expect(calls.toSorted()).toEqual([
        `${stage}/POST/v1/definitions/*/instances`,
        `${stage}/POST/v1/tasks/*/claim`,
        `${stage}/POST/v1/tasks/*/complete`,
        `${stage}/POST/v1/tasks/*/fail`,
        `${stage}/POST/v1/tasks/*/heartbeat`,
        `${stage}/POST/v1/tasks/*/unclaim`,
        `${stage}/POST/v1/tasks/activate`,
      ]);
    },
  );
});

type RouteProps = Readonly<{
  RouteKey: string;
  AuthorizationType: string;
  AuthorizationScopes?: readonly string[];
}>;

function routesOf(installation: Synthesised): readonly RouteProps[] {
  return installation.of("AWS::ApiGatewayV2::Route").map(({ props }) => props);
}

/** Methods of a REST API hang on a tree of resources. */
function methodsOf(installation: Synthesised): string[] {
  const parts = new Map(
    installation.of("AWS::ApiGateway::Resource").map(({ id, props }) => [id, props]),
  );
  const pathOf = (id: string | undefined): string => {
    const part = id === undefined ? undefined : parts.get(id);
    return part === undefined ? "" : `${pathOf(part.ParentId.Ref)}/${part.PathPart}`;
  };
  return installation
    .of("AWS::ApiGateway::Method")
    .map(({ props }) => `${props.HttpMethod} ${pathOf(props.ResourceId.Ref)}`);
}
