/**
 * What kind of place an IP address is. Only what is known to be public counts as public: of IPv6
 * the global unicast block without its special parts. An address that carries an IPv4 address
 * inside, as mapped and NAT64 ones do, is judged by that one; old tunnels (6to4, Teredo,
 * compatible) are refused whatever they carry, because they are obsolete and easily overlooked.
 */
import { isIPv4, isIPv6 } from "node:net";

/**
 * Guarded are metadata services and link-local addresses, which give credentials to any local
 * caller.
 */
export type AddressKind = "public" | "private" | "guarded";

/** The kind of an address in its usual text, as resolvers and URLs write it. */
export function kindOf(address: string): AddressKind {
  if (isIPv4(address)) return kindOfV4(octetsOf(address));
  // An address with a zone is link-local.
  if (!isIPv6(address) || address.includes("%")) return "guarded";
  return kindOfV6(groupsOf(address));
}

type V4 = readonly [number, number, number, number];

const SPECIAL_V4: readonly (readonly [block: string, bits: number, kind: AddressKind])[] = [
  ["0.0.0.0", 8, "private"], // this host
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "private"], // shared by carriers; some clouds' metadata
  ["127.0.0.0", 8, "private"], // loopback
  ["169.254.0.0", 16, "guarded"], // link-local: instance metadata, container credentials
  ["168.63.129.16", 32, "guarded"], // Azure's own, though it looks public
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "guarded"], // protocol assignments, some clouds' metadata
  ["192.0.2.0", 24, "private"], // documentation
  ["192.88.99.0", 24, "private"], // 6to4 relays
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "private"], // benchmarks
  ["198.51.100.0", 24, "private"], // documentation
  ["203.0.113.0", 24, "private"], // documentation
  ["224.0.0.0", 4, "private"], // multicast
  ["240.0.0.0", 4, "private"], // reserved, and broadcast
];

function kindOfV4(octets: V4): AddressKind {
  const number = numberOf(octets);
  const special = SPECIAL_V4.find(([block, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(number / size) === Math.floor(numberOf(octetsOf(block)) / size);
  });
  return special?.[2] ?? "public";
}

function octetsOf(text: string): V4 {
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
  return [a, b, c, d];
}

const numberOf = ([a, b, c, d]: V4): number => ((a * 256 + b) * 256 + c) * 256 + d;

/** Eight groups of sixteen bits. */
type V6 = readonly number[];

function kindOfV6(groups: V6): AddressKind {
  const [a = 0, b = 0, , , e = 0, f = 0] = groups;
  const carried = carriedV4(groups);
  if (carried !== undefined) return kindOfV4(carried);
  if ((a & 0xffc0) === 0xfe80) return "guarded"; // link-local
  if (a === 0xfd00 && b === 0x0ec2) return "guarded"; // metadata of EC2
  if (a === 0xfd20 && b === 0x00ce) return "guarded"; // metadata of Google Cloud
  if ((a & 0xe000) !== 0x2000) return "private"; // not global unicast: loopback, unique-local, multicast, …
  if (a === 0x2001 && b < 0x0200) return "private"; // protocol assignments: Teredo, ORCHID, …
  if (a === 0x2001 && b === 0x0db8) return "private"; // documentation
  if (a === 0x2002) return "private"; // 6to4
  if (a === 0x3fff && b < 0x1000) return "private"; // documentation
  // ISATAP carries any IPv4 address in its last half.
  if ((e & 0xfdff) === 0 && f === 0x5efe) return "private";
  return "public";
}

/** The IPv4 address inside: of mapped ones, and of those that NAT64 translates. */
function carriedV4(groups: V6): V4 | undefined {
  const [a, b, c, d, e, f, g = 0, h = 0] = groups;
  const isMapped = [a, b, c, d, e].every((group) => group === 0) && f === 0xffff;
  const isTranslated = a === 0x64 && b === 0xff9b && [c, d, e, f].every((group) => group === 0);
  return isMapped || isTranslated ? [g >> 8, g & 0xff, h >> 8, h & 0xff] : undefined;
}

function groupsOf(text: string): V6 {
  const [head = "", tail] = withoutDots(text).split("::");
  const before = groups(head);
  if (tail === undefined) return before;
  const after = groups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

const groups = (text: string): readonly number[] =>
  text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));

/** The last 32 bits may be written as an IPv4 address. */
function withoutDots(text: string): string {
  const dotted = /[\d.]+$/.exec(text)?.[0] ?? "";
  if (!isIPv4(dotted)) return text;
  const [a, b, c, d] = octetsOf(dotted);
  const hex = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(":");
  return `${text.slice(0, -dotted.length)}${hex}`;
}
