/** Which of so many shards a name belongs to: always the same one, and never one past the number. */
export function shardFor(name: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % shards;
}
