/**
 * Verifies a signature as a service does: from the bytes of the request alone, written from the
 * published description of Signature Version 4 and independent of the signer.
 */
import { createHash, createHmac } from "node:crypto";

/** A request as it arrived: the target as in the request line. */
export type Arrived = Readonly<{
  method: string;
  target: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}>;

/** The content of a valid signature; undefined if it is invalid. */
export function verifySignature(
  request: Arrived,
  secretOf: (accessKeyId: string) => string | undefined,
): Readonly<{ accessKeyId: string; region: string; service: string; at: string }> | undefined {
  const { authorization = "", "x-amz-date": at = "" } = request.headers;
  const [, credential = "", signedHeaders = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  const [accessKeyId = "", day = "", region = "", service = ""] = credential.split("/");
  const secret = secretOf(accessKeyId);
  if (secret === undefined || !at.startsWith(day)) return undefined;
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", at, scope, sha256(canonical(request, signedHeaders))];
  const key = [day, region, service, "aws4_request"].reduce(
    (parent: string | Buffer, part) => hmac(parent, part),
    `AWS4${secret}`,
  );
  const isGood = hmac(key, toSign.join("\n")).toString("hex") === signature;
  return isGood ? { accessKeyId, region, service, at } : undefined;
}

function canonical({ method, target, headers, body }: Arrived, signedHeaders: string): string {
  const [path = "", query = ""] = target.split("?");
  return [
    method,
    // Every byte of the path that is on the wire is encoded once more, escapes included.
    path.split("/").map(encode).join("/"),
    query.split("&").filter(Boolean).map(canonicalPair).sort().join("&"),
    ...signedHeaders.split(";").map((name) => `${name}:${headers[name]?.trim()}`),
    "",
    signedHeaders,
    sha256(body),
  ].join("\n");
}

function canonicalPair(pair: string): string {
  const [name = "", value = ""] = pair.split("=");
  return `${encode(decodeURIComponent(name))}=${encode(decodeURIComponent(value))}`;
}

function encode(text: string): string {
  return [...new TextEncoder().encode(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9\-._~]/.test(character)) return character;
      return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

const sha256 = (data: string | Uint8Array): string =>
  createHash("sha256").update(data).digest("hex");

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();
