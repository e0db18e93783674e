import { crc32 } from "node:zlib";

/** A zip file with one file in it, stored as it is: what Lambda takes for code. */
export function zipOf(name: string, text: string): Uint8Array {
  const [file, content] = [Buffer.from(name), Buffer.from(text)];
  // Version, flags, method, time and date (1980-01-01), checksum, sizes, lengths of name and rest.
  const about = Buffer.alloc(26);
  about.writeUInt16LE(20, 0);
  about.writeUInt16LE(33, 8);
  about.writeUInt32LE(crc32(content), 10);
  about.writeUInt32LE(content.length, 14);
  about.writeUInt32LE(content.length, 18);
  about.writeUInt16LE(file.length, 22);
  const local = Buffer.concat([Buffer.from("PK\x03\x04"), about, file, content]);
  const madeBy = Buffer.from([20, 3]);
  const attributes = Buffer.alloc(14);
  attributes.writeUInt32LE((0o100644 << 16) >>> 0, 6);
  const entry = Buffer.concat([Buffer.from("PK\x01\x02"), madeBy, about, attributes, file]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(entry.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, entry, Buffer.from("PK\x05\x06"), end]);
}
