import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { Fermata, type FermataProps } from "./fermata.ts";

/** One installation as a stack of its own, with the names that its operators need as outputs. */
export class EngineStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    props: StackProps & Readonly<{ fermata: FermataProps }>,
  ) {
    const { fermata: settings, ...stack } = props;
    super(scope, id, stack);
    const fermata = new Fermata(this, "Fermata", settings);
    this.#output("ApiUrl", fermata.url);
    this.#output("TableName", fermata.table.name);
    this.#output("BlobsBucketName", fermata.blobs.bucket.bucketName);
    this.#output("BusName", fermata.bus.bus.eventBusName);
    if (fermata.schedules !== undefined) {
      this.#output("ScheduleGroupName", fermata.schedules.group.scheduleGroupName);
    }
    for (const [role, { queue }] of Object.entries(fermata.queues.byRole())) {
      this.#output(`${capitalised(role)}QueueUrl`, queue.queueUrl);
    }
    for (const [role, { queueUrl }] of Object.entries(fermata.deadLetters())) {
      this.#output(`${capitalised(role)}DeadLettersUrl`, queueUrl);
    }
  }

  #output(name: string, value: string): void {
    new CfnOutput(this, name, { value });
  }
}

function capitalised(role: string): string {
  return `${role.charAt(0).toUpperCase()}${role.slice(1)}`;
}
