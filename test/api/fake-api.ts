import type { ApiExtras, ApiSettings } from "../../lib/api/operation.ts";
import { createApi } from "../../lib/api/router.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { type CheckedApi, checkedApi } from "../support/api-client.ts";
import { type Asked, fakeEngine } from "../support/fake-engine.ts";

/** The router with canned responses; every response is validated against the served document. */
export async function fakeApi(
  options: Readonly<{
    engine?: Partial<Engine>;
    extras?: ApiExtras;
    settings?: Partial<ApiSettings>;
  }> = {},
): Promise<Readonly<{ api: CheckedApi; asked: readonly Asked[] }>> {
  const { engine, asked } = fakeEngine(options.engine);
  const send = createApi({
    engine,
    ...(options.extras !== undefined && { extras: options.extras }),
    settings: { version: "1.2.3", ...options.settings },
  });
  return { api: await checkedApi(send), asked };
}
