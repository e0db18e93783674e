import type { Json } from "../../../definition/json.ts";

/** Values of secrets that must not be visible, by name. */
export type Masked = ReadonlyMap<string, string>;

/** Masks secrets in responses and errors: services echo requests, and errors quote them. */
export type Mask = Readonly<{
  text(text: string): string;
  bytes(bytes: Uint8Array): Uint8Array;
  value(value: Json): Json;
}>;

/** A mask for these secrets, as they are and as they are usually encoded. */
export function maskFor(secrets: Masked): Mask {
  const hidden = [...secrets]
    .flatMap(([name, value]) => formsOf(value).map((form) => ({ form, shown: `[secret ${name}]` })))
    // The longest first: a secret may hold another one.
    .sort((a, b) => b.form.length - a.form.length);
  const text = (given: string): string =>
    hidden.reduce((clear, { form, shown }) => clear.replaceAll(form, () => shown), given);
  return {
    text,
    // Bytes as characters of the same number, and the secrets in the same way.
    bytes: (given) => {
      if (hidden.length === 0) return given;
      const clear = hidden.reduce(
        (rest, { form, shown }) =>
          rest.replaceAll(Buffer.from(form).toString("latin1"), () => shown),
        Buffer.from(given).toString("latin1"),
      );
      return Buffer.from(clear, "latin1");
    },
    value: (given) => (hidden.length === 0 ? given : valueWith(given, text)),
  };
}

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const form = new URLSearchParams([["", secret]]).toString().slice(1);
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      form,
      bytes.toString("base64").replace(/=+$/, ""),
      bytes.toString("base64url"),
    ]),
  ];
}

function valueWith(value: Json, text: (given: string) => string): Json {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") {
    const written = String(value);
    return text(written) === written ? value : text(written);
  }
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => valueWith(item, text));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [text(name), valueWith(inner, text)]),
  );
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
