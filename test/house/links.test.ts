import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const house = resolve(import.meta.dirname, "../..");
const Manifest = z.object({ scripts: z.record(z.string(), z.string()) });

describe("the pages", () => {
  const pages = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], {
    cwd: house,
    encoding: "utf8",
  })
    .split("\n")
    .filter((page) => page !== "" && existsSync(join(house, page)));
  const { scripts } = Manifest.parse(JSON.parse(readFileSync(join(house, "package.json"), "utf8")));

  test("exist", () => {
    expect(pages).toContain("README.md");
    expect(pages).toContain("docs/reference/errors.md");
  });

  for (const page of pages) {
    const text = readFileSync(join(house, page), "utf8");

    test(`link to files and headings that exist: ${page}`, () => {
      expect(linksOf(text).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
    });

    test(`name scripts that exist: ${page}`, () => {
      expect(scriptsIn(text).filter((name) => !(name in scripts))).toEqual([]);
    });
  }
});

describe("the check of pages", () => {
  test("finds links, of both kinds, but none in code", () => {
    const text = [
      'See [one](a.md), ![two](b.png "title") and [three](<c d.md>).',
      "[four]: ../d.md#part",
      "`[not](e.md)` and [elsewhere](https://example.com)",
      "```md\n[nor](f.md)\n```",
    ].join("\n");

    expect(linksOf(text)).toEqual(["a.md", "b.png", "c d.md", "../d.md#part"]);
  });

  test("finds scripts, in code too", () => {
    expect(scriptsIn("`npm run test:durable`\n```sh\nnpm run -s bench -- x\n```")).toEqual([
      "test:durable",
      "bench",
    ]);
  });

  test("refuses a file and a heading that are not there", () => {
    expect(leadsSomewhere("README.md", "docs/reference/errors.md")).toBe(true);
    expect(leadsSomewhere("README.md", "docs/reference/errors.md#enginebusy")).toBe(true);
    expect(leadsSomewhere("README.md", "docs/reference/errors.md#nowhere")).toBe(false);
    expect(leadsSomewhere("README.md", "docs/nowhere.md")).toBe(false);
    expect(leadsSomewhere("docs/reference/errors.md", "../../README.md")).toBe(true);
  });
});

/** Relative targets of a page's links, in the order of their kinds. */
function linksOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const inline = [...prose.matchAll(/\]\((?:<([^>]+)>|([^)\s]+))[^)]*\)/g)];
  const named = [...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  return [
    ...inline.map(([, angled, plain]) => angled ?? plain ?? ""),
    ...named.map(([, to]) => to ?? ""),
  ].filter((link) => !/^[a-z][a-z+.-]*:/i.test(link));
}

function scriptsIn(text: string): readonly string[] {
  return [...text.matchAll(/\bnpm run (?:-\S+ )*([\w:-]*\w)/g)].map(([, name]) => name ?? "");
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? join(house, page) : join(house, dirname(page), decodeURI(path));
  if (!existsSync(target)) return false;
  if (heading === undefined || statSync(target).isDirectory()) return heading === undefined;
  return headingsOf(readFileSync(target, "utf8")).includes(heading);
}

/** The anchors that code hosts make of a page's headings. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ +(.+?)\s*#*$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
