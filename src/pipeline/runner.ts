import { type Intake, isStoreUnavailable, type Principal, storeUnavailable } from "../kit/index.ts";
import { exchangeOf } from "./held.ts";
import { rateLimitHeaders } from "./headers.ts";
import { currentWindows, identify, readExchange, tierOf } from "./intake.ts";
import { Run, type RunParts } from "./run.ts";

/** How often a request is identified afresh while its user's account is being changed. */
const IDENTIFICATIONS = 5;

/** Takes one request from credentials to the last byte of its answer. Never rejects: every failure is answered. */
export function createRunner(parts: RunParts): (intake: Intake) => Promise<void> {
  return async (intake) => {
    const { pipeline, host, observer } = parts;
    let principal: Principal | null = null;
    try {
      principal = await identify(pipeline, intake.request, observer);
      let { exchange, held } = await readExchange(intake, principal, host);
      for (let left = IDENTIFICATIONS; !(await new Run(parts, intake, exchange, held).serve()); left--) {
        if (left === 0) throw storeUnavailable(new Error("the caller's account changes faster than it can be read"));
        host.identities.forget(principal);
        principal = null;
        principal = await identify(pipeline, intake.request, observer);
        exchange = exchangeOf({ ...exchange, principal, tier: tierOf(principal, host) }, held);
      }
    } catch (error) {
      // A store that is away would keep the refusal waiting for a second time.
      const windows =
        principal === null || isStoreUnavailable(error) ? null : await currentWindows(pipeline, principal, host);
      observer.refused(intake.request, error, intake.receivedAt);
      intake.client.refuse(error, rateLimitHeaders(windows, host.now()));
    }
  };
}
