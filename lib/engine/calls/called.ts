/** Which version of a process a call runs. */
import type { Definition } from "../../definition/definition.ts";
import type { ChildTicket, Instance } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import { checkPlainStart } from "../drive/creation.ts";
import { definitionPk, VERSIONS, versionOf } from "../storage/keys.ts";
import {
  parseVersion,
  readVersion,
  type Startable,
  startable,
  type VersionRecord,
} from "../storage/latest.ts";
import { scanAll } from "../storage/scan-all.ts";
import { isDamaged, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

type Ref = Pick<Definition, "id" | "version" | "hash">;

/** The version that the call is bound to; throws where there is none that it could begin. */
export async function calledBy(
  world: World,
  parent: Instance,
  { process, binding }: ChildTicket,
): Promise<Startable> {
  const { definition: latest, ...spread } = await startable(world, process, undefined);
  const wanted = binding && (await wantedBy(world, parent, binding));
  const definition = wanted ? await newestThat(world, latest, wanted) : latest;
  await checkPlainStart(world, definition);
  return { definition, ...spread };
}

type Wanted = Readonly<{ is: (record: VersionRecord) => boolean; words: string }>;

async function wantedBy(
  world: World,
  { definition }: Instance,
  binding: NonNullable<ChildTicket["binding"]>,
): Promise<Wanted> {
  if (binding !== "deployment") {
    const { tag } = binding;
    return { is: (record) => record.tag === tag, words: `with the version tag "${tag}"` };
  }
  const { sourceHash } = await readVersion(world, definition.id, definition.version);
  const words = `that was deployed together with version ${definition.version} of "${definition.id}"`;
  return { is: (record) => record.sourceHash === sourceHash, words };
}

/** The newest comes first: mostly it is the one. */
async function newestThat(world: World, latest: Ref, { is, words }: Wanted): Promise<Ref> {
  const { id } = latest;
  const pk = definitionPk(world.settings.tenant, id);
  const range = { ...VERSIONS, limit: VERSIONS_AT_ONCE, backwards: true } as const;
  const parse = ({ key, body }: Item) => ({ ...parseVersion(body), version: versionOf(key) });
  for await (const item of scanAll(world.store, pk, range)) {
    const found = readableOf(world, [item], parse, isDamaged).find(is);
    if (found) return { id, version: found.version, hash: found.hash };
  }
  throw new EngineError("definition/not-found", {
    happened: `There is no version of the definition ${words}`,
    where: `definition ${id}`,
    fix: "Deploy one, or bind the call to another version.",
  });
}

const VERSIONS_AT_ONCE = 25;
