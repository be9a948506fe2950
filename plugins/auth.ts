import { definePlugin, GatewayError } from "#kit";
import type { AuthOptions } from "#schema";

/** Says who is calling: an API key serves, an access token proves an account but no right to inference. */
export default definePlugin<AuthOptions>({
  name: "auth",
  stage: "identify",
  schema: new URL("../schemas/plugins/auth.schema.json", import.meta.url),
  setup(_options, { identities }) {
    return {
      async identify({ credentials }) {
        if (credentials.kind === "none") return null;
        if (credentials.kind === "key") {
          const principal = await identities.presume(credentials.value);
          if (principal === null) throw new GatewayError("AUTHENTICATION_ERROR", "Invalid API key");
          return principal;
        }
        if ((await identities.byToken(credentials.value)) === null) {
          throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
        }
        throw new GatewayError("AUTHENTICATION_ERROR", "Authentication failed");
      },
    };
  },
});
