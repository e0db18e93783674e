import { openLocalStore } from "../../lib/adapters/local/store.ts";

/** Cuts off the stored bytes of an instance in a data folder that nobody has open. */
export const damageInstance = (dataDir: string, instanceId: string): Promise<void> =>
  damageItem(dataDir, `default#I#${instanceId}`);

/** Changes the stored bytes of the first item of a partition there. */
export async function damageItem(
  dataDir: string,
  pk: string,
  change: (body: Uint8Array) => Uint8Array = (body) => body.slice(0, 20),
): Promise<void> {
  const store = openLocalStore({ folder: dataDir });
  const [item] = (await store.scan(pk, { limit: 1 })).items;
  if (item === undefined) throw new Error(`There is nothing in ${pk}.`);
  const put = { ...item, body: change(item.body) };
  await store.commit([{ put, when: { version: item.version } }]);
  await store.close();
}
