import type { ApiRequest } from "./http.ts";
import { refuse } from "./refuse.ts";

/** Throws unless the request carries the required token. */
export function authorize(token: string, { headers }: Pick<ApiRequest, "headers">): void {
  const sent = /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (sent !== undefined && isSame(sent, token)) return;
  throw refuse(
    "request/unauthorized",
    sent === undefined
      ? "The call carries no bearer token"
      : "The bearer token is not the right one",
    "header authorization",
    "Send `Authorization: Bearer …` with the token that the server was started with.",
  );
}

/** Compares in constant time, so that timing reveals nothing about the token. */
function isSame(sent: string, token: string): boolean {
  let difference = sent.length ^ token.length;
  for (let n = 0; n < sent.length; n++) {
    difference |= sent.charCodeAt(n) ^ token.charCodeAt(n % token.length);
  }
  return difference === 0;
}
