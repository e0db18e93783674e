import { RemovalPolicy } from "aws-cdk-lib";
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import {
  AnyPrincipal,
  Effect,
  type IGrantable,
  PolicyDocument,
  PolicyStatement,
} from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";

/** The actions of a step; a transaction of several items needs no more than these. */
const STEP_ACTIONS = [
  "dynamodb:GetItem",
  "dynamodb:BatchGetItem",
  "dynamodb:Query",
  "dynamodb:PutItem",
  "dynamodb:DeleteItem",
  "dynamodb:ConditionCheckItem",
  "dynamodb:BatchWriteItem",
];

/** The limits of the table's throughput, and its warm throughput. */
export type Throughput = Readonly<{
  /** Units per second beyond which the table refuses, so that a loop cannot run up a bill. */
  maxReads: number;
  maxWrites: number;
  /** Units per second that the table serves from the first second on. */
  warmReads?: number;
  warmWrites?: number;
}>;

/**
 * What a new table serves on its first day, so that the limit refuses nothing it could serve. An
 * endless loop costs some ten dollars an hour at the most, in writes of the table.
 */
const DEFAULT_THROUGHPUT: Throughput = { maxReads: 12_000, maxWrites: 4_000 };

export type InstanceTableProps = Readonly<{
  encryptionKey: IKey | undefined;
  removalPolicy: RemovalPolicy;
  throughput: Throughput | undefined;
  /** The name of another table with the same content, used instead. */
  restored: string | undefined;
}>;

/** The one table: instances, definitions, subscriptions, and the two indexes that find them. */
export class InstanceTable extends Construct {
  /** Of the table in use. */
  readonly name: string;
  readonly arn: string;

  constructor(scope: Construct, id: string, props: InstanceTableProps) {
    super(scope, id);
    const { encryptionKey, removalPolicy } = props;
    const throughput = limitsOf(props.throughput);
    const own = new Table(this, "Table", {
      partitionKey: text("pk"),
      sortKey: text("sk"),
      timeToLiveAttribute: "ttl",
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...throughput,
      ...(encryptionKey === undefined
        ? { encryption: TableEncryption.AWS_MANAGED }
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
      removalPolicy,
      resourcePolicy: tlsOnly(),
    });
    own.addGlobalSecondaryIndex({ ...index("due", "duePk", "dueSk"), ...throughput });
    own.addGlobalSecondaryIndex({ ...index("listing", "listPk", "listSk"), ...throughput });
    const { tableName, tableArn } =
      props.restored === undefined ? own : Table.fromTableName(this, "Restored", props.restored);
    this.name = tableName;
    this.arn = tableArn;
  }

  /** Lets a function run steps: read and write items, without the indexes. */
  grantSteps({ grantPrincipal }: IGrantable): void {
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions: STEP_ACTIONS, resources: [this.arn] }),
    );
  }

  /** Lets the sweep read items, store its progress, and remove offers. */
  grantSweep({ grantPrincipal }: IGrantable): void {
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: [
          "dynamodb:GetItem",
          "dynamodb:BatchGetItem",
          "dynamodb:Query",
          "dynamodb:PutItem",
          "dynamodb:DeleteItem",
        ],
        resources: [this.arn],
      }),
    );
  }

  /** Lets a function query an index. */
  grantIndex({ grantPrincipal }: IGrantable, name: "due" | "listing"): void {
    grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["dynamodb:Query"],
        resources: [`${this.arn}/index/${name}`],
      }),
    );
  }
}

const text = (name: string) => ({ name, type: AttributeType.STRING });

const index = (indexName: string, pk: string, sk: string) => ({
  indexName,
  partitionKey: text(pk),
  sortKey: text(sk),
  projectionType: ProjectionType.KEYS_ONLY,
});

/** An index with a lower limit than its table would throttle the table's writes: both get the same. */
function limitsOf(throughput: Throughput = DEFAULT_THROUGHPUT) {
  const { maxReads, maxWrites, warmReads, warmWrites } = throughput;
  const warm = {
    ...(warmReads !== undefined && { readUnitsPerSecond: warmReads }),
    ...(warmWrites !== undefined && { writeUnitsPerSecond: warmWrites }),
  };
  return {
    maxReadRequestUnits: maxReads,
    maxWriteRequestUnits: maxWrites,
    ...(Object.keys(warm).length > 0 && { warmThroughput: warm }),
  };
}

/** In a table's own policy, `*` is the table and its indexes. */
function tlsOnly(): PolicyDocument {
  const statement = new PolicyStatement({
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ["dynamodb:*"],
    resources: ["*"],
    conditions: { Bool: { "aws:SecureTransport": "false" } },
  });
  return new PolicyDocument({ statements: [statement] });
}
