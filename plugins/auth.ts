import { GatewayError, isPromise, type Principal } from "#kit";
import type { AuthOptions } from "#schema";
import { type BuiltinHost, defineBuiltin } from "../src/kit/builtin.ts";

/** Says who is calling. An API key serves; an access token proves an account, but gives no right to inference. */
export default defineBuiltin<AuthOptions, "identify">({
  name: "auth",
  stage: "identify",
  schema: new URL("../schemas/plugins/auth.schema.json", import.meta.url),
  setup(_options, { identities }) {
    return {
      identify({ credentials }) {
        if (credentials.kind === "none") return null;
        if (credentials.kind === "token") return refuseToken(identities, credentials.value);
        const principal = identities.presume(credentials.value);
        // A key that is remembered needs no waiting.
        return isPromise(principal) ? principal.then(known) : known(principal);
      },
    };
  },
});

function known(principal: Principal | null): Principal {
  if (principal === null) throw new GatewayError("AUTHENTICATION_ERROR", "Invalid API key");
  return principal;
}

async function refuseToken(identities: BuiltinHost<"identify">["identities"], token: string): Promise<never> {
  if ((await identities.byToken(token)) === null) throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
  throw new GatewayError("AUTHENTICATION_ERROR", "Authentication failed");
}
