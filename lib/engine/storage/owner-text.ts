/** Invocations are mostly called by UUIDs, which take 36 characters and need 22 of base 64. */

/** The id of an owner as it is stored. */
export function packOwner(own: string): string {
  if (UUID.test(own)) {
    return `~${Buffer.from(own.replaceAll("-", ""), "hex").toString("base64url")}`;
  }
  return own.startsWith("~") ? `~~${own.slice(1)}` : own;
}

export function parseOwner(text: string): string {
  if (text.startsWith("~~")) return text.slice(1);
  if (!text.startsWith("~")) return text;
  const hex = Buffer.from(text.slice(1), "base64url").toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
