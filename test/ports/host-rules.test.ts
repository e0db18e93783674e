import { describe, expect, test } from "vitest";
import { isNamed, parseHostRules } from "../../lib/ports/host-rules.ts";

const names = (rule: string, url: string): boolean =>
  isNamed(parseHostRules([rule]).rules, new URL(url));

describe("a host rule", () => {
  test.each([
    ["api.example.com", "https://api.example.com/orders"],
    ["api.example.com", "https://api.example.com:443/"],
    ["api.example.com", "https://API.Example.COM/"],
    ["API.example.com.", "https://api.example.com/"],
    ["api.example.com", "https://api.example.com./"],
    ["*.example.com", "https://api.example.com/"],
    ["*.example.com", "https://eu.api.example.com/"],
    ["bücher.example", "https://xn--bcher-kva.example/"],
    ["xn--bcher-kva.example", "https://BÜCHER.example/"],
    ["api.example.com:8443", "https://api.example.com:8443/"],
    ["http://localhost:*", "http://localhost:4711/"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"],
    ["http://127.0.0.1:8080", "http://0x7f.1:8080/"],
    ["[::1]:8443", "https://[0:0::1]:8443/"],
    ["HTTP://legacy.example.com", "http://legacy.example.com/"],
  ])("%s matches %s", (rule, url) => {
    expect(names(rule, url)).toBe(true);
  });

  test.each([
    ["api.example.com", "https://example.com/"],
    ["api.example.com", "https://api.example.com.evil.test/"],
    ["api.example.com", "https://evilapi.example.com/"],
    ["api.example.com", "http://api.example.com/"],
    ["api.example.com", "https://api.example.com:8443/"],
    ["api.example.com", "https://api.example.com@evil.test/"],
    ["*.example.com", "https://example.com/"],
    ["*.example.com", "https://badexample.com/"],
    ["*.example.com", "https://example.com.evil.test/"],
    ["http://legacy.example.com", "https://legacy.example.com/"],
    ["http://localhost:8080", "http://localhost/"],
  ])("%s does not match %s", (rule, url) => {
    expect(names(rule, url)).toBe(false);
  });

  test("that is invalid is reported, together with the others", () => {
    const { rules, problems } = parseHostRules([
      "api.example.com",
      "*",
      "https://api.example.com/path",
      "user@api.example.com",
      "ftp://api.example.com",
      "a b",
      "*.127.0.0.1",
      "api.example.com:99999",
      "api.*.com",
      "",
    ]);

    expect(rules).toHaveLength(1);
    expect(problems).toHaveLength(9);
    expect(problems[0]).toBe(
      '"*" names no host; write for example api.example.com, *.example.com or http://localhost:8080.',
    );
  });
});
