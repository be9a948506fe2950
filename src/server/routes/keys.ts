import { createKey, listKeys, revokeKey } from "../../accounts/api-keys.ts";
import { jsonResponse, requestIdIn, type Route } from "../app.ts";
import { readObject } from "./body.ts";
import { sessionOf } from "./caller.ts";
import type { RouteParts } from "./parts.ts";

/** A user's API keys; for sessions only, never for a key. */
export function keyRoutes({ store, identities, log }: RouteParts): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/v1/user/key",
      secret: true,
      async handle(event, visit) {
        const { userId } = await sessionOf(visit, identities);
        const { name } = await readObject(visit.req);
        const { body } = await createKey(store, { userId, name });
        log.info({ request_id: requestIdIn(event), user: userId, key: body.id }, "API key made");
        return jsonResponse(200, body);
      },
    },
    {
      method: "GET",
      path: "/v1/user/key",
      secret: true,
      async handle(_event, visit) {
        const { userId, tier } = await sessionOf(visit, identities);
        return jsonResponse(200, { data: await listKeys(store, { userId, tier }) });
      },
    },
    {
      method: "DELETE",
      path: "/v1/user/key/:key_id",
      secret: true,
      async handle(event, visit) {
        const { userId } = await sessionOf(visit, identities);
        const keyId = decodeURIComponent(event.context.params?.["key_id"] ?? "");
        await revokeKey(store, { userId, keyId });
        log.info({ request_id: requestIdIn(event), user: userId, key: keyId }, "API key revoked");
        return jsonResponse(200, { message: "API key revoked" });
      },
    },
  ];
}
