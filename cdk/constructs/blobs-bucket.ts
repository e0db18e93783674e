import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { type IGrantable, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";

/**
 * Longer than the messages that name them are kept: 10 days in a queue and 14 as dead letters, and
 * as long again after a redrive, within reason.
 */
const MESSAGE_BODIES_KEPT = Duration.days(45);

export type BlobsBucketProps = Readonly<{
  encryptionKey: IKey | undefined;
  removalPolicy: RemovalPolicy;
  /** How long values of an ended instance are kept. */
  retention: Duration;
}>;

/** Values too large for the table, and bodies too large for a queue. */
export class BlobsBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, props: BlobsBucketProps) {
    super(scope, id);
    const { encryptionKey, removalPolicy, retention } = props;
    this.bucket = new Bucket(this, "Bucket", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      ...(encryptionKey === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
      removalPolicy,
      lifecycleRules: [
        { id: "message-bodies", prefix: "messages/", expiration: MESSAGE_BODIES_KEPT },
        { id: "ended", tagFilters: { fermata: "ended" }, expiration: retention },
        { id: "uploads", abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
    acknowledge(this.bucket, {
      "AwsSolutions-S1":
        "Only the functions' roles reach the bucket; who wants a record of each access switches on data events of CloudTrail, which tell the role as well.",
    });
  }

  /** Lets a function store and read values, and mark those that are no longer needed. */
  grantBlobs(grantee: IGrantable): void {
    this.#allow(grantee, "s3:PutObject", "s3:PutObjectTagging");
    this.grantRead(grantee);
  }

  /** Lets a function read values. */
  grantRead(grantee: IGrantable): void {
    this.#allow(grantee, "s3:GetObject");
    // Without it S3 responds "forbidden" instead of "not found" for a missing object.
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["s3:ListBucket"], resources: [this.bucket.bucketArn] }),
    );
  }

  /** Lets a function remove values at once. */
  grantErase(grantee: IGrantable): void {
    this.#allow(grantee, "s3:DeleteObject");
  }

  /** The ARNs of all values in one. */
  objects(): string {
    return this.bucket.arnForObjects("*");
  }

  #allow({ grantPrincipal }: IGrantable, ...actions: string[]): void {
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions, resources: [this.objects()] }),
    );
  }
}
