import { openLocalStore } from "../../lib/adapters/local/store.ts";

/** Cuts off the stored bytes of an instance in a data folder that nobody has open. */
export async function damageInstance(dataDir: string, instanceId: string): Promise<void> {
  const store = openLocalStore({ folder: dataDir });
  const [item] = await store.get([{ pk: `default#I#${instanceId}`, sk: "S" }]);
  if (item === undefined) throw new Error(`There is no instance ${instanceId}.`);
  const put = { ...item, body: item.body.slice(0, 20) };
  await store.commit([{ put, when: { version: item.version } }]);
  await store.close();
}
