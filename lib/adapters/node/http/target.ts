/**
 * Whether a call may go to a URL, and to which addresses.
 *
 * 1. A name is resolved once, and the connection goes to one of these addresses: DNS rebinding has
 *    no effect.
 * 2. Every resolved address has to be allowed, not only the first.
 * 3. Public hosts are reached by https on its own port, unless a rule says otherwise.
 * 4. A host at a private address is reached only where a rule names it, and a metadata service only
 *    where a rule names its address.
 */
import { isIP } from "node:net";
import { type HostRule, hostOf, isNamed } from "../../../ports/host-rules.ts";
import { kindOf } from "./addresses.ts";

/** Which hosts this installation may call. */
export type Reach = Readonly<{
  /** Only these; every public host by default. */
  allowHosts?: readonly HostRule[];
  /** These too, at any address. */
  allowPrivate: readonly HostRule[];
}>;

export type Address = Readonly<{ address: string; family: number }>;

/** All addresses of a name; rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

export type Located = Readonly<
  | { kind: "located"; host: string; addresses: readonly Address[] }
  | { kind: "refused"; problem: string }
  | { kind: "failed"; problem: string }
>;

/** Resolves a URL to addresses, if a call may go there. */
export async function locate(url: URL, reach: Reach, resolve: Resolve): Promise<Located> {
  const host = hostOf(url).replace(/^\[(.*)\]$/, "$1");
  const problem = problemWithUrl(url, host) ?? problemWithHost(url, reach);
  if (problem !== undefined) return refuse(url, problem);
  const found = await addressesOf(host, resolve);
  if (found.kind === "failed") return found;
  const isForbidden = found.addresses.some(({ address }) => !isAllowed(address, url, host, reach));
  if (isForbidden) return refuse(url, NOT_PUBLIC);
  return { kind: "located", host, addresses: found.addresses };
}

/** A URL for messages: without user and query, which may hold private data. */
export function shown({ protocol, host, pathname }: URL): string {
  const text = `${protocol}//${host}${pathname}`;
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

const LONGEST_SHOWN = 200;

const NOT_PUBLIC =
  "it stands at an address that is not public. If it is meant to be called, name it in allowPrivate; metadata services by their address.";

function refuse(url: URL, why: string): Located {
  return { kind: "refused", problem: `A call to ${shown(url)} is not allowed: ${why}` };
}

function problemWithUrl({ protocol, username, password }: URL, host: string): string | undefined {
  if (protocol !== "https:" && protocol !== "http:") return "only https and http are spoken.";
  if (username !== "" || password !== "") {
    return "a user or a password stands in the URL. Use an Authorization header with a secret.";
  }
  const isName = isIP(host) === 0;
  if (isName && host.split(".").includes("")) return "its host is no whole name.";
  return undefined;
}

function problemWithHost(url: URL, { allowHosts, allowPrivate }: Reach): string | undefined {
  if (isNamed(allowPrivate, url)) return undefined;
  if (allowHosts !== undefined) {
    return isNamed(allowHosts, url)
      ? undefined
      : "it is none of allowHosts. Scheme, host and port have to fit.";
  }
  if (url.protocol !== "https:") return "only https is, unless allowHosts names http://… itself.";
  return url.port === "" ? undefined : "only port 443 is, unless allowHosts names host and port.";
}

async function addressesOf(
  host: string,
  resolve: Resolve,
): Promise<Exclude<Located, { kind: "refused" }>> {
  const family = isIP(host);
  if (family !== 0) return { kind: "located", host, addresses: [{ address: host, family }] };
  try {
    const addresses = await resolve(host);
    if (addresses.length > 0) return { kind: "located", host, addresses };
    return { kind: "failed", problem: `The name ${host} has no address.` };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    return { kind: "failed", problem: `The name ${host} could not be resolved${code}.` };
  }
}

function isAllowed(address: string, url: URL, host: string, { allowPrivate }: Reach): boolean {
  switch (kindOf(address)) {
    case "public":
      return true;
    case "private":
      return isNamed(allowPrivate, url);
    case "guarded":
      return isIP(host) !== 0 && isNamed(allowPrivate, url);
  }
}
