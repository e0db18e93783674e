/** The memory of a machine, without the parts of it that are empty: those are most of it. */
export type MemoryImage = Readonly<{
  byteLength: number;
  /** In order; all bytes between them are zero. */
  parts: readonly Readonly<{ at: number; bytes: Uint8Array }>[];
}>;

/** What the operating system gives memory out in. */
const BLOCK_BYTES = 4_096;

/** Copies what there is in a memory. */
export function imageOf(memory: Uint8Array): MemoryImage {
  const parts: { at: number; bytes: Uint8Array }[] = [];
  for (let at = 0; at < memory.byteLength; ) {
    const end = endOfUsed(memory, at);
    if (end > at) parts.push({ at, bytes: memory.slice(at, end) });
    at = end + BLOCK_BYTES;
  }
  return { byteLength: memory.byteLength, parts };
}

/** Where the blocks end that are in use from here on. */
function endOfUsed(memory: Uint8Array, from: number): number {
  let end = from;
  while (end < memory.byteLength && !isEmpty(memory, end)) end += BLOCK_BYTES;
  return end;
}

function isEmpty(memory: Uint8Array, at: number): boolean {
  return new BigUint64Array(memory.buffer, memory.byteOffset + at, BLOCK_BYTES / 8).every(
    (word) => word === 0n,
  );
}

/**
 * Makes a memory that is large enough what the image shows; `isNew`: only zeros are in it, `from`:
 * nothing was written below that.
 */
export function copyImage(
  { parts }: MemoryImage,
  { memory, isNew, from }: Readonly<{ memory: Uint8Array; isNew: boolean; from: number }>,
): void {
  let end = from;
  for (const { at, bytes } of parts) {
    if (!isNew && at > end) memory.fill(0, end, at);
    memory.set(bytes, at);
    end = at + bytes.byteLength;
  }
  if (!isNew) memory.fill(0, end);
}
