/** Starting an instance: idempotent by its id, acknowledged when it is durable. */
import type { Notation } from "../../definition/definition.ts";
import { canonicalJson } from "../../definition/json.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { checkedValue } from "../../definition/parsed.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { type Instant, parseInstant } from "../../definition/time/instant.ts";
import type { StartInput } from "../../kernel/fact.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import type { StartRequest } from "../../shapes/instances.ts";
import type { IdempotencyKey } from "../../shapes/paging.ts";
import { answerCall } from "../drive/commit-call.ts";
import { checkPlainStart, createInstance } from "../drive/creation.ts";
import { keyReused } from "../drive/instance-request.ts";
import { defined } from "../storage/defined.ts";
import { startable } from "../storage/latest.ts";
import { loadProgram } from "../storage/programs.ts";
import { again, engineBusy, retrying } from "../storage/retrying.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/** The started instance; the one that is there already, if the same start made it. */
export async function start(
  world: World,
  definitionId: string,
  request: StartRequest,
  key?: IdempotencyKey,
): Promise<Image> {
  // The same key names the same instance for ever.
  const byKey = () => world.ids.digest(`${world.settings.tenant}\n${definitionId}\n${key}`);
  const instanceId = request.instanceId ?? (key === undefined ? world.ids.fresh() : byKey());
  const fingerprint = world.ids.digest(canonicalJson([definitionId, request]));
  // A repeat gets its answer whatever has become of the definition since.
  const mayRepeat = key !== undefined || request.instanceId !== undefined;
  const known = mayRepeat ? await loadInstance(world, instanceId) : undefined;
  if (known) return sameStart(known, fingerprint, key);
  const { definition, ...spread } = await startable(world, definitionId, request.version);
  const notation = await checkStart(world, definition, request);
  const now = world.clock.now();
  const carried: CarriedStart = {
    definition,
    now,
    request: fingerprint,
    fact: {
      kind: "started",
      input: startInput(request, notation, now),
    },
    ...defined({ businessKey: request.businessKey, tags: request.tags }),
    ...spread,
  };
  const where = `definition ${definitionId}`;
  const image = await answerCall(`instance ${instanceId}`, (progress) =>
    retrying(world, { tries: MAX_TRIES_OF_DOOR, where }, async () => {
      const created = await createInstance(world, instanceId, carried, { progress });
      if (created.kind === "committed") return created.image;
      if (created.kind === "conflict" && created.current) return created.current;
      if (created.kind === "moved") return again();
      throw engineBusy(where);
    }),
  );
  return sameStart(image, fingerprint, key);
}

function startInput(request: StartRequest, notation: Notation, now: Instant): StartInput {
  const { variables, input, deadline } = request;
  const isBare = notation === "code" && variables === undefined && input === undefined;
  return {
    variables: variables ?? {},
    ...(input !== undefined && { input }),
    ...(isBare && { isBare }),
    ...(deadline !== undefined && { deadline: deadlineOf(deadline, now) }),
  };
}

/** A start event without a trigger, and an input that the notation takes; the notation. */
async function checkStart(
  world: World,
  ref: CarriedStart["definition"],
  { input, variables }: StartRequest,
): Promise<Notation> {
  await checkPlainStart(world, ref);
  const { notation } = (await loadProgram(world, ref)).definition;
  if (input === undefined || (notation === "code" && variables === undefined)) return notation;
  throw new EngineError("definition/notation-differs", {
    happened:
      notation === "code"
        ? "The start has both an input and variables"
        : `A ${notation} process has variables, not an input`,
    where: "input",
    fix: notation === "code" ? "Send one of them." : "Send them as `variables`.",
  });
}

/** The instance that is there, if this very request made it: no copy of another one can. */
function sameStart(found: Image, fingerprint: string, key: IdempotencyKey | undefined): Image {
  const { id, startHash, erased } = found.instance;
  if (erased) throw taken(id);
  if (startHash === fingerprint) return found;
  throw key === undefined ? taken(id) : keyReused(id);
}

function deadlineOf(text: string, now: Instant): Instant {
  const duration = parseDuration(text);
  return duration.ok ? addDuration(now, duration.value) : checkedValue(parseInstant(text));
}

const taken = (instanceId: string): EngineError =>
  new EngineError("instance/id-taken", { where: `instance ${instanceId}` });
