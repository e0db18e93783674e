/** A block of code on a page: the words after its fence, and its lines. */
export type PageBlock = Readonly<{ info: string; text: string }>;

/** The blocks of a page, in their order. */
export function blocksOf(page: string): readonly PageBlock[] {
  return [...page.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(([, info = "", text = ""]) => ({
    info,
    text,
  }));
}

/** A pattern for each line of output on a page; `…` matches any text. */
export function patternsOf(shown: string): readonly RegExp[] {
  const lines = shown.split("\n").filter((line) => line !== "");
  return lines.map((line) => new RegExp(`^${line.split("…").map(literally).join(".*")}$`, "m"));
}

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
