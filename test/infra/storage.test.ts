import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import { describe, expect, test } from "vitest";
import { tableDefinition } from "../support/dynamodb-table.ts";
import { inWords, synthesised, WITHOUT_TLS } from "./support/synthesised.ts";

const installation = synthesised();

describe("the table", () => {
  const { props, deletionPolicy } = installation.one("AWS::DynamoDB::Table", "Table/Resource");

  test("has the keys and indexes that the store is tested with", () => {
    const { TableName: _, ...wanted } = tableDefinition("any");

    expect({
      KeySchema: props.KeySchema,
      GlobalSecondaryIndexes: props.GlobalSecondaryIndexes.map(withoutLimit),
      AttributeDefinitions: sorted(props.AttributeDefinitions),
      BillingMode: props.BillingMode,
    }).toEqual({ ...wanted, AttributeDefinitions: sorted(wanted.AttributeDefinitions) });
  });

  test("is encrypted, can be restored, and is not deleted by mistake", () => {
    expect(props.SSESpecification).toEqual({ SSEEnabled: true });
    expect(props.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true });
    expect(props.DeletionProtectionEnabled).toBe(true);
    expect(deletionPolicy).toBe("Retain");
    expect(props.TimeToLiveSpecification).toEqual({ AttributeName: "ttl", Enabled: true });
  });

  test("refuses connections without TLS", () => {
    expect(props.ResourcePolicy.PolicyDocument.Statement).toEqual([
      expect.objectContaining({ Effect: "Deny", Principal: { AWS: "*" }, ...WITHOUT_TLS }),
    ]);
  });

  test("may be deleted if its owner says so", () => {
    const { one } = synthesised({ alarms: "off", removalPolicy: RemovalPolicy.DESTROY });

    const table = one("AWS::DynamoDB::Table", "Table/Resource");

    expect(table.props.DeletionProtectionEnabled).toBe(false);
    expect(table.deletionPolicy).toBe("Delete");
  });

  test("has the capacity of a new table by default", () => {
    const limit = { MaxReadRequestUnits: 12_000, MaxWriteRequestUnits: 4_000 };

    for (const part of [props, ...props.GlobalSecondaryIndexes]) {
      expect(part.OnDemandThroughput).toEqual(limit);
      expect(part.WarmThroughput).toBeUndefined();
    }
  });

  test("is limited to the owner's maximum, and its indexes to no less", () => {
    const throughput = { maxReads: 2_000, maxWrites: 1_000, warmWrites: 500 };
    const { one } = synthesised({ alarms: "off", throughput });

    const { props } = one("AWS::DynamoDB::Table", "Table/Resource");

    const limit = { MaxReadRequestUnits: 2_000, MaxWriteRequestUnits: 1_000 };
    for (const part of [props, ...props.GlobalSecondaryIndexes]) {
      expect(part.OnDemandThroughput).toEqual(limit);
      expect(part.WarmThroughput).toEqual({ WriteUnitsPerSecond: 500 });
    }
  });
});

describe("the bucket", () => {
  const { props, deletionPolicy } = installation.one("AWS::S3::Bucket", "Bucket/Resource");

  test("is encrypted, closed to the public, and retained", () => {
    expect(props.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
    ]);
    expect(props.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(deletionPolicy).toBe("Retain");
  });

  test("refuses connections without TLS", () => {
    const policy = installation.one("AWS::S3::BucketPolicy", "Bucket/Policy/Resource");

    expect(policy.props.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({ Effect: "Deny", Principal: { AWS: "*" }, ...WITHOUT_TLS }),
    );
  });

  test("expires message bodies after all queues, and ended values after the retention", () => {
    const { one } = synthesised({ alarms: "off", retention: Duration.days(90) });

    const { Rules } = one("AWS::S3::Bucket", "Bucket/Resource").props.LifecycleConfiguration;

    expect(Rules).toEqual([
      expect.objectContaining({ Prefix: "messages/", ExpirationInDays: 45 }),
      expect.objectContaining({
        TagFilters: [{ Key: "fermata", Value: "ended" }],
        ExpirationInDays: 90,
      }),
      expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }),
    ]);
  });
});

describe("a user's own key", () => {
  const own = synthesised((stack) => ({
    alarms: "off",
    encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }),
  }));
  const isKey = (value: unknown) => inWords(value, own) === "Key";

  test("encrypts the table, the bucket, every queue, the bus and every log", () => {
    const { props: table } = own.one("AWS::DynamoDB::Table", "Table/Resource");
    const { props: bucket } = own.one("AWS::S3::Bucket", "Bucket/Resource");
    const [rule] = bucket.BucketEncryption.ServerSideEncryptionConfiguration;

    expect(isKey(table.SSESpecification.KMSMasterKeyId)).toBe(true);
    expect(isKey(rule.ServerSideEncryptionByDefault.KMSMasterKeyID)).toBe(true);
    for (const { props } of own.of("AWS::SQS::Queue"))
      expect(isKey(props.KmsMasterKeyId)).toBe(true);
    for (const { props } of own.of("AWS::Events::EventBus"))
      expect(isKey(props.KmsKeyIdentifier)).toBe(true);
    for (const { props } of own.of("AWS::Logs::LogGroup")) expect(isKey(props.KmsKeyId)).toBe(true);
  });

  test("may be used by EventBridge and the logs for this account only", () => {
    const { Statement } = own.one("AWS::KMS::Key", "Key/Resource").props.KeyPolicy;

    const services = Statement.filter(
      ({ Principal }: { Principal: { Service?: unknown } }) => Principal.Service,
    );
    expect(services.length).toBeGreaterThanOrEqual(2);
    for (const { Condition } of services)
      expect(JSON.stringify(Condition)).toContain("AWS::AccountId");
  });

  test("may be used by every role that reads or writes what it encrypts, and by no other", () => {
    const withKey = own
      .of("AWS::IAM::Policy")
      .filter(({ props }) => JSON.stringify(props).includes("kms:Decrypt"))
      .map(({ props }) => inWords(props.Roles[0], own));

    const roles = own.of("AWS::IAM::Role").map(({ id }) => inWords({ Ref: id }, own));
    expect(withKey.sort()).toEqual(
      roles.filter((role) => role !== "Functions/Compile/Role").sort(),
    );
  });
});

const withoutLimit = ({ OnDemandThroughput: _, ...index }: Readonly<Record<string, unknown>>) =>
  index;

function sorted(definitions: readonly { AttributeName?: string | undefined }[] | undefined) {
  return [...(definitions ?? [])].sort((a, b) =>
    (a.AttributeName ?? "").localeCompare(b.AttributeName ?? ""),
  );
}
