import { describe, expect, test } from "vitest";
import { locate, type Resolve } from "../../../../lib/adapters/node/http/target.ts";
import { parseHostRules } from "../../../../lib/ports/host-rules.ts";

const answering =
  (...addresses: readonly string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

const PUBLIC = answering("93.184.216.34");

type Lists = Readonly<{ allowHosts?: readonly string[]; allowPrivate?: readonly string[] }>;

const located = (url: string, lists: Lists = {}, resolve: Resolve = PUBLIC) =>
  locate(
    new URL(url),
    {
      ...(lists.allowHosts && { allowHosts: parseHostRules(lists.allowHosts).rules }),
      allowPrivate: parseHostRules(lists.allowPrivate ?? []).rules,
    },
    resolve,
  );

describe("a call", () => {
  test.each([
    "https://example.com/",
    "https://EXAMPLE.com/",
    "https://example.com./",
    "https://bücher.example/",
    "https://example.com:443/",
    "https://93.184.216.34/",
    "https://[2606:4700:4700::1111]/",
  ])("may go to a public address: %s", async (url) => {
    expect((await located(url)).kind).toBe("located");
  });

  test("goes to the checked addresses, with the name without its trailing dot", async () => {
    const resolve = answering("93.184.216.34", "2606:4700:4700::1111");

    expect(await located("https://Example.com./", {}, resolve)).toEqual({
      kind: "located",
      host: "example.com",
      addresses: [
        { address: "93.184.216.34", family: 4 },
        { address: "2606:4700:4700::1111", family: 6 },
      ],
    });
  });

  test.each([
    ["loopback", "https://127.0.0.1/"],
    ["loopback in decimal", "https://2130706433/"],
    ["loopback in hex", "https://0x7f000001/"],
    ["loopback in octal", "https://0177.0.0.1/"],
    ["loopback in short", "https://127.1/"],
    ["loopback in full-width digits", "https://１２７.0.0.1/"],
    ["loopback with a dot", "https://127.0.0.1./"],
    ["loopback in percent signs", "https://%31%32%37.0.0.1/"],
    ["unspecified", "https://0/"],
    ["unspecified", "https://0.0.0.0/"],
    ["private", "https://10.0.0.1/"],
    ["private in hex", "https://0xa.0.0.1/"],
    ["private", "https://172.16.0.1/"],
    ["private", "https://192.168.1.1/"],
    ["private in short", "https://192.168.257/"],
    ["shared", "https://100.64.0.1/"],
    ["metadata", "https://169.254.169.254/latest/meta-data/"],
    ["metadata in decimal", "https://2852039166/"],
    ["metadata in octal", "https://0251.0376.0251.0376/"],
    ["container credentials", "https://169.254.170.2/"],
    ["multicast", "https://224.0.0.1/"],
    ["broadcast", "https://255.255.255.255/"],
    ["loopback by IPv6", "https://[::1]/"],
    ["unspecified by IPv6", "https://[::]/"],
    ["unique-local", "https://[fd00::1]/"],
    ["metadata by IPv6", "https://[fd00:ec2::254]/"],
    ["link-local", "https://[fe80::1]/"],
    ["mapped", "https://[::ffff:127.0.0.1]/"],
    ["mapped metadata", "https://[::ffff:169.254.169.254]/"],
    ["compatible", "https://[::127.0.0.1]/"],
    ["NAT64", "https://[64:ff9b::169.254.169.254]/"],
    ["6to4", "https://[2002:7f00:1::]/"],
    ["Teredo", "https://[2001:0:7f00:1::1]/"],
  ])("may not go to a non-public address: %s, %s", async (_, url) => {
    const outcome = await located(url, {}, () => Promise.reject(new Error("nobody asks")));

    expect(outcome).toMatchObject({ kind: "refused" });
    expect(outcome).toHaveProperty("problem", expect.stringMatching(/not public/));
  });

  test.each([
    ["127.0.0.1"],
    ["10.1.2.3"],
    ["169.254.169.254"],
    ["100.100.100.200"],
    ["::1"],
    ["fd00:ec2::254"],
    ["fe80::1%eth0"],
    ["::ffff:10.0.0.1"],
    ["64:ff9b::a00:1"],
  ])("may not go to a name that resolves to %s, alone or among others", async (address) => {
    const alone = await located("https://rebound.example/", {}, answering(address));
    const last = await located(
      "https://rebound.example/",
      { allowHosts: ["rebound.example"] },
      answering("93.184.216.34", address),
    );

    expect([alone.kind, last.kind]).toEqual(["refused", "refused"]);
  });

  test.each([
    ["http", "http://example.com/", /only https/],
    ["another port", "https://example.com:8443/", /only port 443/],
    ["another scheme", "ftp://example.com/", /only https and http/],
    ["a file", "file:///etc/passwd", /only https and http/],
    ["a user", "https://user@example.com/", /user or a password/],
    ["a password", "https://:pa55word@example.com/", /user or a password/],
    ["an empty label", "https://example..com/", /no whole name/],
    ["two dots at the end", "https://example.com../", /no whole name/],
  ])("may not go to a public host by %s", async (_, url, problem) => {
    const outcome = await located(url);

    expect(outcome.kind).toBe("refused");
    expect(outcome).toHaveProperty("problem", expect.stringMatching(problem));
    expect(JSON.stringify(outcome)).not.toContain("pa55word");
  });

  test("is restricted to the allowed hosts", async () => {
    const lists = { allowHosts: ["api.example.com", "http://legacy.example.com:8080"] };

    expect((await located("https://api.example.com/", lists)).kind).toBe("located");
    expect((await located("http://legacy.example.com:8080/", lists)).kind).toBe("located");
    expect((await located("https://other.example.com/", lists)).kind).toBe("refused");
    expect((await located("https://93.184.216.34/", lists)).kind).toBe("refused");
    expect((await located("http://api.example.com/", lists)).kind).toBe("refused");
    expect((await located("https://example.com/", { allowHosts: [] })).kind).toBe("refused");
  });

  test("reaches only the private hosts that are listed", async () => {
    const lists = { allowPrivate: ["crm.internal", "http://127.0.0.1:8080"] };
    const inside = answering("10.0.0.7");

    expect((await located("https://crm.internal/", lists, inside)).kind).toBe("located");
    expect((await located("http://127.0.0.1:8080/", lists)).kind).toBe("located");
    expect((await located("http://127.0.0.1:8081/", lists)).kind).toBe("refused");
    expect((await located("https://other.internal/", lists, inside)).kind).toBe("refused");
    expect((await located("https://example.com/", lists)).kind).toBe("located");
  });

  test("reaches metadata services only if their address is listed", async () => {
    const metadata = answering("169.254.169.254");
    const byName = { allowPrivate: ["http://metadata.internal"] };
    const byAddress = { allowPrivate: ["http://169.254.169.254"] };

    expect((await located("http://metadata.internal/", byName, metadata)).kind).toBe("refused");
    expect((await located("http://169.254.169.254/", byAddress)).kind).toBe("located");
  });

  test("fails when the name does not resolve", async () => {
    const gone = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });

    expect(await located("https://gone.example/", {}, () => Promise.reject(gone))).toEqual({
      kind: "failed",
      problem: "The name gone.example could not be resolved (ENOTFOUND).",
    });
    expect(await located("https://gone.example/", {}, answering())).toEqual({
      kind: "failed",
      problem: "The name gone.example has no address.",
    });
  });

  test.each(["https://[fe80::1%25eth0]/", "https://[::1%lo]/"])(
    "cannot have an address with a zone: %s",
    (url) => {
      expect(URL.canParse(url)).toBe(false);
    },
  );
});
