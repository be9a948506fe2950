import type { Limits, Principal, WindowState } from "../../kit/index.ts";
import { jsonResponse, type Route, type Visit } from "../app.ts";
import { callerOf } from "./caller.ts";
import type { RouteParts } from "./parts.ts";

/** A plan that the configuration no longer has allows nothing. */
const NOTHING: Limits = { day: 0, hour: 0, minute: 0, streams: 0 };

/** A user's own counters and streams; all keys of a user share them. */
export function usageRoutes({ snapshot, store, identities, kill }: RouteParts): readonly Route[] {
  const counters = async (visit: Visit) => {
    const { userId, tier }: Principal = await callerOf(visit, identities);
    const windows = await store.windows(userId, snapshot().tiers[tier]?.limits ?? NOTHING);
    return { tier, day: counter(windows.day), hour: counter(windows.hour), minute: counter(windows.minute) };
  };
  return [
    {
      method: "GET",
      path: "/v1/user/requests",
      secret: true,
      async handle(_event, visit) {
        const { tier, day, hour, minute } = await counters(visit);
        return jsonResponse(200, {
          requests_used_today: day.used,
          requests_limit_today: day.limit,
          requests_remaining: day.remaining,
          requests_used_this_hour: hour.used,
          requests_limit_this_hour: hour.limit,
          requests_remaining_this_hour: hour.remaining,
          requests_used_this_minute: minute.used,
          requests_limit_per_minute: minute.limit,
          requests_remaining_this_minute: minute.remaining,
          plan_tier: tier,
        });
      },
    },
    {
      method: "GET",
      path: "/v1/user/requests/hourly",
      secret: true,
      async handle(_event, visit) {
        const { tier, hour } = await counters(visit);
        return jsonResponse(200, { ...hour, plan_tier: tier });
      },
    },
    {
      method: "POST",
      path: "/v1/user/streams/kill",
      secret: true,
      async handle(_event, visit) {
        const { userId } = await callerOf(visit, identities);
        return jsonResponse(200, { killed_streams: await kill(userId) });
      },
    },
  ];
}

/** Without a limit both limit and remaining are 0, as the specification shows for Lite's hour. */
function counter({ used, limit }: WindowState) {
  return { limit: limit ?? 0, used, remaining: Math.max(0, (limit ?? 0) - used) };
}
