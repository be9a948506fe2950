import { GatewayError } from "#kit";
import type { AuthOptions } from "#schema";
import { type BuiltinHost, defineBuiltin } from "../src/kit/builtin.ts";

/** Says who is calling. An API key serves; an access token proves an account, but gives no right to inference. */
export default defineBuiltin<AuthOptions, "identify">({
  name: "auth",
  stage: "identify",
  schema: new URL("../schemas/plugins/auth.schema.json", import.meta.url),
  setup(_options, { identities }) {
    return {
      async identify({ credentials }) {
        if (credentials.kind === "none") return null;
        if (credentials.kind === "token") return refuseToken(identities, credentials.value);
        const principal = await identities.presume(credentials.value);
        if (principal === null) throw new GatewayError("AUTHENTICATION_ERROR", "Invalid API key");
        return principal;
      },
    };
  },
});

async function refuseToken(identities: BuiltinHost<"identify">["identities"], token: string): Promise<never> {
  if ((await identities.byToken(token)) === null) throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
  throw new GatewayError("AUTHENTICATION_ERROR", "Authentication failed");
}
