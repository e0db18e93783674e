import { describe, expect, test } from "vitest";
import type { Secrets } from "../../lib/ports/secrets.ts";

/** Opens secrets that hold exactly these, by name. */
export type OpenSecrets = (texts: Readonly<Record<string, string>>) => Promise<Secrets>;

/** What every adapter of the Secrets port promises. */
export function secretsContract(name: string, open: OpenSecrets): void {
  describe(name, () => {
    test("return a text as it was stored", async () => {
      const text = 'odd "text" with\nlines, ümlauts and = signs ';
      const secrets = await open({ API_KEY: text, Other_2: "another one" });

      expect(await secrets.valueOf("API_KEY")).toBe(text);
      expect(await secrets.valueOf("Other_2")).toBe("another one");
    });

    test("return the same text again", async () => {
      const secrets = await open({ API_KEY: "the same text" });
      const both = await Promise.all([secrets.valueOf("API_KEY"), secrets.valueOf("API_KEY")]);

      expect([...both, await secrets.valueOf("API_KEY")]).toEqual(
        Array.from({ length: 3 }, () => "the same text"),
      );
    });

    test.each(["MISSING", "toString", "__proto__", "api_key"])(
      "have no value for another name: %s",
      async (other) => {
        const secrets = await open({ API_KEY: "the text" });

        expect(await secrets.valueOf(other)).toBeUndefined();
      },
    );
  });
}
