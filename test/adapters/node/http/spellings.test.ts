import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kindOf } from "../../../../lib/adapters/node/http/addresses.ts";
import { locate } from "../../../../lib/adapters/node/http/target.ts";

const octet = fc.integer({ min: 0, max: 255 });
const anAddress = fc.tuple(octet, octet, octet, octet);

type Octets = readonly [number, number, number, number];

const hex = (value: number): string => `0x${value.toString(16)}`;
const octal = (value: number): string => `0${value.toString(8)}`;

/** Ways to write an IPv4 address that a URL accepts. */
function spellings([a, b, c, d]: Octets): readonly string[] {
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  return [
    `${a}.${b}.${c}.${d}`,
    `${a}.${b}.${c}.${d}.`,
    String(number),
    hex(number),
    octal(number),
    [a, b, c, d].map(hex).join("."),
    [a, b, c, d].map(octal).join("."),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${hex(a)}.${octal(b)}.${c}.${d}`,
  ];
}

/** Ways to embed it in IPv6 that are judged by the embedded address. */
function carriers([a, b, c, d]: Octets): readonly string[] {
  const low = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  return [
    `::ffff:${a}.${b}.${c}.${d}`,
    `::ffff:${low}`,
    `0:0:0:0:0:FFFF:${low}`,
    `64:ff9b::${low}`,
    `64:ff9b::${a}.${b}.${c}.${d}`,
  ];
}

const may = async (host: string): Promise<boolean> => {
  const url = new URL(`https://${host}/`);
  const located = await locate(url, { allowPrivate: [] }, () => Promise.reject(new Error("asked")));
  return located.kind === "located";
};

describe("an address", () => {
  test("is judged the same however it is spelled or embedded", async () => {
    await fc.assert(
      fc.asyncProperty(anAddress, async (octets) => {
        const isPublic = kindOf(octets.join(".")) === "public";
        const hosts = [...spellings(octets), ...carriers(octets).map((text) => `[${text}]`)];

        for (const host of hosts) expect([host, await may(host)]).toEqual([host, isPublic]);
      }),
      { numRuns: 300 },
    );
  });

  test("inside a non-public block is never allowed", async () => {
    const first = fc.constantFrom(0, 10, 127, 224, 239, 240, 255);
    await fc.assert(
      fc.asyncProperty(first, octet, octet, octet, async (a, b, c, d) => {
        for (const host of spellings([a, b, c, d])) {
          expect([host, await may(host)]).toEqual([host, false]);
        }
      }),
      { numRuns: 200 },
    );
  });
});
