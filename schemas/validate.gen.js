// Generated from schemas/*.schema.json by `npm run types`. Do not edit.
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);

export const validate = validate21;
const schema6 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/gateway.source.schema.json","title":"GatewayConfig","description":"gateway.yaml: everything the gateway serves. Any scalar may be a reference: ${env:NAME}, ${env:NAME:-default}, ${file:path}; $$ is a literal $.","type":"object","additionalProperties":false,"required":["version","upstreams"],"if":{"required":["tiers"],"properties":{"tiers":{"type":["object"],"minProperties":1}}},"then":{"patternProperties":{"^models$":{"type":["object"],"patternProperties":{"^route/":{"$comment":"where tiers are defined, every model names one of them","type":["object"],"dependencies":{"kind":["tier"]}}}},"^upstreams$":{"type":["object"],"patternProperties":{"":{"type":["object"],"patternProperties":{"^models$":{"$comment":"where tiers are defined, the models that an upstream publishes belong to one of them","type":["object"],"dependencies":{"include":["tier"]}}}}}}}},"properties":{"version":{"description":"Version of this format. The only one is 1.","const":1},"include":{"description":"More files or globs, relative to this file. Their sections are merged; a name defined twice is an error.","type":"array","items":{"type":"string","minLength":1},"examples":[["models/*.yaml"]]},"server":{"description":"Addresses that the gateway listens on, and how it treats connections.","$ref":"#/definitions/server"},"store":{"description":"Where users, keys, counters and the ledger are kept.","$ref":"#/definitions/store","examples":[{"url":"sqlite:./data/gateway.db"}]},"auth":{"description":"Access tokens, sign-up and the ways to sign in.","$ref":"#/definitions/auth"},"billing":{"description":"Currency, multiplier, and what a request costs that does not end well.","$ref":"#/definitions/billing"},"tiers":{"description":"Plans by name. A user has one plan; it says which models the user may call, and how often. Without it, there is one plan, Open, that may call every model without limits.","type":"object","additionalProperties":false,"minProperties":1,"patternProperties":{"^[A-Za-z][A-Za-z0-9_-]{0,63}$":{"$ref":"#/definitions/tier"}},"examples":[{"Free":{"access":["Free"],"limits":{"day":50,"hour":50,"minute":100,"streams":50}}}],"propertyNames":{"examples":["Free","Premium"]}},"defaults":{"description":"Settings of all upstreams and models that do not set them themselves.","$ref":"#/definitions/defaults"},"upstreams":{"description":"AI providers by name. The chains of models refer to these names.","type":"object","additionalProperties":false,"patternProperties":{"^[A-Za-z][A-Za-z0-9_.-]{0,63}$":{"$ref":"#/definitions/upstream"}},"examples":[{"alpha":{"dialect":"openai","base_url":"https://api.example.com/v1","api_keys":["${env:ALPHA_KEY}"]}}],"propertyNames":{"examples":["alpha","beta-eu"]}},"models":{"description":"Models by the id that clients send. An id begins with route/. May be absent if an upstream publishes the models of its provider.","type":"object","additionalProperties":false,"patternProperties":{"^route/[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}$":{"$ref":"#/definitions/model"}},"examples":[{"route/swift-mini":{"kind":"chat","tier":"Free","owned_by":"alpha","price":{"input_per_million":0.15,"output_per_million":0.6},"chain":[{"upstream":"alpha","model":"alpha-mini-1"}]}}],"propertyNames":{"examples":["route/swift-mini"]}},"pipeline":{"description":"Plugins that handle a request, in this order: a plugin's name, the path of a local plugin, or a step with options.","type":"array","minItems":1,"items":{"$ref":"#/definitions/step"},"examples":[["auth","plan-check","quota","breaker","stream-relay","meter"]]},"reload":{"description":"How a changed file is taken over while the gateway runs.","$ref":"#/definitions/reload"},"status":{"description":"What GET /v1/status and the status page show besides the health of upstreams and models.","$ref":"#/definitions/status"},"secrets":{"description":"How long the values of ${exec:…} are kept.","$ref":"#/definitions/secrets"},"telemetry":{"description":"What the gateway reports about requests: access log, traces, metrics, decision log.","$ref":"#/definitions/telemetry"}},"definitions":{"reference":{"description":"Resolved before validation: editors accept it wherever a scalar stands.","type":"string","pattern":"\\$\\{(env|file|exec):[^}]+\\}"},"duration":{"description":"A number and its unit: ms, s, m, h or d.","type":"string","pattern":"^[0-9]{1,9}(ms|s|m|h|d)$","examples":["250ms","5s","2m","1h","30d"]},"moment":{"description":"A date, or a date and a time.","anyOf":[{"type":"string","format":"date","examples":["2027-01-15"]},{"type":"string","format":"date-time","examples":["2027-01-15T12:00:00Z"]}]},"positiveDuration":{"description":"A number and its unit: ms, s, m, h or d.","type":"string","pattern":"^0*[1-9][0-9]{0,8}(ms|s|m|h|d)$","examples":["250ms","5s","2m","1h","30d"]},"size":{"description":"A number and its unit: B, KiB, MiB or GiB.","type":"string","pattern":"^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$","examples":["64KiB","32MiB"]},"count":{"type":"integer","minimum":1,"maximum":1000000000},"port":{"type":"integer","minimum":0,"maximum":65535},"money":{"type":"number","minimum":0,"maximum":1000000000},"flag":{"type":"boolean"},"limit":{"anyOf":[{"type":"integer","minimum":0,"maximum":1000000000},{"const":"none"}]},"server":{"title":"ServerConfig","type":"object","additionalProperties":false,"properties":{"listen":{"description":"Public addresses. All serve the same paths with the same keys. A change needs a restart; renewed certificates do not.","type":"array","minItems":1,"items":{"$ref":"#/definitions/address"},"examples":[[{"host":"127.0.0.1","port":8080}]]},"admin":{"description":"Listener for operators: probes, metrics, console, /admin. Without it, there is no such listener. A new address or `tls` needs a restart; new tokens and renewed certificates do not.","$ref":"#/definitions/admin"},"public_url":{"description":"Address under which users reach the gateway. Redirects of sign-in and links use it. Without it the request's Host header counts.","type":"string","pattern":"^https?://[^/?#@\\s]+/?$","examples":["https://gateway.example.com"]},"workers":{"description":"Number of processes that share the addresses. More than 1 needs a Redis store. A change needs a restart.","examples":[1,4],"type":"integer","minimum":1,"maximum":256},"dashboard":{"description":"true: a browser that opens a public address gets the dashboard and the status page. false: those paths answer 404.","$ref":"#/definitions/flag","examples":[true]},"error_format":{"description":"Form of errors that the API documents as plain text.","enum":["auto","text"],"examples":["auto","text"]},"body_limit":{"description":"Largest body of a request. A larger one gets 413.","$ref":"#/definitions/size","examples":["32MiB"]},"body_memory":{"description":"Memory for the bodies of all requests in flight. A request beyond it gets 503. One user may take a quarter. While an answer streams, only the part that its settlement may need is counted.","$ref":"#/definitions/size","examples":["512MiB"]},"upload_space":{"description":"Disk space for the uploads of all requests in flight. A request beyond it gets 503. One user may take a quarter.","$ref":"#/definitions/size","examples":["4GiB"]},"count_budget":{"description":"Size of all bodies that one user may send to count_tokens in a minute, per process. A request beyond it gets 429.","$ref":"#/definitions/size","examples":["64MiB"]},"shed":{"description":"When a process refuses new inference requests with 503. Plans with the lowest class are refused first. Without it, no request is refused for load.","$ref":"#/definitions/shed","examples":[{"loop_delay":"200ms","heap":0.85}]},"trusted_proxies":{"description":"Addresses and networks (CIDR) of proxies whose X-Forwarded-For header is believed.","type":"array","items":{"type":"string"},"examples":[["10.0.3.7","10.0.4.0/24"]]},"connections":{"description":"How many connections clients may have open to one process. A connection beyond that gets 503.","$ref":"#/definitions/connections"},"ip_limit":{"description":"How many requests one client address may make in a window. none: no limit.","anyOf":[{"$ref":"#/definitions/ipLimit"},{"const":"none"}]},"cors":{"description":"Web pages that may call /v1 from a browser. Without it, only the gateway's own pages may.","$ref":"#/definitions/cors"},"heartbeat":{"description":"After an upstream has been silent for this long, the client's stream gets a comment that keeps it open.","$ref":"#/definitions/positiveDuration","examples":["15s"]},"drain":{"description":"How the gateway stops on SIGTERM: it still accepts requests for `delay`, then finishes them within `timeout`.","$ref":"#/definitions/drain"}}},"address":{"title":"AddressConfig","type":"object","additionalProperties":false,"required":["host","port"],"properties":{"host":{"description":"Address or host name to listen on. 0.0.0.0 is every IPv4 address of the machine.","type":"string","minLength":1,"examples":["127.0.0.1","0.0.0.0"]},"port":{"description":"TCP port, 1 to 65535. 0 picks a free port.","$ref":"#/definitions/port","examples":[8080]},"tls":{"description":"Serves HTTPS here. Without it, plain HTTP. A change needs a restart; renewed files do not.","$ref":"#/definitions/listenerTls"}}},"listenerTls":{"title":"ListenerTlsConfig","description":"Certificate of a listener, TLS 1.2 or newer. The files are watched: renewed ones serve new connections without a restart.","type":"object","additionalProperties":false,"required":["cert","key"],"properties":{"cert":{"description":"PEM file with the certificate and the intermediate ones after it, relative to the folder of the configuration.","$ref":"#/definitions/pemFile","examples":["./tls/tls.crt"]},"key":{"description":"PEM file with the private key of the certificate, not encrypted.","$ref":"#/definitions/pemFile","examples":["./tls/tls.key"]},"client_ca":{"description":"PEM file with authorities of client certificates. A client without a certificate of theirs gets no connection. Without it, no client certificate is asked for.","$ref":"#/definitions/pemFile","examples":["./tls/operators-ca.pem"]}}},"upstreamTls":{"title":"UpstreamTlsConfig","description":"How an upstream's HTTPS connections are made. Changed files serve new connections after a reload, which comes by itself.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"ca":{"description":"PEM file with authorities to trust besides those that Node trusts: a company's own, or a self-signed certificate. Relative to the folder of the configuration. Without it, only those of Node.","$ref":"#/definitions/pemFile","examples":["./corporate-ca.pem"]},"cert":{"description":"PEM file with the client certificate that the upstream asks for, and the intermediate ones after it. Needs `key`. Without it, no certificate is shown.","$ref":"#/definitions/pemFile","examples":["./gateway.crt"]},"key":{"description":"PEM file with the private key of `cert`, not encrypted. Without it, `cert` cannot be used.","$ref":"#/definitions/pemFile","examples":["./gateway.key"]}}},"pemFile":{"type":"string","minLength":1},"admin":{"title":"AdminConfig","type":"object","additionalProperties":false,"required":["host","port"],"properties":{"host":{"description":"Address or host name to listen on. Keep it on loopback, or put TLS in front.","type":"string","minLength":1,"examples":["127.0.0.1"]},"port":{"description":"TCP port, 1 to 65535. 0 picks a free port.","$ref":"#/definitions/port","examples":[9090]},"token":{"description":"Bearer token of /admin, for one operator named admin. While it is empty and there are no `tokens`, the listener serves only probes and metrics, and only on loopback.","type":"string","examples":["${env:GATEWAY_ADMIN_TOKEN:-}"]},"tls":{"description":"Serves HTTPS here. With client_ca, probes and the command line need a client certificate too. Without it, plain HTTP.","$ref":"#/definitions/listenerTls"},"behind_tls":{"description":"true: a proxy in front speaks TLS, so tokens cross no network in clear text. It silences the warning of gateway check.","$ref":"#/definitions/flag","examples":[true]},"tokens":{"description":"Further tokens, each with a name for the audit log.","type":"array","maxItems":64,"items":{"$ref":"#/definitions/adminToken"}}}},"adminToken":{"title":"AdminTokenConfig","type":"object","additionalProperties":false,"required":["name","token","role"],"properties":{"name":{"description":"Name that the audit log shows: up to 64 letters, digits, dots, hyphens and underscores.","type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","examples":["grace","dashboards"]},"token":{"description":"Bearer token of /admin. An empty one lets nobody in.","type":"string","examples":["${env:GRACE_ADMIN_TOKEN}"]},"role":{"description":"What the holder of the token may do.","enum":["viewer","operator"],"examples":["viewer","operator"]}}},"connections":{"title":"ConnectionsConfig","type":"object","additionalProperties":false,"properties":{"total":{"description":"Open connections of all clients to one process.","examples":[10000],"type":"integer","minimum":1,"maximum":1000000},"per_address":{"description":"Open connections of one client address (IPv6: of one /64). none: no limit. Addresses in trusted_proxies are not limited. Leave it at none behind a load balancer: all connections come from its address.","examples":[100,"none"],"anyOf":[{"type":"integer","minimum":1,"maximum":1000000},{"const":"none"}]}}},"shed":{"title":"ShedConfig","type":"object","additionalProperties":false,"minProperties":1,"properties":{"loop_delay":{"description":"How late the event loop may be, as the 99th percentile of the last second. Without it, lateness does not count.","$ref":"#/definitions/positiveDuration","examples":["200ms"]},"heap":{"description":"How much of V8's heap may be in use: a share of its limit (--max-old-space-size) from 0 to 1, or a size. Without it, the heap does not count.","examples":[0.85,"1536MiB"],"anyOf":[{"type":"number","exclusiveMinimum":0,"maximum":1},{"$ref":"#/definitions/size"}]}}},"ipLimit":{"title":"IpLimitConfig","type":"object","additionalProperties":false,"required":["requests","window"],"properties":{"requests":{"description":"Requests that one client address may make in one window.","$ref":"#/definitions/count","examples":[600]},"window":{"description":"Length of the window.","$ref":"#/definitions/positiveDuration","examples":["1m"]}}},"cors":{"title":"CorsConfig","type":"object","additionalProperties":false,"required":["origins"],"properties":{"origins":{"description":"Origins that may call /v1 from a browser. * is any origin.","type":"array","items":{"type":"string","pattern":"^(\\*|https?://[^/?#@\\s]+)$","examples":["*","https://app.example.com"]}}}},"drain":{"title":"DrainConfig","type":"object","additionalProperties":false,"properties":{"delay":{"description":"Time after SIGTERM in which new requests are still accepted, while /readyz answers 503 so that load balancers look elsewhere.","$ref":"#/definitions/duration","examples":["5s"]},"timeout":{"description":"Time after that for the requests in flight to finish. The others are ended with an error.","$ref":"#/definitions/duration","examples":["25s"]}}},"store":{"title":"StoreConfig","type":"object","additionalProperties":false,"properties":{"url":{"description":"sqlite:FILE, memory:, redis://HOST:PORT/DB or rediss://HOST:PORT/DB. A change needs a restart.","type":"string","examples":["sqlite:./data/gateway.db","memory:","redis://127.0.0.1:6379/0"]},"nodes":{"description":"Some nodes of a Redis or Valkey Cluster, as redis:// or rediss:// URLs, instead of `url`. Without it, `url` counts.","type":"array","minItems":1,"items":{"type":"string"},"examples":[["redis://10.0.0.1:6379","redis://10.0.0.2:6379"]]},"prefix":{"description":"Text that every key in Redis begins with.","type":"string","pattern":"^[^{}\\s]*$","examples":["gw:"]},"on_failure":{"description":"What happens to requests while the store cannot be reached.","enum":["closed","open"]},"timeout":{"description":"How long the gateway waits for an answer of Redis. It asks about an admission once more while the connection stands.","$ref":"#/definitions/positiveDuration","examples":["1s","500ms"]},"retention":{"description":"How long ledger entries are kept. Balances and sums stay.","$ref":"#/definitions/positiveDuration","examples":["90d","400d"]}}},"auth":{"title":"AuthConfig","type":"object","additionalProperties":false,"properties":{"tokens":{"description":"Access tokens (HS256) and refresh tokens.","$ref":"#/definitions/tokens"},"signup":{"description":"Who may sign up, and what a new user gets. off: nobody, operators add the users. Without it, every address may.","anyOf":[{"$ref":"#/definitions/signup"},{"const":"off"}]},"email":{"description":"Sign-in codes by email, for POST /auth/login.","$ref":"#/definitions/email"},"oauth":{"description":"OpenID Connect providers, by the name in /auth/oauth/{name}. Register the redirect URI https://HOST/auth/oauth/{name}/callback there. Without it, users sign in by email only.","type":"object","additionalProperties":false,"patternProperties":{"^[a-z0-9][a-z0-9-]{0,63}$":{"$ref":"#/definitions/oauthProvider"}},"examples":[{"corp":{"issuer":"https://id.example.com","client_id":"abc","client_secret":"${env:CORP_OIDC_SECRET}"}}],"propertyNames":{"examples":["corp","my-idp"]}}}},"tokens":{"title":"TokensConfig","type":"object","additionalProperties":false,"properties":{"issuer":{"description":"Claim iss of access tokens.","type":"string","minLength":1,"examples":["route-gateway"]},"audience":{"description":"Claim aud of access tokens.","type":"string","minLength":1,"examples":["route-gateway"]},"access_ttl":{"description":"How long an access token is valid.","$ref":"#/definitions/positiveDuration","examples":["15m"]},"refresh_ttl":{"description":"How long a refresh token is valid.","$ref":"#/definitions/positiveDuration","examples":["30d"]},"secrets":{"description":"Signing secrets. The first one signs, all of them verify, so you can rotate them without signing anybody out.","type":"array","minItems":1,"items":{"$ref":"#/definitions/tokenSecret"},"examples":[[{"kid":"a","value":"${env:GATEWAY_JWT_SECRET:-}"}]]}}},"tokenSecret":{"title":"TokenSecretConfig","type":"object","additionalProperties":false,"required":["kid","value"],"properties":{"kid":{"description":"Key id in the header of tokens, up to 64 characters.","type":"string","minLength":1,"maxLength":64,"examples":["a"]},"value":{"description":"Secret of at least 32 bytes. Empty: the gateway makes one and keeps it in the store.","type":"string","examples":["${env:GATEWAY_JWT_SECRET:-}"]}}},"signup":{"title":"SignupConfig","type":"object","additionalProperties":false,"properties":{"tier":{"description":"Plan of a new user. Without it, the first plan under tiers, or Open if there are no tiers.","type":"string","examples":["Free"]},"credits":{"description":"Credits that a new user gets, in billing.currency.","$ref":"#/definitions/money","examples":[1]},"domains":{"description":"Domains of the email addresses that may sign up, without their subdomains. Without it, every address may.","type":"array","minItems":1,"items":{"type":"string","maxLength":253,"pattern":"^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$","examples":["example.com"]}}}},"email":{"title":"EmailConfig","type":"object","additionalProperties":false,"required":["from"],"properties":{"from":{"description":"Sender address of the codes.","type":"string","pattern":"^[^@\\r\\n]+@[^@\\s]+$","examples":["gateway@example.com"]},"smtp":{"description":"smtp:// or smtps:// URL of the mail server, with user and password if it needs them. Empty: codes are written to the log, for trying out.","type":"string","examples":["${env:GATEWAY_SMTP_URL:-}"]}}},"oauthProvider":{"title":"OAuthProviderConfig","type":"object","additionalProperties":false,"required":["issuer","client_id"],"properties":{"issuer":{"description":"Issuer URL: https, or http on loopback. The gateway reads its discovery document.","type":"string","examples":["https://id.example.com"]},"client_id":{"description":"Client id at the provider.","type":"string","examples":["abc"]},"client_secret":{"description":"Client secret at the provider. Empty: a public client.","type":"string","examples":["${env:CORP_OIDC_SECRET}"]},"scopes":{"description":"Scopes to ask for.","type":"array","items":{"type":"string","minLength":1},"examples":[["openid","email"]]}}},"billing":{"title":"BillingConfig","type":"object","additionalProperties":false,"properties":{"currency":{"description":"Currency of all prices and credits, as an ISO 4217 code.","type":"string","pattern":"^[A-Z]{3}$","examples":["USD","EUR"]},"cost_multiplier":{"description":"Factor on every charge. GET /v1/settings shows it.","$ref":"#/definitions/money","examples":[1,1.2]},"enforce":{"description":"true: users without credits are refused. false: charges are recorded, nobody is refused.","$ref":"#/definitions/flag","examples":[true]},"hold_output_tokens":{"description":"Output tokens for which credits are held at admission if a request has no max_tokens.","$ref":"#/definitions/count","examples":[1024]},"outcomes":{"description":"What is charged for requests that do not end well.","$ref":"#/definitions/outcomes"}}},"outcomes":{"title":"OutcomesConfig","type":"object","additionalProperties":false,"properties":{"client_gone":{"description":"The client disconnected before the answer was complete.","$ref":"#/definitions/partialOutcome"},"killed":{"description":"The user stopped the stream before the answer was complete.","$ref":"#/definitions/partialOutcome"},"upstream_cut":{"description":"The upstream broke off its answer.","$ref":"#/definitions/partialOutcome"},"unanswered":{"description":"The client disconnected, or the user stopped the stream, after the request had been sent and before the upstream's first byte. `prompt` charges the estimated prompt, which providers bill: its tokens, characters and seconds, and the price of a request; no output, no images. Either way the request counts against the limits.","enum":["free","prompt"]},"no_usage":{"description":"The upstream reported no usage, or only a part of it.","enum":["estimate","free"]}}},"partialOutcome":{"enum":["delivered","free"]},"tier":{"title":"TierConfig","description":"A plan: which models it may call, and how often.","type":"object","additionalProperties":false,"required":["access","limits"],"properties":{"access":{"description":"Tiers of models that this plan may call, or all.","examples":[["Free"],"all"],"anyOf":[{"type":"array","uniqueItems":true,"items":{"type":"string"}},{"const":"all"}]},"limits":{"description":"How many requests and streams a user may have. none: no limit.","$ref":"#/definitions/limits"},"class":{"description":"A number: when server.shed refuses requests, plans with a lower class are refused first. Without it, the plan's place under tiers, from 0.","examples":[0,10],"type":"number","minimum":-1000000,"maximum":1000000}}},"limits":{"title":"LimitsConfig","type":"object","additionalProperties":false,"required":["day","hour","minute","streams"],"properties":{"day":{"description":"Requests in a calendar day (UTC), times the request multiplier of the model. none: no limit.","$ref":"#/definitions/limit","examples":[50,"none"]},"hour":{"description":"Requests in a calendar hour. none: no limit.","$ref":"#/definitions/limit","examples":[50,"none"]},"minute":{"description":"Requests in a calendar minute. none: no limit.","$ref":"#/definitions/limit","examples":[100,"none"]},"streams":{"description":"Concurrent streams. none: no limit.","$ref":"#/definitions/limit","examples":[50,"none"]}}},"defaults":{"title":"DefaultsConfig","type":"object","additionalProperties":false,"properties":{"upstream":{"description":"Settings of upstreams that do not set them themselves.","$ref":"#/definitions/upstreamDefaults"},"kinds":{"description":"Settings of models by their kind.","$ref":"#/definitions/kindsDefaults"}}},"upstreamConnections":{"title":"UpstreamConnections","examples":[256,"none"],"anyOf":[{"type":"integer","minimum":1,"maximum":1000000000},{"const":"none"}]},"upstreamDefaults":{"title":"UpstreamDefaultsConfig","type":"object","additionalProperties":false,"properties":{"timeouts":{"description":"How long to wait for an upstream.","$ref":"#/definitions/timeouts"},"retries":{"description":"Attempts at one upstream before the next step of the chain is tried.","$ref":"#/definitions/retries"},"breaker":{"description":"When an upstream gets no requests for a while because too many have failed.","$ref":"#/definitions/breaker"},"connections":{"description":"Connections of one process to one upstream. none: no limit; server.connections bounds them.","$ref":"#/definitions/upstreamConnections"},"http2":{"description":"true: use HTTP/2 where the upstream offers it.","$ref":"#/definitions/flag","examples":[false]},"tls":{"description":"Authorities to trust and the client certificate to show, for https:// addresses.","$ref":"#/definitions/upstreamTls"},"probe":{"description":"Health probe behind GET /v1/status. It is never a billed model call. none: health is what live requests show.","$ref":"#/definitions/probe","examples":[{"every":"60s","timeout":"5s"},"none"]}}},"kindsDefaults":{"title":"KindsDefaultsConfig","type":"object","additionalProperties":false,"properties":{"chat":{"description":"Settings of chat models.","$ref":"#/definitions/kindDefaults"},"embedding":{"description":"Settings of embedding models.","$ref":"#/definitions/kindDefaults"},"rerank":{"description":"Settings of rerank models.","$ref":"#/definitions/kindDefaults"},"speech":{"description":"Settings of text-to-speech models.","$ref":"#/definitions/kindDefaults"},"transcription":{"description":"Settings of speech-to-text models.","$ref":"#/definitions/kindDefaults"},"image":{"description":"Settings of image models.","$ref":"#/definitions/kindDefaults"}}},"kindDefaults":{"title":"KindDefaultsConfig","type":"object","additionalProperties":false,"properties":{"multipliers":{"description":"Factors on the quota and the charge of a request.","$ref":"#/definitions/multipliers"},"deadline":{"description":"Time for the whole chain.","$ref":"#/definitions/positiveDuration","examples":["5m"]}}},"timeouts":{"title":"TimeoutsConfig","type":"object","additionalProperties":false,"properties":{"connect":{"description":"Time until the connection is established.","$ref":"#/definitions/positiveDuration","examples":["2s"]},"first_byte":{"description":"Time from sending the request to the head of a streamed answer. A whole answer may take until `total`, or the model's `deadline`.","$ref":"#/definitions/positiveDuration","examples":["30s"]},"idle":{"description":"Longest silence between two bytes of the answer.","$ref":"#/definitions/positiveDuration","examples":["60s"]},"total":{"description":"Time for the whole attempt.","$ref":"#/definitions/positiveDuration","examples":["10m"]}}},"retries":{"title":"RetriesConfig","type":"object","additionalProperties":false,"properties":{"attempts":{"description":"Attempts at one upstream. 1 means no retry.","examples":[1],"type":"integer","minimum":1,"maximum":20},"min_delay":{"description":"Wait before the first retry.","$ref":"#/definitions/duration","examples":["100ms"]},"max_delay":{"description":"Longest wait between two attempts.","$ref":"#/definitions/duration","examples":["2s"]}}},"breaker":{"title":"BreakerConfig","type":"object","additionalProperties":false,"properties":{"consecutive":{"description":"Failures in a row that open the breaker.","$ref":"#/definitions/count","examples":[3]},"window":{"description":"Window in which `ratio` is measured.","$ref":"#/definitions/positiveDuration","examples":["30s"]},"ratio":{"description":"Share of failed attempts in the window that opens the breaker, above 0 up to 1.","examples":[0.5],"type":"number","exclusiveMinimum":0,"maximum":1},"minimum":{"description":"Attempts that the window needs before `ratio` counts.","$ref":"#/definitions/count","examples":[20]},"open_for":{"description":"How long the breaker stays open the first time.","$ref":"#/definitions/positiveDuration","examples":["10s"]},"max_open_for":{"description":"Longest time the breaker stays open. Each time it stays open twice as long, up to this.","$ref":"#/definitions/positiveDuration","examples":["5m"]},"probes":{"description":"Attempts that a half-open breaker lets through.","$ref":"#/definitions/count","examples":[1]},"scope":{"description":"What one breaker is for.","examples":["upstream"],"enum":["upstream","target"]}}},"concurrency":{"title":"ConcurrencyConfig","type":"object","additionalProperties":false,"required":["requests"],"properties":{"requests":{"description":"Requests in flight at the same time. A stream counts until it ends.","examples":[4],"type":"integer","minimum":1,"maximum":1000000},"queue":{"description":"Requests that may wait for a place, in turn by user. A request beyond them goes to the next target of the chain, or gets 503. 0: none waits.","examples":[100],"type":"integer","minimum":0,"maximum":1000000},"max_wait":{"description":"Longest time a request waits for a place.","$ref":"#/definitions/positiveDuration","examples":["30s"]}},"examples":[{"requests":4,"queue":100,"max_wait":"30s"}]},"probe":{"anyOf":[{"$ref":"#/definitions/probeSettings"},{"const":"none"}]},"probeSettings":{"title":"ProbeConfig","type":"object","additionalProperties":false,"required":["every"],"properties":{"every":{"description":"Time between two probes. GET /v1/status shows their latency.","$ref":"#/definitions/positiveDuration","examples":["60s"]},"timeout":{"description":"Time after which a probe counts as failed.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"upstream":{"title":"UpstreamConfig","description":"One provider account or server.","type":"object","additionalProperties":false,"required":["dialect","base_url"],"properties":{"dialect":{"description":"Wire format of the upstream.","enum":["openai","anthropic","gemini","azure","bedrock","cohere","jina","voyage","elevenlabs","deepgram"]},"base_url":{"description":"Base URL that the provider's official SDK takes, with its /v1 where it has one. sim: is the built-in simulator. Vertex AI: https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google (dialect gemini) or /publishers/anthropic (dialect anthropic).","examples":["https://api.example.com/v1","https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/anthropic"],"type":"string"},"api_keys":{"description":"API keys of the provider; several share the load. sim:, addresses on loopback and the vendors ollama, vllm, lmstudio and llamacpp need none. bedrock: ACCESS_KEY_ID:SECRET[:SESSION_TOKEN] signs requests. Vertex AI: a service account's key file, ${file:PATH}, or application-default.","type":"array","items":{"type":"string"},"examples":[["${env:ALPHA_KEY}"]]},"models":{"description":"Publishes models that the provider lists, each as route/ and its name there. The provider is asked at the start, at a reload and each hour; while it does not answer, its last list stays. A model that is written out under models wins.","$ref":"#/definitions/publishing","examples":[{"include":["gpt-*"],"price":{"input_per_million":0.15,"output_per_million":0.6}}]},"forward_headers":{"description":"Names of client headers that are sent on. Credentials, cookies and headers of the connection never are. Without it, none is.","type":"array","minItems":1,"maxItems":50,"uniqueItems":true,"items":{"type":"string","pattern":"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$","examples":["x-openrouter-title"]},"examples":[["x-openrouter-title","http-referer"]]},"headers":{"description":"Further headers of every request to this upstream.","type":"object","additionalProperties":false,"patternProperties":{"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$":{"type":"string","pattern":"^[^\\u0000\\r\\n]*$","examples":["one line of text"]}},"propertyNames":{"examples":["x-team"]},"examples":[{"x-team":"search"}]},"display_name":{"description":"Name of the provider that users see. Without it, the upstream's own name.","type":"string","minLength":1,"examples":["Alpha"]},"timeouts":{"description":"How long to wait for this upstream.","$ref":"#/definitions/timeouts"},"retries":{"description":"Attempts at this upstream before the next step of the chain is tried.","$ref":"#/definitions/retries"},"breaker":{"description":"When this upstream gets no requests for a while because too many have failed.","$ref":"#/definitions/breaker"},"connections":{"description":"Connections of one process to this upstream. none: no limit; server.connections bounds them.","$ref":"#/definitions/upstreamConnections"},"concurrency":{"description":"Requests in flight from one process to this upstream, and the queue for further ones. Without it only `connections` bounds them, and no request waits.","$ref":"#/definitions/concurrency"},"http2":{"description":"true: use HTTP/2 where the upstream offers it.","$ref":"#/definitions/flag","examples":[false]},"tls":{"description":"Authorities to trust and the client certificate to show, for https:// addresses.","$ref":"#/definitions/upstreamTls"},"proxy":{"description":"Proxy for this upstream: http://[USER:PASSWORD@]HOST:PORT or https://… none: connect directly. Without it, the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide.","type":"string","minLength":1,"examples":["http://proxy.example.com:3128","none"]},"probe":{"description":"Health probe behind GET /v1/status. It is never a billed model call. none: health is what live requests show.","$ref":"#/definitions/probe","examples":[{"every":"60s","timeout":"5s"},"none"]},"vendor":{"description":"For dialect openai: whose server it is, and so which fields, efforts and limits it is sent. Without it, the host of base_url decides, else generic.","enum":["openai","mistral","deepseek","groq","openrouter","xai","moonshot","together","fireworks","cerebras","perplexity","alibaba","zai","nvidia","ollama","vllm","lmstudio","llamacpp","generic"],"examples":["mistral"]},"accepts":{"description":"What this server accepts where it differs from its vendor, for all of its models.","$ref":"#/definitions/accepts"},"api":{"description":"For dialects openai and azure: the endpoint that chats are sent to.","enum":["auto","chat","responses"]}}},"accepts":{"title":"AcceptsConfig","description":"Single entries that stand in place of the vendor's.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"output_limit":{"description":"Name of the field that limits the tokens of an answer. Without it, the vendor's.","enum":["max_tokens","max_completion_tokens"],"examples":["max_completion_tokens"]},"efforts":{"description":"Levels of reasoning_effort. Any other level becomes the nearest one below. An empty list: the field is not sent. Without it, the vendor's.","type":"array","uniqueItems":true,"items":{"$ref":"#/definitions/effort"},"examples":[["low","medium","high"],[]]},"reasoning_echo":{"description":"Field in which the reasoning of earlier turns is sent back. Without it, the vendor's.","enum":["never","reasoning_content","reasoning_details","reasoning"],"examples":["reasoning_content"]},"unknown_fields":{"description":"true: fields of a request and of its messages that the gateway does not know are sent on. false: they are dropped and reported. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"fields":{"description":"Top-level fields, tools and betas (anthropic-beta:NAME) that would be dropped, such as those that choose another model or rate. Name them only if you trust the clients with that. Without it, none.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[^/]+$","examples":["service_tier"]},"examples":[["service_tier","provider","anthropic-beta:context-1m-2025-08-07"]]},"references":{"description":"What clients may name in a conversation besides data: URLs and URLs of public hosts: addresses of other schemes, private hosts, ids of files and of other content at the provider. * matches any text without an @ before the path. The provider reads them with your account's identity, so every client may read them. Without it, nothing else.","type":"array","uniqueItems":true,"items":{"type":"string","maxLength":1000,"pattern":"^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s\\\\@/]*(?:/[^\\s\\\\]*)?|(?!(?!arn:)[A-Za-z][A-Za-z0-9+.-]*:)(?!.*://)[^\\s\\\\@]+)$","examples":["s3://my-bucket/*","file-*"]},"examples":[["s3://my-bucket/*","file-*"]]},"stop":{"description":"Largest number of stop sequences. 0: none are sent. Without it, the vendor's.","type":"integer","minimum":0,"maximum":1000,"examples":[4]},"tool_name":{"description":"Most characters in the name of a tool. Longer names are shortened, and restored in the answer. Without it, the vendor's.","type":"integer","minimum":16,"maximum":1000,"examples":[64]},"user":{"description":"Most characters in the field user. A longer value is replaced by a digest. 0: the field is not sent. Without it, the vendor's.","type":"integer","minimum":0,"maximum":10000,"examples":[64]},"stream_options":{"description":"true: streams may be asked for their usage. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"developer_role":{"description":"false: messages of the role developer are sent as system. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[false]},"strict_tools":{"description":"true: tools may be marked strict. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"tool_call_ids":{"description":"Form of the ids of tool calls. Without it, the vendor's.","enum":["any","mistral"],"examples":["any"]},"sampling":{"description":"true: temperature, top_p and the penalties are sent. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"parts":{"description":"What messages of the user may hold besides text. Any other part becomes a text that says what it was, and is reported. Without it, what is known of the vendor.","type":"array","uniqueItems":true,"items":{"enum":["image","file","audio","video"],"examples":["image"]},"examples":[["image"],[]]},"image_urls":{"description":"false: images are sent by their content only, not by their address. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[false]},"system_role":{"description":"Where system messages may stand. Without it, the vendor's.","enum":["anywhere","front","first","user"],"examples":["first"]},"alternate":{"description":"true: consecutive messages of one role are sent as one. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"prefill":{"description":"How a conversation is sent that ends with the assistant. Without it, the vendor's.","enum":["as_is","prefix","partial","closed"],"examples":["closed"]},"cache_marks":{"description":"How a prefix is marked for the provider's prompt cache. Marks that are lost are reported. Without it, the vendor's.","enum":["none","marks","marks_with_ttl","breakpoints"],"examples":["marks"]},"verbosity":{"description":"true: the levels of verbosity are sent. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"max_tools":{"description":"Largest number of tools. Of a longer list the tools that were called are sent, then the first ones; the others are reported. Without it, the vendor's.","type":"integer","minimum":1,"maximum":10000,"examples":[128]},"max_output":{"description":"Largest number of output tokens that may be asked for. A larger wish is lowered, and reported. Without it, the vendor's.","$ref":"#/definitions/count","examples":[16384]},"schema_keywords":{"description":"Keywords of JSON Schema, beyond the common ones, that a schema for structured output may have. Without it, what is known of the vendor.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[$A-Za-z][A-Za-z0-9]*$","examples":["minLength"]},"examples":[["minLength","pattern"]]}}},"effort":{"enum":["none","minimal","low","medium","high","xhigh","max"],"examples":["low"]},"publishing":{"title":"PublishingConfig","description":"Which models of a provider's list an upstream publishes, and what they have in common.","type":"object","additionalProperties":false,"required":["include"],"properties":{"include":{"description":"Patterns of the provider's names of models; * matches any text, also none.","type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string","minLength":1,"examples":["gpt-*"]},"examples":[["gpt-*","o*"],["*"]]},"exclude":{"description":"Patterns of names that are not published, although `include` matches them. Without it, none.","type":"array","uniqueItems":true,"items":{"type":"string","minLength":1,"examples":["*-preview"]},"examples":[["*-preview","*-audio-*"]]},"tier":{"description":"Tier that all of them belong to. Required where tiers are defined. Without it, Open.","type":"string","examples":["Max"]},"price":{"description":"What each of them costs, in billing.currency: the units of every kind that is to be published. Default: 0 for a local server, on loopback or of vendor ollama, vllm, lmstudio or llamacpp; otherwise required.","$ref":"#/definitions/price","examples":[{"input_per_million":0.15,"output_per_million":0.6}]}}},"model":{"title":"ModelConfig","description":"A model as clients see it, and the chain of upstreams behind it.","type":"object","additionalProperties":false,"required":["kind","chain"],"properties":{"kind":{"description":"What the model does, and so which endpoint serves it.","enum":["chat","embedding","rerank","speech","transcription","image"]},"tier":{"description":"Tier of the model. Plans list the tiers that they may call. Required where tiers are defined. Without it, Open.","type":"string","examples":["Free"]},"display_name":{"description":"Name in the pricing table. Without it, the id without route/.","type":"string","minLength":1,"examples":["Swift Mini"]},"owned_by":{"description":"Owner that the catalogue shows, usually the vendor of the model. Without it, the name of the upstream that the chain tries first.","type":"string","minLength":1,"examples":["aurora"]},"created":{"description":"Date of the model, for the catalogue. Without it, 1970-01-01.","type":"string","format":"date","examples":["2026-01-15"]},"deprecated_at":{"description":"Date from which nobody should begin to use the model. Answers carry it in a Deprecation header. A date begins in UTC. Without it, the model is not deprecated.","$ref":"#/definitions/moment","examples":["2027-01-15","2027-01-15T12:00:00Z"]},"sunset_at":{"description":"Date from which the model is gone, or its successor serves. Answers carry it in a Sunset header. Without it, the model stays.","$ref":"#/definitions/moment","examples":["2027-04-15","2027-04-15T12:00:00Z"]},"successor":{"description":"Model that serves the requests after sunset_at, under its own name, plan and price. Without it, the model is gone.","type":"string","minLength":1,"examples":["route/swift"]},"published":{"description":"false: the model can be called by plan, and is not listed.","$ref":"#/definitions/flag","examples":[false]},"context_window":{"description":"Tokens of prompt and answer together. Without it, the provider's own limit applies.","$ref":"#/definitions/count","examples":[128000]},"max_output":{"description":"Most tokens of an answer. A client's larger limit is lowered to it, and X-Gateway-Dropped says so. It is also sent where an upstream needs a limit and the client gives none. Without it, the provider's own limit applies.","$ref":"#/definitions/count","examples":[16384]},"features":{"description":"What the model promises, for example tools, vision, reasoning, documents, json_schema. gateway check compares it with what each step's dialect can do.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[a-z][a-z0-9_-]*$","examples":["tools"]},"examples":[["tools","vision"]]},"voices":{"description":"Voices of a speech model. Others are refused. Empty: the upstream decides.","type":"array","uniqueItems":true,"items":{"type":"string","minLength":1},"examples":[["alba","breeze"]]},"realtime":{"description":"true: a model for live streams. POST /v1/audio/transcriptions refuses it.","$ref":"#/definitions/flag","examples":[true]},"strict":{"description":"true: a request that an upstream's dialect cannot express is refused. false: the field is dropped, and reported.","$ref":"#/definitions/flag","examples":[true]},"price":{"description":"Prices in billing.currency. A free model has prices of 0: they must be written. Without it, 0 if every target of the chain is a local server (on loopback, or of vendor ollama, vllm, lmstudio or llamacpp); otherwise an error.","$ref":"#/definitions/price","examples":[{"input_per_million":0.15,"output_per_million":0.6}]},"multipliers":{"description":"Factors on the quota and the charge of a request.","$ref":"#/definitions/multipliers"},"deadline":{"description":"Time for the whole chain.","$ref":"#/definitions/positiveDuration","examples":["5m"]},"fail_over_on":{"description":"Refusals after which the next step of the chain is tried. A step may set its own.","$ref":"#/definitions/failOverOn"},"chain":{"description":"Upstreams of the model, tried in this order until one serves.","type":"array","minItems":1,"items":{"$ref":"#/definitions/chainStep"},"examples":[[{"upstream":"alpha","model":"alpha-mini-1"}]]}}},"price":{"title":"PriceConfig","type":"object","additionalProperties":false,"properties":{"input_per_million":{"description":"Price of a million prompt tokens, in billing.currency. Chat models need it. Without it, prompt tokens are not charged.","$ref":"#/definitions/money","examples":[0.15]},"output_per_million":{"description":"Price of a million output tokens, in billing.currency. Chat models need it. Without it, output tokens are not charged.","$ref":"#/definitions/money","examples":[0.6]},"cached_input_per_million":{"description":"Price of a million prompt tokens that the provider had cached, in billing.currency. Without it, as input_per_million.","$ref":"#/definitions/money","examples":[0.075]},"cache_write_per_million":{"description":"Price of a million prompt tokens that are written to the provider's cache, in billing.currency. Without it, as input_per_million.","$ref":"#/definitions/money","examples":[0.1875]},"cache_write_1h_per_million":{"description":"Price of a million prompt tokens that are written to the provider's cache for an hour, in billing.currency. Without it, as cache_write_per_million.","$ref":"#/definitions/money","examples":[0.3]},"reasoning_per_million":{"description":"Price of a million tokens of reasoning, in billing.currency. Without it, as output_per_million.","$ref":"#/definitions/money","examples":[0.6]},"per_request":{"description":"Price of a request, in billing.currency. Without it, a request itself is not charged.","$ref":"#/definitions/money","examples":[0.002]},"per_image":{"description":"Price of an image, in billing.currency, or a map of prices by size and quality. A model whose upstream counts the tokens of images may be priced by tokens instead, or as well. Without it, images are not charged.","examples":[0.04,{"default":0.04,"1024x1536/high":0.25}],"anyOf":[{"type":"number","minimum":0,"maximum":1000000000},{"$ref":"#/definitions/imagePrice"}]},"per_second":{"description":"Price of a second of audio, in billing.currency. Without it, seconds are not charged.","$ref":"#/definitions/money","examples":[0.0001]},"per_million_characters":{"description":"Price of a million characters of text, in billing.currency. Without it, characters are not charged.","$ref":"#/definitions/money","examples":[15]},"verified_at":{"description":"Date on which you last compared these prices with the provider's. gateway check warns after 180 days. Without it, it does not.","type":"string","format":"date","examples":["2026-01-15"]}}},"imagePrice":{"title":"ImagePriceConfig","description":"Prices of an image by SIZE/QUALITY, SIZE or QUALITY, as the upstream says them or else the request; the most exact counts.","type":"object","additionalProperties":false,"required":["default"],"properties":{"default":{"description":"Price of an image of any other size and quality, in billing.currency.","$ref":"#/definitions/money","examples":[0.04]}},"patternProperties":{"^(?!default$)([1-9][0-9]{0,4}x[1-9][0-9]{0,4}(/[a-z][a-z0-9_-]{0,31})?|[a-z][a-z0-9_-]{0,31})$":{"$ref":"#/definitions/money"}},"propertyNames":{"examples":["default","1024x1536","high","1024x1536/high"]}},"multipliers":{"title":"MultipliersConfig","type":"object","additionalProperties":false,"properties":{"requests":{"description":"How many requests of the daily quota one request counts as. Without it, 5 for speech, transcription and image models, and 1 for others.","$ref":"#/definitions/count","examples":[5]},"cost":{"description":"Factor on every charge of the model.","$ref":"#/definitions/money","examples":[1.5]}}},"failOverOn":{"title":"FailOverOn","description":"content_filter: the provider's content filter refused. Without it that is the client's 400.","type":"array","uniqueItems":true,"items":{"enum":["content_filter"],"examples":["content_filter"]},"examples":[["content_filter"]]},"chainStep":{"oneOf":[{"$ref":"#/definitions/target"},{"$ref":"#/definitions/balancedStep"}]},"target":{"title":"TargetConfig","type":"object","additionalProperties":false,"required":["upstream","model"],"properties":{"upstream":{"description":"Name of an upstream, as under upstreams.","type":"string","examples":["alpha"]},"model":{"description":"The upstream's own name of the model.","type":"string","minLength":1,"examples":["alpha-mini-1"]},"weight":{"description":"Weight among the targets of a balanced step: a target of weight 3 gets three times the requests of one of weight 1. 0: none.","examples":[3],"type":"number","minimum":0,"maximum":1000000},"timeouts":{"description":"How long to wait, where this step differs from its upstream.","$ref":"#/definitions/timeouts"},"context_window":{"description":"Tokens of prompt and answer together, where this step differs from the model. Without it, the model's.","$ref":"#/definitions/count","examples":[64000]},"features":{"description":"What this step can do, where it differs from the model. Without it, the model's.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[a-z][a-z0-9_-]*$","examples":["tools"]},"examples":[["tools"]]},"fail_over_on":{"description":"Refusals of this step after which the next one is tried. Without it, the model's.","$ref":"#/definitions/failOverOn"},"cost":{"description":"What the provider charges you, in billing.currency. gateway check warns if the model's price is below it.","$ref":"#/definitions/price","examples":[{"input_per_million":0.1,"output_per_million":0.4,"verified_at":"2026-01-15"}]},"parameters":{"description":"Changes to the body that is sent, in the upstream's own dialect, after everything else.","$ref":"#/definitions/parameters","examples":[{"set":{"/safe_prompt":true}}]}}},"parameters":{"title":"ParametersConfig","description":"By JSON pointers into the upstream's body; removed first, then renamed, then set.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"set":{"description":"Values by JSON pointer. Missing parents become maps, never lists.","type":"object","additionalProperties":false,"patternProperties":{"^(/([^/~]|~[01])*)+$":{}},"examples":[{"/safe_prompt":true}],"propertyNames":{"examples":["/safe_prompt","/extra_body/region"]}},"remove":{"description":"JSON pointers of fields to remove. A field that is not there is no error.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^(/([^/~]|~[01])*)+$","examples":["/logit_bias"]},"examples":[["/logit_bias"]]},"rename":{"description":"New names by JSON pointer, in the same map. A field that is not there is no error.","type":"object","additionalProperties":false,"patternProperties":{"^(/([^/~]|~[01])*)+$":{"type":"string","pattern":"^[^/~]+$","examples":["max_completion_tokens"]}},"examples":[{"/max_tokens":"max_completion_tokens"}],"propertyNames":{"examples":["/max_tokens"]}}}},"balancedStep":{"title":"BalancedStepConfig","type":"object","additionalProperties":false,"required":["balance","targets"],"properties":{"balance":{"description":"How requests are spread over the targets.","enum":["weighted","latency","sticky"]},"fail_over_on":{"description":"Refusals after which the next target is tried. Without it, the model's.","$ref":"#/definitions/failOverOn"},"targets":{"description":"The targets that share this step.","type":"array","minItems":1,"items":{"$ref":"#/definitions/target"},"examples":[[{"upstream":"alpha","model":"alpha-mini-1","weight":3},{"upstream":"beta","model":"beta-small-2"}]]}}},"step":{"oneOf":[{"type":"string","minLength":1},{"$ref":"#/definitions/localStep"},{"$ref":"#/definitions/builtInStep"}]},"builtInStep":{"type":"object","discriminator":{"propertyName":"use"},"oneOf":[{"$ref":"#/definitions/authStep"},{"$ref":"#/definitions/planCheckStep"},{"$ref":"#/definitions/quotaStep"},{"$ref":"#/definitions/breakerStep"},{"$ref":"#/definitions/transformStep"},{"$ref":"#/definitions/promptPrefixStep"},{"$ref":"#/definitions/guardWordsStep"},{"$ref":"#/definitions/piiMaskStep"},{"$ref":"#/definitions/answerCacheStep"},{"$ref":"#/definitions/headerTagsStep"},{"$ref":"#/definitions/budgetStep"},{"$ref":"#/definitions/streamRelayStep"},{"$ref":"#/definitions/meterStep"}]},"authStep":{"title":"AuthStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Says who is calling.","const":"auth"},"options":{"description":"Options of the plugin.","$ref":"plugins/auth.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"planCheckStep":{"title":"PlanCheckStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Refuses models that the caller's plan may not call.","const":"plan-check"},"options":{"description":"Options of the plugin.","$ref":"plugins/plan-check.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"quotaStep":{"title":"QuotaStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Counts against the plan's limits and holds credits.","const":"quota"},"options":{"description":"Options of the plugin.","$ref":"plugins/quota.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"breakerStep":{"title":"BreakerStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Leaves failing upstreams alone for a while.","const":"breaker"},"options":{"description":"Options of the plugin.","$ref":"plugins/breaker.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"transformStep":{"title":"TransformStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Sets and removes fields of the request that is sent on.","const":"transform"},"options":{"description":"Options of the plugin.","$ref":"plugins/transform.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"promptPrefixStep":{"title":"PromptPrefixStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Puts the operator's instructions around the client's own.","const":"prompt-prefix"},"options":{"description":"Options of the plugin.","$ref":"plugins/prompt-prefix.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"guardWordsStep":{"title":"GuardWordsStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Refuses or masks words in what is asked and answered.","const":"guard-words"},"options":{"description":"Options of the plugin.","$ref":"plugins/guard-words.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"piiMaskStep":{"title":"PiiMaskStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Upstreams get placeholders for personal data; answers have it again.","const":"pii-mask"},"options":{"description":"Options of the plugin.","$ref":"plugins/pii-mask.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"answerCacheStep":{"title":"AnswerCacheStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Answers what was asked before from the store.","const":"answer-cache"},"options":{"description":"Options of the plugin.","$ref":"plugins/answer-cache.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"headerTagsStep":{"title":"HeaderTagsStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Marks requests by their headers, for log, metrics and ledger.","const":"header-tags"},"options":{"description":"Options of the plugin.","$ref":"plugins/header-tags.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"budgetStep":{"title":"BudgetStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Refuses what would go beyond a sum per user and month or day.","const":"budget"},"options":{"description":"Options of the plugin.","$ref":"plugins/budget.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"streamRelayStep":{"title":"StreamRelayStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Walks the model's chain and relays the answer; one per pipeline.","const":"stream-relay"},"options":{"description":"Options of the plugin.","$ref":"plugins/stream-relay.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]}}},"meterStep":{"title":"MeterStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Turns usage into a charge, once per request.","const":"meter"},"options":{"description":"Options of the plugin.","$ref":"plugins/meter.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"localStep":{"title":"LocalStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Path of a plugin file, relative to the folder of the main configuration file.","type":"string","pattern":"^(\\.{1,2}/|/)","examples":["./plugins/redact-names.ts"]},"options":{"description":"Options of the plugin. Its own schema checks them.","type":"object","additionalProperties":true,"examples":[{"words":["secret"]}]},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}},"condition":{"title":"ConditionConfig","type":"object","additionalProperties":false,"minProperties":1,"properties":{"models":{"description":"Ids of models. * matches any text. Without it, all models.","type":"array","minItems":1,"items":{"type":"string","minLength":1},"examples":[["route/swift*"]]},"tiers":{"description":"Plans of the caller. Without it, all plans.","type":"array","minItems":1,"items":{"type":"string"},"examples":[["Free"]]}}},"fail":{"enum":["closed","open"]},"reload":{"title":"ReloadConfig","type":"object","additionalProperties":false,"properties":{"guard":{"description":"A changed file first serves a share of the users, and then takes over or is rolled back by itself. Without it, it takes over at once. The guard of the current configuration counts, not that of the changed file. Starts are not guarded.","$ref":"#/definitions/guard","examples":[{"share":"10%","for":"2m"}]}}},"guard":{"title":"GuardConfig","type":"object","additionalProperties":false,"properties":{"share":{"description":"Percentage of the users that the changed file serves. A hash of the user and the file chooses them: the same ones on all instances.","type":"string","pattern":"^(?!0+(\\.0+)?%$)[0-9]{1,2}(\\.[0-9]{1,3})?%$","examples":["10%","0.5%"]},"for":{"description":"Time after which the changed file takes over if nothing speaks against it.","$ref":"#/definitions/positiveDuration","examples":["2m"]},"min_requests":{"description":"Requests that the changed file must have served before it can be rolled back early.","$ref":"#/definitions/count","examples":[50]},"max_error_ratio":{"description":"The changed file is rolled back if the share of its requests that fail is more than this many times that of the current configuration. 1 % of the requests may always fail.","type":"number","minimum":1,"maximum":1000,"examples":[2]},"max_ttft_ratio":{"description":"The changed file is rolled back if its time to the first token is more than this many times that of the current configuration.","type":"number","minimum":1,"maximum":1000,"examples":[1.5]}}},"secrets":{"title":"SecretsConfig","type":"object","additionalProperties":false,"properties":{"refresh":{"description":"Time after which the commands of ${exec:…} run again in the background, at least 10s. A changed value serves new requests. Without it, they run only at a start and at a reload.","$ref":"#/definitions/positiveDuration","examples":["15m"]}}},"status":{"title":"StatusConfig","type":"object","additionalProperties":false,"properties":{"incidents":{"description":"Incidents that GET /v1/status shows, in this order.","type":"array","items":{"$ref":"#/definitions/incident"},"examples":[[{"id":"2026-01-10-latency","title":"Slow answers of Swift","description":"Answers of Swift take longer than usual. We are looking into it.","severity":"warning","status":"ongoing","created_at":"2026-01-10T08:00:00Z"}]]}}},"incident":{"title":"IncidentConfig","type":"object","additionalProperties":false,"required":["id","title","description","severity","status","created_at"],"properties":{"id":{"description":"Unique id of the incident.","type":"string","minLength":1,"examples":["2026-01-10-latency"]},"title":{"description":"Title, one line.","type":"string","minLength":1,"examples":["Slow answers of Swift"]},"description":{"description":"What users should know.","type":"string","examples":["Answers of Swift take longer than usual. We are looking into it."]},"severity":{"description":"How bad it is.","enum":["warning","error"]},"status":{"description":"Whether it is over.","enum":["ongoing","resolved"]},"created_at":{"description":"Date and time at which it began.","type":"string","format":"date-time","examples":["2026-01-10T08:00:00Z"]},"resolved_at":{"description":"Date and time at which it was over. null while it is ongoing.","anyOf":[{"type":"string","format":"date-time","examples":["2026-01-10T08:00:00Z"]},{"type":"null"}]}}},"telemetry":{"title":"TelemetryConfig","type":"object","additionalProperties":false,"properties":{"access_log":{"description":"The log line of each request.","$ref":"#/definitions/accessLog"},"server_timing":{"description":"When an answer has a Server-Timing header with the time that the gateway and the upstream took.","examples":["always"],"enum":["on_request","always","never"]},"otlp":{"description":"Sends traces and metrics by OTLP. Without it the variable OTEL_EXPORTER_OTLP_ENDPOINT decides; without both, nothing is sent. A change needs a restart.","$ref":"#/definitions/otlp"},"decision_log":{"description":"A file with one JSON line for each request, without prompts, as schemas/decision.schema.json describes it. Without it, no file is written.","$ref":"#/definitions/decisionLog"}}},"accessLog":{"title":"AccessLogConfig","type":"object","additionalProperties":false,"properties":{"lines":{"description":"Which requests get a log line.","examples":["failures"],"enum":["all","failures","none"]},"users":{"description":"true: the line has a keyed digest of the user's id.","$ref":"#/definitions/flag","examples":[true]},"addresses":{"description":"true: the line has the client's IP address, which is personal data in many countries.","$ref":"#/definitions/flag","examples":[true]}}},"otlp":{"title":"OtlpConfig","type":"object","additionalProperties":false,"required":["endpoint"],"properties":{"endpoint":{"description":"Base URL of a receiver of OTLP over HTTP (JSON). /v1/traces and /v1/metrics are appended.","type":"string","pattern":"^https?://[^\\s?#]+$","examples":["http://127.0.0.1:4318"]},"headers":{"description":"Further headers of what is sent there.","type":"object","additionalProperties":false,"patternProperties":{"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$":{"type":"string","pattern":"^[^\\u0000\\r\\n]*$","examples":["Bearer ${env:OTLP_TOKEN}"]}},"examples":[{"authorization":"Bearer ${env:OTLP_TOKEN}"}],"propertyNames":{"examples":["authorization"]}},"sample":{"description":"Share of the traces that begin here which are sent, from 0 to 1. For others the caller has decided.","examples":[0.1],"type":"number","minimum":0,"maximum":1},"interval":{"description":"Time between two exports of the metrics.","$ref":"#/definitions/positiveDuration","examples":["30s"]}}},"decisionLog":{"title":"DecisionLogConfig","type":"object","additionalProperties":false,"required":["file"],"properties":{"file":{"description":"File that lines are appended to, relative to this file's folder. It is opened again at every reload.","type":"string","minLength":1,"examples":["./data/decisions.jsonl"]},"max_size":{"description":"Size at which the file is renamed to FILE.TIME and a new one begins.","$ref":"#/definitions/size","examples":["64MiB"]},"keep":{"description":"Number of renamed files that are kept. The oldest are deleted.","examples":[8],"type":"integer","minimum":0,"maximum":10000}}}}};
const pattern0 = new RegExp("^models$", "u");
const pattern1 = new RegExp("^route/", "u");
const pattern2 = new RegExp("^upstreams$", "u");
const pattern3 = new RegExp("", "u");
const pattern17 = new RegExp("^[A-Za-z][A-Za-z0-9_-]{0,63}$", "u");
const pattern19 = new RegExp("^[A-Za-z][A-Za-z0-9_.-]{0,63}$", "u");
const pattern30 = new RegExp("^route/[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}$", "u");
const func2 = Object.prototype.hasOwnProperty;
const func3 = require("ajv/dist/runtime/ucs2length").default;
const schema7 = {"title":"ServerConfig","type":"object","additionalProperties":false,"properties":{"listen":{"description":"Public addresses. All serve the same paths with the same keys. A change needs a restart; renewed certificates do not.","type":"array","minItems":1,"items":{"$ref":"#/definitions/address"},"examples":[[{"host":"127.0.0.1","port":8080}]]},"admin":{"description":"Listener for operators: probes, metrics, console, /admin. Without it, there is no such listener. A new address or `tls` needs a restart; new tokens and renewed certificates do not.","$ref":"#/definitions/admin"},"public_url":{"description":"Address under which users reach the gateway. Redirects of sign-in and links use it. Without it the request's Host header counts.","type":"string","pattern":"^https?://[^/?#@\\s]+/?$","examples":["https://gateway.example.com"]},"workers":{"description":"Number of processes that share the addresses. More than 1 needs a Redis store. A change needs a restart.","examples":[1,4],"type":"integer","minimum":1,"maximum":256},"dashboard":{"description":"true: a browser that opens a public address gets the dashboard and the status page. false: those paths answer 404.","$ref":"#/definitions/flag","examples":[true]},"error_format":{"description":"Form of errors that the API documents as plain text.","enum":["auto","text"],"examples":["auto","text"]},"body_limit":{"description":"Largest body of a request. A larger one gets 413.","$ref":"#/definitions/size","examples":["32MiB"]},"body_memory":{"description":"Memory for the bodies of all requests in flight. A request beyond it gets 503. One user may take a quarter. While an answer streams, only the part that its settlement may need is counted.","$ref":"#/definitions/size","examples":["512MiB"]},"upload_space":{"description":"Disk space for the uploads of all requests in flight. A request beyond it gets 503. One user may take a quarter.","$ref":"#/definitions/size","examples":["4GiB"]},"count_budget":{"description":"Size of all bodies that one user may send to count_tokens in a minute, per process. A request beyond it gets 429.","$ref":"#/definitions/size","examples":["64MiB"]},"shed":{"description":"When a process refuses new inference requests with 503. Plans with the lowest class are refused first. Without it, no request is refused for load.","$ref":"#/definitions/shed","examples":[{"loop_delay":"200ms","heap":0.85}]},"trusted_proxies":{"description":"Addresses and networks (CIDR) of proxies whose X-Forwarded-For header is believed.","type":"array","items":{"type":"string"},"examples":[["10.0.3.7","10.0.4.0/24"]]},"connections":{"description":"How many connections clients may have open to one process. A connection beyond that gets 503.","$ref":"#/definitions/connections"},"ip_limit":{"description":"How many requests one client address may make in a window. none: no limit.","anyOf":[{"$ref":"#/definitions/ipLimit"},{"const":"none"}]},"cors":{"description":"Web pages that may call /v1 from a browser. Without it, only the gateway's own pages may.","$ref":"#/definitions/cors"},"heartbeat":{"description":"After an upstream has been silent for this long, the client's stream gets a comment that keeps it open.","$ref":"#/definitions/positiveDuration","examples":["15s"]},"drain":{"description":"How the gateway stops on SIGTERM: it still accepts requests for `delay`, then finishes them within `timeout`.","$ref":"#/definitions/drain"}}};
const schema8 = {"title":"AddressConfig","type":"object","additionalProperties":false,"required":["host","port"],"properties":{"host":{"description":"Address or host name to listen on. 0.0.0.0 is every IPv4 address of the machine.","type":"string","minLength":1,"examples":["127.0.0.1","0.0.0.0"]},"port":{"description":"TCP port, 1 to 65535. 0 picks a free port.","$ref":"#/definitions/port","examples":[8080]},"tls":{"description":"Serves HTTPS here. Without it, plain HTTP. A change needs a restart; renewed files do not.","$ref":"#/definitions/listenerTls"}}};
const schema9 = {"type":"integer","minimum":0,"maximum":65535};

function validate24(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema9.type,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 65535 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 65535},message:"must be <= 65535",schema:65535,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 0 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema9,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate24.errors = vErrors;
return errors === 0;
}

const schema10 = {"title":"ListenerTlsConfig","description":"Certificate of a listener, TLS 1.2 or newer. The files are watched: renewed ones serve new connections without a restart.","type":"object","additionalProperties":false,"required":["cert","key"],"properties":{"cert":{"description":"PEM file with the certificate and the intermediate ones after it, relative to the folder of the configuration.","$ref":"#/definitions/pemFile","examples":["./tls/tls.crt"]},"key":{"description":"PEM file with the private key of the certificate, not encrypted.","$ref":"#/definitions/pemFile","examples":["./tls/tls.key"]},"client_ca":{"description":"PEM file with authorities of client certificates. A client without a certificate of theirs gets no connection. Without it, no client certificate is asked for.","$ref":"#/definitions/pemFile","examples":["./tls/operators-ca.pem"]}}};
const schema11 = {"type":"string","minLength":1};

function validate27(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(func3(data) < 1){
const err0 = {instancePath,schemaPath:"#/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.type,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate27.errors = vErrors;
return errors === 0;
}


function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.cert === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cert"},message:"must have required property '"+"cert"+"'",schema:schema10.required,parentSchema:schema10,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.key === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "key"},message:"must have required property '"+"key"+"'",schema:schema10.required,parentSchema:schema10,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "cert") || (key0 === "key")) || (key0 === "client_ca"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema10,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.cert !== undefined){
if(!(validate27(data.cert, {instancePath:instancePath+"/cert",parentData:data,parentDataProperty:"cert",rootData}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
}
if(data.key !== undefined){
if(!(validate27(data.key, {instancePath:instancePath+"/key",parentData:data,parentDataProperty:"key",rootData}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
}
if(data.client_ca !== undefined){
if(!(validate27(data.client_ca, {instancePath:instancePath+"/client_ca",parentData:data,parentDataProperty:"client_ca",rootData}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema10.type,parentSchema:schema10,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate26.errors = vErrors;
return errors === 0;
}


function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.host === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "host"},message:"must have required property '"+"host"+"'",schema:schema8.required,parentSchema:schema8,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.port === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "port"},message:"must have required property '"+"port"+"'",schema:schema8.required,parentSchema:schema8,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "host") || (key0 === "port")) || (key0 === "tls"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema8,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.host !== undefined){
let data0 = data.host;
if(typeof data0 === "string"){
if(func3(data0) < 1){
const err3 = {instancePath:instancePath+"/host",schemaPath:"#/properties/host/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema8.properties.host,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/host",schemaPath:"#/properties/host/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema8.properties.host.type,parentSchema:schema8.properties.host,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.port !== undefined){
if(!(validate24(data.port, {instancePath:instancePath+"/port",parentData:data,parentDataProperty:"port",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
}
if(data.tls !== undefined){
if(!(validate26(data.tls, {instancePath:instancePath+"/tls",parentData:data,parentDataProperty:"tls",rootData}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate23.errors = vErrors;
return errors === 0;
}

const schema12 = {"title":"AdminConfig","type":"object","additionalProperties":false,"required":["host","port"],"properties":{"host":{"description":"Address or host name to listen on. Keep it on loopback, or put TLS in front.","type":"string","minLength":1,"examples":["127.0.0.1"]},"port":{"description":"TCP port, 1 to 65535. 0 picks a free port.","$ref":"#/definitions/port","examples":[9090]},"token":{"description":"Bearer token of /admin, for one operator named admin. While it is empty and there are no `tokens`, the listener serves only probes and metrics, and only on loopback.","type":"string","examples":["${env:GATEWAY_ADMIN_TOKEN:-}"]},"tls":{"description":"Serves HTTPS here. With client_ca, probes and the command line need a client certificate too. Without it, plain HTTP.","$ref":"#/definitions/listenerTls"},"behind_tls":{"description":"true: a proxy in front speaks TLS, so tokens cross no network in clear text. It silences the warning of gateway check.","$ref":"#/definitions/flag","examples":[true]},"tokens":{"description":"Further tokens, each with a name for the audit log.","type":"array","maxItems":64,"items":{"$ref":"#/definitions/adminToken"}}}};
const schema13 = {"type":"boolean"};

function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data !== "boolean"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema13.type,parentSchema:schema13,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate36.errors = vErrors;
return errors === 0;
}

const schema14 = {"title":"AdminTokenConfig","type":"object","additionalProperties":false,"required":["name","token","role"],"properties":{"name":{"description":"Name that the audit log shows: up to 64 letters, digits, dots, hyphens and underscores.","type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","examples":["grace","dashboards"]},"token":{"description":"Bearer token of /admin. An empty one lets nobody in.","type":"string","examples":["${env:GRACE_ADMIN_TOKEN}"]},"role":{"description":"What the holder of the token may do.","enum":["viewer","operator"],"examples":["viewer","operator"]}}};
const pattern5 = new RegExp("^[A-Za-z0-9._-]{1,64}$", "u");

function validate38(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema14.required,parentSchema:schema14,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.token === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "token"},message:"must have required property '"+"token"+"'",schema:schema14.required,parentSchema:schema14,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.role === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "role"},message:"must have required property '"+"role"+"'",schema:schema14.required,parentSchema:schema14,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "name") || (key0 === "token")) || (key0 === "role"))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema14,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 === "string"){
if(!pattern5.test(data0)){
const err4 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9._-]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9._-]{1,64}$"+"\"",schema:"^[A-Za-z0-9._-]{1,64}$",parentSchema:schema14.properties.name,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.name.type,parentSchema:schema14.properties.name,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.token !== undefined){
let data1 = data.token;
if(typeof data1 !== "string"){
const err6 = {instancePath:instancePath+"/token",schemaPath:"#/properties/token/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.token.type,parentSchema:schema14.properties.token,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.role !== undefined){
let data2 = data.role;
if(!((data2 === "viewer") || (data2 === "operator"))){
const err7 = {instancePath:instancePath+"/role",schemaPath:"#/properties/role/enum",keyword:"enum",params:{allowedValues: schema14.properties.role.enum},message:"must be equal to one of the allowed values",schema:schema14.properties.role.enum,parentSchema:schema14.properties.role,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema14.type,parentSchema:schema14,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate38.errors = vErrors;
return errors === 0;
}


function validate33(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.host === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "host"},message:"must have required property '"+"host"+"'",schema:schema12.required,parentSchema:schema12,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.port === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "port"},message:"must have required property '"+"port"+"'",schema:schema12.required,parentSchema:schema12,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "host") || (key0 === "port")) || (key0 === "token")) || (key0 === "tls")) || (key0 === "behind_tls")) || (key0 === "tokens"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema12,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.host !== undefined){
let data0 = data.host;
if(typeof data0 === "string"){
if(func3(data0) < 1){
const err3 = {instancePath:instancePath+"/host",schemaPath:"#/properties/host/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema12.properties.host,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/host",schemaPath:"#/properties/host/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema12.properties.host.type,parentSchema:schema12.properties.host,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.port !== undefined){
if(!(validate24(data.port, {instancePath:instancePath+"/port",parentData:data,parentDataProperty:"port",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
}
if(data.token !== undefined){
let data2 = data.token;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/token",schemaPath:"#/properties/token/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema12.properties.token.type,parentSchema:schema12.properties.token,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.tls !== undefined){
if(!(validate26(data.tls, {instancePath:instancePath+"/tls",parentData:data,parentDataProperty:"tls",rootData}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
}
if(data.behind_tls !== undefined){
if(!(validate36(data.behind_tls, {instancePath:instancePath+"/behind_tls",parentData:data,parentDataProperty:"behind_tls",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.tokens !== undefined){
let data5 = data.tokens;
if(Array.isArray(data5)){
if(data5.length > 64){
const err6 = {instancePath:instancePath+"/tokens",schemaPath:"#/properties/tokens/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items",schema:64,parentSchema:schema12.properties.tokens,data:data5};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
if(!(validate38(data5[i0], {instancePath:instancePath+"/tokens/" + i0,parentData:data5,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate38.errors : vErrors.concat(validate38.errors);
errors = vErrors.length;
}
}
}
else {
const err7 = {instancePath:instancePath+"/tokens",schemaPath:"#/properties/tokens/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema12.properties.tokens.type,parentSchema:schema12.properties.tokens,data:data5};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema12.type,parentSchema:schema12,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate33.errors = vErrors;
return errors === 0;
}

const schema15 = {"description":"A number and its unit: B, KiB, MiB or GiB.","type":"string","pattern":"^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$","examples":["64KiB","32MiB"]};
const pattern7 = new RegExp("^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$", "u");

function validate42(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(!pattern7.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$"},message:"must match pattern \""+"^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$"+"\"",schema:"^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$",parentSchema:schema15,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema15.type,parentSchema:schema15,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate42.errors = vErrors;
return errors === 0;
}

const schema16 = {"title":"ShedConfig","type":"object","additionalProperties":false,"minProperties":1,"properties":{"loop_delay":{"description":"How late the event loop may be, as the 99th percentile of the last second. Without it, lateness does not count.","$ref":"#/definitions/positiveDuration","examples":["200ms"]},"heap":{"description":"How much of V8's heap may be in use: a share of its limit (--max-old-space-size) from 0 to 1, or a size. Without it, the heap does not count.","examples":[0.85,"1536MiB"],"anyOf":[{"type":"number","exclusiveMinimum":0,"maximum":1},{"$ref":"#/definitions/size"}]}}};
const schema17 = {"description":"A number and its unit: ms, s, m, h or d.","type":"string","pattern":"^0*[1-9][0-9]{0,8}(ms|s|m|h|d)$","examples":["250ms","5s","2m","1h","30d"]};
const pattern8 = new RegExp("^0*[1-9][0-9]{0,8}(ms|s|m|h|d)$", "u");

function validate48(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(!pattern8.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^0*[1-9][0-9]{0,8}(ms|s|m|h|d)$"},message:"must match pattern \""+"^0*[1-9][0-9]{0,8}(ms|s|m|h|d)$"+"\"",schema:"^0*[1-9][0-9]{0,8}(ms|s|m|h|d)$",parentSchema:schema17,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.type,parentSchema:schema17,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate48.errors = vErrors;
return errors === 0;
}


function validate47(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema16,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "loop_delay") || (key0 === "heap"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema16,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.loop_delay !== undefined){
if(!(validate48(data.loop_delay, {instancePath:instancePath+"/loop_delay",parentData:data,parentDataProperty:"loop_delay",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.heap !== undefined){
let data1 = data.heap;
const _errs4 = errors;
let valid1 = false;
const _errs5 = errors;
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 1 || isNaN(data1)){
const err2 = {instancePath:instancePath+"/heap",schemaPath:"#/properties/heap/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1",schema:1,parentSchema:schema16.properties.heap.anyOf[0],data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data1 <= 0 || isNaN(data1)){
const err3 = {instancePath:instancePath+"/heap",schemaPath:"#/properties/heap/anyOf/0/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema16.properties.heap.anyOf[0],data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/heap",schemaPath:"#/properties/heap/anyOf/0/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema16.properties.heap.anyOf[0].type,parentSchema:schema16.properties.heap.anyOf[0],data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
var _valid0 = _errs5 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs7 = errors;
if(!(validate42(data1, {instancePath:instancePath+"/heap",parentData:data,parentDataProperty:"heap",rootData}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
var _valid0 = _errs7 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err5 = {instancePath:instancePath+"/heap",schemaPath:"#/properties/heap/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema16.properties.heap.anyOf,parentSchema:schema16.properties.heap,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
else {
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema16.type,parentSchema:schema16,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate47.errors = vErrors;
return errors === 0;
}

const schema18 = {"title":"ConnectionsConfig","type":"object","additionalProperties":false,"properties":{"total":{"description":"Open connections of all clients to one process.","examples":[10000],"type":"integer","minimum":1,"maximum":1000000},"per_address":{"description":"Open connections of one client address (IPv6: of one /64). none: no limit. Addresses in trusted_proxies are not limited. Leave it at none behind a load balancer: all connections come from its address.","examples":[100,"none"],"anyOf":[{"type":"integer","minimum":1,"maximum":1000000},{"const":"none"}]}}};

function validate52(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "total") || (key0 === "per_address"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema18,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.total !== undefined){
let data0 = data.total;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err1 = {instancePath:instancePath+"/total",schemaPath:"#/properties/total/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema18.properties.total.type,parentSchema:schema18.properties.total,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 1000000 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/total",schemaPath:"#/properties/total/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema18.properties.total,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/total",schemaPath:"#/properties/total/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema18.properties.total,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.per_address !== undefined){
let data1 = data.per_address;
const _errs5 = errors;
let valid1 = false;
const _errs6 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err4 = {instancePath:instancePath+"/per_address",schemaPath:"#/properties/per_address/anyOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema18.properties.per_address.anyOf[0].type,parentSchema:schema18.properties.per_address.anyOf[0],data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 1000000 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/per_address",schemaPath:"#/properties/per_address/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema18.properties.per_address.anyOf[0],data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/per_address",schemaPath:"#/properties/per_address/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema18.properties.per_address.anyOf[0],data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid0 = _errs6 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs8 = errors;
if("none" !== data1){
const err7 = {instancePath:instancePath+"/per_address",schemaPath:"#/properties/per_address/anyOf/1/const",keyword:"const",params:{allowedValue: "none"},message:"must be equal to constant",schema:"none",parentSchema:schema18.properties.per_address.anyOf[1],data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
var _valid0 = _errs8 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err8 = {instancePath:instancePath+"/per_address",schemaPath:"#/properties/per_address/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema18.properties.per_address.anyOf,parentSchema:schema18.properties.per_address,data:data1};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
else {
errors = _errs5;
if(vErrors !== null){
if(_errs5){
vErrors.length = _errs5;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema18.type,parentSchema:schema18,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate52.errors = vErrors;
return errors === 0;
}

const schema19 = {"title":"IpLimitConfig","type":"object","additionalProperties":false,"required":["requests","window"],"properties":{"requests":{"description":"Requests that one client address may make in one window.","$ref":"#/definitions/count","examples":[600]},"window":{"description":"Length of the window.","$ref":"#/definitions/positiveDuration","examples":["1m"]}}};
const schema20 = {"type":"integer","minimum":1,"maximum":1000000000};

function validate55(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema20.type,parentSchema:schema20,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000000 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema20,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 1 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema20,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate55.errors = vErrors;
return errors === 0;
}


function validate54(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.requests === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "requests"},message:"must have required property '"+"requests"+"'",schema:schema19.required,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.window === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "window"},message:"must have required property '"+"window"+"'",schema:schema19.required,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "requests") || (key0 === "window"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.requests !== undefined){
if(!(validate55(data.requests, {instancePath:instancePath+"/requests",parentData:data,parentDataProperty:"requests",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.window !== undefined){
if(!(validate48(data.window, {instancePath:instancePath+"/window",parentData:data,parentDataProperty:"window",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.type,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate54.errors = vErrors;
return errors === 0;
}

const schema21 = {"title":"CorsConfig","type":"object","additionalProperties":false,"required":["origins"],"properties":{"origins":{"description":"Origins that may call /v1 from a browser. * is any origin.","type":"array","items":{"type":"string","pattern":"^(\\*|https?://[^/?#@\\s]+)$","examples":["*","https://app.example.com"]}}}};
const pattern9 = new RegExp("^(\\*|https?://[^/?#@\\s]+)$", "u");

function validate59(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.origins === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "origins"},message:"must have required property '"+"origins"+"'",schema:schema21.required,parentSchema:schema21,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "origins")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema21,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.origins !== undefined){
let data0 = data.origins;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 === "string"){
if(!pattern9.test(data1)){
const err2 = {instancePath:instancePath+"/origins/" + i0,schemaPath:"#/properties/origins/items/pattern",keyword:"pattern",params:{pattern: "^(\\*|https?://[^/?#@\\s]+)$"},message:"must match pattern \""+"^(\\*|https?://[^/?#@\\s]+)$"+"\"",schema:"^(\\*|https?://[^/?#@\\s]+)$",parentSchema:schema21.properties.origins.items,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/origins/" + i0,schemaPath:"#/properties/origins/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema21.properties.origins.items.type,parentSchema:schema21.properties.origins.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath:instancePath+"/origins",schemaPath:"#/properties/origins/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema21.properties.origins.type,parentSchema:schema21.properties.origins,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema21.type,parentSchema:schema21,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate59.errors = vErrors;
return errors === 0;
}

const schema22 = {"title":"DrainConfig","type":"object","additionalProperties":false,"properties":{"delay":{"description":"Time after SIGTERM in which new requests are still accepted, while /readyz answers 503 so that load balancers look elsewhere.","$ref":"#/definitions/duration","examples":["5s"]},"timeout":{"description":"Time after that for the requests in flight to finish. The others are ended with an error.","$ref":"#/definitions/duration","examples":["25s"]}}};
const schema23 = {"description":"A number and its unit: ms, s, m, h or d.","type":"string","pattern":"^[0-9]{1,9}(ms|s|m|h|d)$","examples":["250ms","5s","2m","1h","30d"]};
const pattern10 = new RegExp("^[0-9]{1,9}(ms|s|m|h|d)$", "u");

function validate63(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(!pattern10.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,9}(ms|s|m|h|d)$"},message:"must match pattern \""+"^[0-9]{1,9}(ms|s|m|h|d)$"+"\"",schema:"^[0-9]{1,9}(ms|s|m|h|d)$",parentSchema:schema23,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.type,parentSchema:schema23,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate63.errors = vErrors;
return errors === 0;
}


function validate62(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "delay") || (key0 === "timeout"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema22,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.delay !== undefined){
if(!(validate63(data.delay, {instancePath:instancePath+"/delay",parentData:data,parentDataProperty:"delay",rootData}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate63(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema22.type,parentSchema:schema22,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate62.errors = vErrors;
return errors === 0;
}

const pattern6 = new RegExp("^https?://[^/?#@\\s]+/?$", "u");

function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func2.call(schema7.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.listen !== undefined){
let data0 = data.listen;
if(Array.isArray(data0)){
if(data0.length < 1){
const err1 = {instancePath:instancePath+"/listen",schemaPath:"#/properties/listen/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema7.properties.listen,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate23(data0[i0], {instancePath:instancePath+"/listen/" + i0,parentData:data0,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
}
}
else {
const err2 = {instancePath:instancePath+"/listen",schemaPath:"#/properties/listen/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema7.properties.listen.type,parentSchema:schema7.properties.listen,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.admin !== undefined){
if(!(validate33(data.admin, {instancePath:instancePath+"/admin",parentData:data,parentDataProperty:"admin",rootData}))){
vErrors = vErrors === null ? validate33.errors : vErrors.concat(validate33.errors);
errors = vErrors.length;
}
}
if(data.public_url !== undefined){
let data3 = data.public_url;
if(typeof data3 === "string"){
if(!pattern6.test(data3)){
const err3 = {instancePath:instancePath+"/public_url",schemaPath:"#/properties/public_url/pattern",keyword:"pattern",params:{pattern: "^https?://[^/?#@\\s]+/?$"},message:"must match pattern \""+"^https?://[^/?#@\\s]+/?$"+"\"",schema:"^https?://[^/?#@\\s]+/?$",parentSchema:schema7.properties.public_url,data:data3};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/public_url",schemaPath:"#/properties/public_url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.properties.public_url.type,parentSchema:schema7.properties.public_url,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.workers !== undefined){
let data4 = data.workers;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err5 = {instancePath:instancePath+"/workers",schemaPath:"#/properties/workers/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema7.properties.workers.type,parentSchema:schema7.properties.workers,data:data4};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 256 || isNaN(data4)){
const err6 = {instancePath:instancePath+"/workers",schemaPath:"#/properties/workers/maximum",keyword:"maximum",params:{comparison: "<=", limit: 256},message:"must be <= 256",schema:256,parentSchema:schema7.properties.workers,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err7 = {instancePath:instancePath+"/workers",schemaPath:"#/properties/workers/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema7.properties.workers,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.dashboard !== undefined){
if(!(validate36(data.dashboard, {instancePath:instancePath+"/dashboard",parentData:data,parentDataProperty:"dashboard",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.error_format !== undefined){
let data6 = data.error_format;
if(!((data6 === "auto") || (data6 === "text"))){
const err8 = {instancePath:instancePath+"/error_format",schemaPath:"#/properties/error_format/enum",keyword:"enum",params:{allowedValues: schema7.properties.error_format.enum},message:"must be equal to one of the allowed values",schema:schema7.properties.error_format.enum,parentSchema:schema7.properties.error_format,data:data6};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.body_limit !== undefined){
if(!(validate42(data.body_limit, {instancePath:instancePath+"/body_limit",parentData:data,parentDataProperty:"body_limit",rootData}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
if(data.body_memory !== undefined){
if(!(validate42(data.body_memory, {instancePath:instancePath+"/body_memory",parentData:data,parentDataProperty:"body_memory",rootData}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
if(data.upload_space !== undefined){
if(!(validate42(data.upload_space, {instancePath:instancePath+"/upload_space",parentData:data,parentDataProperty:"upload_space",rootData}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
if(data.count_budget !== undefined){
if(!(validate42(data.count_budget, {instancePath:instancePath+"/count_budget",parentData:data,parentDataProperty:"count_budget",rootData}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
if(data.shed !== undefined){
if(!(validate47(data.shed, {instancePath:instancePath+"/shed",parentData:data,parentDataProperty:"shed",rootData}))){
vErrors = vErrors === null ? validate47.errors : vErrors.concat(validate47.errors);
errors = vErrors.length;
}
}
if(data.trusted_proxies !== undefined){
let data12 = data.trusted_proxies;
if(Array.isArray(data12)){
const len1 = data12.length;
for(let i1=0; i1<len1; i1++){
let data13 = data12[i1];
if(typeof data13 !== "string"){
const err9 = {instancePath:instancePath+"/trusted_proxies/" + i1,schemaPath:"#/properties/trusted_proxies/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.properties.trusted_proxies.items.type,parentSchema:schema7.properties.trusted_proxies.items,data:data13};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath:instancePath+"/trusted_proxies",schemaPath:"#/properties/trusted_proxies/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema7.properties.trusted_proxies.type,parentSchema:schema7.properties.trusted_proxies,data:data12};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.connections !== undefined){
if(!(validate52(data.connections, {instancePath:instancePath+"/connections",parentData:data,parentDataProperty:"connections",rootData}))){
vErrors = vErrors === null ? validate52.errors : vErrors.concat(validate52.errors);
errors = vErrors.length;
}
}
if(data.ip_limit !== undefined){
let data15 = data.ip_limit;
const _errs23 = errors;
let valid5 = false;
const _errs24 = errors;
if(!(validate54(data15, {instancePath:instancePath+"/ip_limit",parentData:data,parentDataProperty:"ip_limit",rootData}))){
vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
errors = vErrors.length;
}
var _valid0 = _errs24 === errors;
valid5 = valid5 || _valid0;
if(!valid5){
const _errs25 = errors;
if("none" !== data15){
const err11 = {instancePath:instancePath+"/ip_limit",schemaPath:"#/properties/ip_limit/anyOf/1/const",keyword:"const",params:{allowedValue: "none"},message:"must be equal to constant",schema:"none",parentSchema:schema7.properties.ip_limit.anyOf[1],data:data15};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
var _valid0 = _errs25 === errors;
valid5 = valid5 || _valid0;
}
if(!valid5){
const err12 = {instancePath:instancePath+"/ip_limit",schemaPath:"#/properties/ip_limit/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema7.properties.ip_limit.anyOf,parentSchema:schema7.properties.ip_limit,data:data15};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
else {
errors = _errs23;
if(vErrors !== null){
if(_errs23){
vErrors.length = _errs23;
}
else {
vErrors = null;
}
}
}
}
if(data.cors !== undefined){
if(!(validate59(data.cors, {instancePath:instancePath+"/cors",parentData:data,parentDataProperty:"cors",rootData}))){
vErrors = vErrors === null ? validate59.errors : vErrors.concat(validate59.errors);
errors = vErrors.length;
}
}
if(data.heartbeat !== undefined){
if(!(validate48(data.heartbeat, {instancePath:instancePath+"/heartbeat",parentData:data,parentDataProperty:"heartbeat",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.drain !== undefined){
if(!(validate62(data.drain, {instancePath:instancePath+"/drain",parentData:data,parentDataProperty:"drain",rootData}))){
vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
errors = vErrors.length;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema7.type,parentSchema:schema7,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate22.errors = vErrors;
return errors === 0;
}

const schema24 = {"title":"StoreConfig","type":"object","additionalProperties":false,"properties":{"url":{"description":"sqlite:FILE, memory:, redis://HOST:PORT/DB or rediss://HOST:PORT/DB. A change needs a restart.","type":"string","examples":["sqlite:./data/gateway.db","memory:","redis://127.0.0.1:6379/0"]},"nodes":{"description":"Some nodes of a Redis or Valkey Cluster, as redis:// or rediss:// URLs, instead of `url`. Without it, `url` counts.","type":"array","minItems":1,"items":{"type":"string"},"examples":[["redis://10.0.0.1:6379","redis://10.0.0.2:6379"]]},"prefix":{"description":"Text that every key in Redis begins with.","type":"string","pattern":"^[^{}\\s]*$","examples":["gw:"]},"on_failure":{"description":"What happens to requests while the store cannot be reached.","enum":["closed","open"]},"timeout":{"description":"How long the gateway waits for an answer of Redis. It asks about an admission once more while the connection stands.","$ref":"#/definitions/positiveDuration","examples":["1s","500ms"]},"retention":{"description":"How long ledger entries are kept. Balances and sums stay.","$ref":"#/definitions/positiveDuration","examples":["90d","400d"]}}};
const pattern11 = new RegExp("^[^{}\\s]*$", "u");

function validate68(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "url") || (key0 === "nodes")) || (key0 === "prefix")) || (key0 === "on_failure")) || (key0 === "timeout")) || (key0 === "retention"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema24,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.url !== undefined){
let data0 = data.url;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.url.type,parentSchema:schema24.properties.url,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.nodes !== undefined){
let data1 = data.nodes;
if(Array.isArray(data1)){
if(data1.length < 1){
const err2 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema24.properties.nodes,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(typeof data2 !== "string"){
const err3 = {instancePath:instancePath+"/nodes/" + i0,schemaPath:"#/properties/nodes/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.nodes.items.type,parentSchema:schema24.properties.nodes.items,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema24.properties.nodes.type,parentSchema:schema24.properties.nodes,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.prefix !== undefined){
let data3 = data.prefix;
if(typeof data3 === "string"){
if(!pattern11.test(data3)){
const err5 = {instancePath:instancePath+"/prefix",schemaPath:"#/properties/prefix/pattern",keyword:"pattern",params:{pattern: "^[^{}\\s]*$"},message:"must match pattern \""+"^[^{}\\s]*$"+"\"",schema:"^[^{}\\s]*$",parentSchema:schema24.properties.prefix,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/prefix",schemaPath:"#/properties/prefix/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.prefix.type,parentSchema:schema24.properties.prefix,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.on_failure !== undefined){
let data4 = data.on_failure;
if(!((data4 === "closed") || (data4 === "open"))){
const err7 = {instancePath:instancePath+"/on_failure",schemaPath:"#/properties/on_failure/enum",keyword:"enum",params:{allowedValues: schema24.properties.on_failure.enum},message:"must be equal to one of the allowed values",schema:schema24.properties.on_failure.enum,parentSchema:schema24.properties.on_failure,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.retention !== undefined){
if(!(validate48(data.retention, {instancePath:instancePath+"/retention",parentData:data,parentDataProperty:"retention",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema24.type,parentSchema:schema24,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate68.errors = vErrors;
return errors === 0;
}

const schema25 = {"title":"AuthConfig","type":"object","additionalProperties":false,"properties":{"tokens":{"description":"Access tokens (HS256) and refresh tokens.","$ref":"#/definitions/tokens"},"signup":{"description":"Who may sign up, and what a new user gets. off: nobody, operators add the users. Without it, every address may.","anyOf":[{"$ref":"#/definitions/signup"},{"const":"off"}]},"email":{"description":"Sign-in codes by email, for POST /auth/login.","$ref":"#/definitions/email"},"oauth":{"description":"OpenID Connect providers, by the name in /auth/oauth/{name}. Register the redirect URI https://HOST/auth/oauth/{name}/callback there. Without it, users sign in by email only.","type":"object","additionalProperties":false,"patternProperties":{"^[a-z0-9][a-z0-9-]{0,63}$":{"$ref":"#/definitions/oauthProvider"}},"examples":[{"corp":{"issuer":"https://id.example.com","client_id":"abc","client_secret":"${env:CORP_OIDC_SECRET}"}}],"propertyNames":{"examples":["corp","my-idp"]}}}};
const schema26 = {"title":"TokensConfig","type":"object","additionalProperties":false,"properties":{"issuer":{"description":"Claim iss of access tokens.","type":"string","minLength":1,"examples":["route-gateway"]},"audience":{"description":"Claim aud of access tokens.","type":"string","minLength":1,"examples":["route-gateway"]},"access_ttl":{"description":"How long an access token is valid.","$ref":"#/definitions/positiveDuration","examples":["15m"]},"refresh_ttl":{"description":"How long a refresh token is valid.","$ref":"#/definitions/positiveDuration","examples":["30d"]},"secrets":{"description":"Signing secrets. The first one signs, all of them verify, so you can rotate them without signing anybody out.","type":"array","minItems":1,"items":{"$ref":"#/definitions/tokenSecret"},"examples":[[{"kid":"a","value":"${env:GATEWAY_JWT_SECRET:-}"}]]}}};
const schema27 = {"title":"TokenSecretConfig","type":"object","additionalProperties":false,"required":["kid","value"],"properties":{"kid":{"description":"Key id in the header of tokens, up to 64 characters.","type":"string","minLength":1,"maxLength":64,"examples":["a"]},"value":{"description":"Secret of at least 32 bytes. Empty: the gateway makes one and keeps it in the store.","type":"string","examples":["${env:GATEWAY_JWT_SECRET:-}"]}}};

function validate76(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.kid === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kid"},message:"must have required property '"+"kid"+"'",schema:schema27.required,parentSchema:schema27,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.value === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'",schema:schema27.required,parentSchema:schema27,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "kid") || (key0 === "value"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema27,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.kid !== undefined){
let data0 = data.kid;
if(typeof data0 === "string"){
if(func3(data0) > 64){
const err3 = {instancePath:instancePath+"/kid",schemaPath:"#/properties/kid/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters",schema:64,parentSchema:schema27.properties.kid,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(func3(data0) < 1){
const err4 = {instancePath:instancePath+"/kid",schemaPath:"#/properties/kid/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema27.properties.kid,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/kid",schemaPath:"#/properties/kid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.kid.type,parentSchema:schema27.properties.kid,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.value !== undefined){
let data1 = data.value;
if(typeof data1 !== "string"){
const err6 = {instancePath:instancePath+"/value",schemaPath:"#/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema27.properties.value.type,parentSchema:schema27.properties.value,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema27.type,parentSchema:schema27,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate76.errors = vErrors;
return errors === 0;
}


function validate73(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "issuer") || (key0 === "audience")) || (key0 === "access_ttl")) || (key0 === "refresh_ttl")) || (key0 === "secrets"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema26,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.issuer !== undefined){
let data0 = data.issuer;
if(typeof data0 === "string"){
if(func3(data0) < 1){
const err1 = {instancePath:instancePath+"/issuer",schemaPath:"#/properties/issuer/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema26.properties.issuer,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/issuer",schemaPath:"#/properties/issuer/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema26.properties.issuer.type,parentSchema:schema26.properties.issuer,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.audience !== undefined){
let data1 = data.audience;
if(typeof data1 === "string"){
if(func3(data1) < 1){
const err3 = {instancePath:instancePath+"/audience",schemaPath:"#/properties/audience/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema26.properties.audience,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/audience",schemaPath:"#/properties/audience/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema26.properties.audience.type,parentSchema:schema26.properties.audience,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.access_ttl !== undefined){
if(!(validate48(data.access_ttl, {instancePath:instancePath+"/access_ttl",parentData:data,parentDataProperty:"access_ttl",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.refresh_ttl !== undefined){
if(!(validate48(data.refresh_ttl, {instancePath:instancePath+"/refresh_ttl",parentData:data,parentDataProperty:"refresh_ttl",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.secrets !== undefined){
let data4 = data.secrets;
if(Array.isArray(data4)){
if(data4.length < 1){
const err5 = {instancePath:instancePath+"/secrets",schemaPath:"#/properties/secrets/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema26.properties.secrets,data:data4};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
if(!(validate76(data4[i0], {instancePath:instancePath+"/secrets/" + i0,parentData:data4,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate76.errors : vErrors.concat(validate76.errors);
errors = vErrors.length;
}
}
}
else {
const err6 = {instancePath:instancePath+"/secrets",schemaPath:"#/properties/secrets/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema26.properties.secrets.type,parentSchema:schema26.properties.secrets,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.type,parentSchema:schema26,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate73.errors = vErrors;
return errors === 0;
}

const schema28 = {"title":"SignupConfig","type":"object","additionalProperties":false,"properties":{"tier":{"description":"Plan of a new user. Without it, the first plan under tiers, or Open if there are no tiers.","type":"string","examples":["Free"]},"credits":{"description":"Credits that a new user gets, in billing.currency.","$ref":"#/definitions/money","examples":[1]},"domains":{"description":"Domains of the email addresses that may sign up, without their subdomains. Without it, every address may.","type":"array","minItems":1,"items":{"type":"string","maxLength":253,"pattern":"^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$","examples":["example.com"]}}}};
const schema29 = {"type":"number","minimum":0,"maximum":1000000000};

function validate80(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000000 || isNaN(data)){
const err0 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema29,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data < 0 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema29,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema29.type,parentSchema:schema29,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate80.errors = vErrors;
return errors === 0;
}

const pattern12 = new RegExp("^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$", "u");

function validate79(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "tier") || (key0 === "credits")) || (key0 === "domains"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema28,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.tier !== undefined){
let data0 = data.tier;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.tier.type,parentSchema:schema28.properties.tier,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.credits !== undefined){
if(!(validate80(data.credits, {instancePath:instancePath+"/credits",parentData:data,parentDataProperty:"credits",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.domains !== undefined){
let data2 = data.domains;
if(Array.isArray(data2)){
if(data2.length < 1){
const err2 = {instancePath:instancePath+"/domains",schemaPath:"#/properties/domains/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema28.properties.domains,data:data2};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(typeof data3 === "string"){
if(func3(data3) > 253){
const err3 = {instancePath:instancePath+"/domains/" + i0,schemaPath:"#/properties/domains/items/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters",schema:253,parentSchema:schema28.properties.domains.items,data:data3};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!pattern12.test(data3)){
const err4 = {instancePath:instancePath+"/domains/" + i0,schemaPath:"#/properties/domains/items/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"},message:"must match pattern \""+"^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"+"\"",schema:"^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",parentSchema:schema28.properties.domains.items,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/domains/" + i0,schemaPath:"#/properties/domains/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.domains.items.type,parentSchema:schema28.properties.domains.items,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath:instancePath+"/domains",schemaPath:"#/properties/domains/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema28.properties.domains.type,parentSchema:schema28.properties.domains,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema28.type,parentSchema:schema28,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate79.errors = vErrors;
return errors === 0;
}

const schema30 = {"title":"EmailConfig","type":"object","additionalProperties":false,"required":["from"],"properties":{"from":{"description":"Sender address of the codes.","type":"string","pattern":"^[^@\\r\\n]+@[^@\\s]+$","examples":["gateway@example.com"]},"smtp":{"description":"smtp:// or smtps:// URL of the mail server, with user and password if it needs them. Empty: codes are written to the log, for trying out.","type":"string","examples":["${env:GATEWAY_SMTP_URL:-}"]}}};
const pattern13 = new RegExp("^[^@\\r\\n]+@[^@\\s]+$", "u");

function validate83(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.from === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "from"},message:"must have required property '"+"from"+"'",schema:schema30.required,parentSchema:schema30,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "from") || (key0 === "smtp"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema30,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.from !== undefined){
let data0 = data.from;
if(typeof data0 === "string"){
if(!pattern13.test(data0)){
const err2 = {instancePath:instancePath+"/from",schemaPath:"#/properties/from/pattern",keyword:"pattern",params:{pattern: "^[^@\\r\\n]+@[^@\\s]+$"},message:"must match pattern \""+"^[^@\\r\\n]+@[^@\\s]+$"+"\"",schema:"^[^@\\r\\n]+@[^@\\s]+$",parentSchema:schema30.properties.from,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema30.properties.from.type,parentSchema:schema30.properties.from,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.smtp !== undefined){
let data1 = data.smtp;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/smtp",schemaPath:"#/properties/smtp/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema30.properties.smtp.type,parentSchema:schema30.properties.smtp,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema30.type,parentSchema:schema30,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate83.errors = vErrors;
return errors === 0;
}

const schema31 = {"title":"OAuthProviderConfig","type":"object","additionalProperties":false,"required":["issuer","client_id"],"properties":{"issuer":{"description":"Issuer URL: https, or http on loopback. The gateway reads its discovery document.","type":"string","examples":["https://id.example.com"]},"client_id":{"description":"Client id at the provider.","type":"string","examples":["abc"]},"client_secret":{"description":"Client secret at the provider. Empty: a public client.","type":"string","examples":["${env:CORP_OIDC_SECRET}"]},"scopes":{"description":"Scopes to ask for.","type":"array","items":{"type":"string","minLength":1},"examples":[["openid","email"]]}}};

function validate85(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.issuer === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "issuer"},message:"must have required property '"+"issuer"+"'",schema:schema31.required,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.client_id === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "client_id"},message:"must have required property '"+"client_id"+"'",schema:schema31.required,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "issuer") || (key0 === "client_id")) || (key0 === "client_secret")) || (key0 === "scopes"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.issuer !== undefined){
let data0 = data.issuer;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/issuer",schemaPath:"#/properties/issuer/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.issuer.type,parentSchema:schema31.properties.issuer,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.client_id !== undefined){
let data1 = data.client_id;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/client_id",schemaPath:"#/properties/client_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.client_id.type,parentSchema:schema31.properties.client_id,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.client_secret !== undefined){
let data2 = data.client_secret;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/client_secret",schemaPath:"#/properties/client_secret/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.client_secret.type,parentSchema:schema31.properties.client_secret,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.scopes !== undefined){
let data3 = data.scopes;
if(Array.isArray(data3)){
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
if(typeof data4 === "string"){
if(func3(data4) < 1){
const err6 = {instancePath:instancePath+"/scopes/" + i0,schemaPath:"#/properties/scopes/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.scopes.items,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/scopes/" + i0,schemaPath:"#/properties/scopes/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.scopes.items.type,parentSchema:schema31.properties.scopes.items,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.scopes.type,parentSchema:schema31.properties.scopes,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.type,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate85.errors = vErrors;
return errors === 0;
}

const pattern14 = new RegExp("^[a-z0-9][a-z0-9-]{0,63}$", "u");

function validate72(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((key0 === "tokens") || (key0 === "signup")) || (key0 === "email")) || (key0 === "oauth"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema25,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.tokens !== undefined){
if(!(validate73(data.tokens, {instancePath:instancePath+"/tokens",parentData:data,parentDataProperty:"tokens",rootData}))){
vErrors = vErrors === null ? validate73.errors : vErrors.concat(validate73.errors);
errors = vErrors.length;
}
}
if(data.signup !== undefined){
let data1 = data.signup;
const _errs4 = errors;
let valid1 = false;
const _errs5 = errors;
if(!(validate79(data1, {instancePath:instancePath+"/signup",parentData:data,parentDataProperty:"signup",rootData}))){
vErrors = vErrors === null ? validate79.errors : vErrors.concat(validate79.errors);
errors = vErrors.length;
}
var _valid0 = _errs5 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs6 = errors;
if("off" !== data1){
const err1 = {instancePath:instancePath+"/signup",schemaPath:"#/properties/signup/anyOf/1/const",keyword:"const",params:{allowedValue: "off"},message:"must be equal to constant",schema:"off",parentSchema:schema25.properties.signup.anyOf[1],data:data1};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs6 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err2 = {instancePath:instancePath+"/signup",schemaPath:"#/properties/signup/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema25.properties.signup.anyOf,parentSchema:schema25.properties.signup,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
}
}
if(data.email !== undefined){
if(!(validate83(data.email, {instancePath:instancePath+"/email",parentData:data,parentDataProperty:"email",rootData}))){
vErrors = vErrors === null ? validate83.errors : vErrors.concat(validate83.errors);
errors = vErrors.length;
}
}
if(data.oauth !== undefined){
let data3 = data.oauth;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key1 in data3){
if(!(pattern14.test(key1))){
const err3 = {instancePath:instancePath+"/oauth",schemaPath:"#/properties/oauth/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema25.properties.oauth,data:data3};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
for(const key2 in data3){
if(pattern14.test(key2)){
if(!(validate85(data3[key2], {instancePath:instancePath+"/oauth/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data3,parentDataProperty:key2,rootData}))){
vErrors = vErrors === null ? validate85.errors : vErrors.concat(validate85.errors);
errors = vErrors.length;
}
}
}
}
else {
const err4 = {instancePath:instancePath+"/oauth",schemaPath:"#/properties/oauth/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema25.properties.oauth.type,parentSchema:schema25.properties.oauth,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema25.type,parentSchema:schema25,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate72.errors = vErrors;
return errors === 0;
}

const schema32 = {"title":"BillingConfig","type":"object","additionalProperties":false,"properties":{"currency":{"description":"Currency of all prices and credits, as an ISO 4217 code.","type":"string","pattern":"^[A-Z]{3}$","examples":["USD","EUR"]},"cost_multiplier":{"description":"Factor on every charge. GET /v1/settings shows it.","$ref":"#/definitions/money","examples":[1,1.2]},"enforce":{"description":"true: users without credits are refused. false: charges are recorded, nobody is refused.","$ref":"#/definitions/flag","examples":[true]},"hold_output_tokens":{"description":"Output tokens for which credits are held at admission if a request has no max_tokens.","$ref":"#/definitions/count","examples":[1024]},"outcomes":{"description":"What is charged for requests that do not end well.","$ref":"#/definitions/outcomes"}}};
const pattern16 = new RegExp("^[A-Z]{3}$", "u");
const schema33 = {"title":"OutcomesConfig","type":"object","additionalProperties":false,"properties":{"client_gone":{"description":"The client disconnected before the answer was complete.","$ref":"#/definitions/partialOutcome"},"killed":{"description":"The user stopped the stream before the answer was complete.","$ref":"#/definitions/partialOutcome"},"upstream_cut":{"description":"The upstream broke off its answer.","$ref":"#/definitions/partialOutcome"},"unanswered":{"description":"The client disconnected, or the user stopped the stream, after the request had been sent and before the upstream's first byte. `prompt` charges the estimated prompt, which providers bill: its tokens, characters and seconds, and the price of a request; no output, no images. Either way the request counts against the limits.","enum":["free","prompt"]},"no_usage":{"description":"The upstream reported no usage, or only a part of it.","enum":["estimate","free"]}}};
const schema34 = {"enum":["delivered","free"]};

function validate93(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!((data === "delivered") || (data === "free"))){
const err0 = {instancePath,schemaPath:"#/enum",keyword:"enum",params:{allowedValues: schema34.enum},message:"must be equal to one of the allowed values",schema:schema34.enum,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate93.errors = vErrors;
return errors === 0;
}


function validate92(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "client_gone") || (key0 === "killed")) || (key0 === "upstream_cut")) || (key0 === "unanswered")) || (key0 === "no_usage"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.client_gone !== undefined){
if(!(validate93(data.client_gone, {instancePath:instancePath+"/client_gone",parentData:data,parentDataProperty:"client_gone",rootData}))){
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
}
if(data.killed !== undefined){
if(!(validate93(data.killed, {instancePath:instancePath+"/killed",parentData:data,parentDataProperty:"killed",rootData}))){
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
}
if(data.upstream_cut !== undefined){
if(!(validate93(data.upstream_cut, {instancePath:instancePath+"/upstream_cut",parentData:data,parentDataProperty:"upstream_cut",rootData}))){
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
}
if(data.unanswered !== undefined){
let data3 = data.unanswered;
if(!((data3 === "free") || (data3 === "prompt"))){
const err1 = {instancePath:instancePath+"/unanswered",schemaPath:"#/properties/unanswered/enum",keyword:"enum",params:{allowedValues: schema33.properties.unanswered.enum},message:"must be equal to one of the allowed values",schema:schema33.properties.unanswered.enum,parentSchema:schema33.properties.unanswered,data:data3};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.no_usage !== undefined){
let data4 = data.no_usage;
if(!((data4 === "estimate") || (data4 === "free"))){
const err2 = {instancePath:instancePath+"/no_usage",schemaPath:"#/properties/no_usage/enum",keyword:"enum",params:{allowedValues: schema33.properties.no_usage.enum},message:"must be equal to one of the allowed values",schema:schema33.properties.no_usage.enum,parentSchema:schema33.properties.no_usage,data:data4};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema33.type,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate92.errors = vErrors;
return errors === 0;
}


function validate88(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "currency") || (key0 === "cost_multiplier")) || (key0 === "enforce")) || (key0 === "hold_output_tokens")) || (key0 === "outcomes"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.currency !== undefined){
let data0 = data.currency;
if(typeof data0 === "string"){
if(!pattern16.test(data0)){
const err1 = {instancePath:instancePath+"/currency",schemaPath:"#/properties/currency/pattern",keyword:"pattern",params:{pattern: "^[A-Z]{3}$"},message:"must match pattern \""+"^[A-Z]{3}$"+"\"",schema:"^[A-Z]{3}$",parentSchema:schema32.properties.currency,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/currency",schemaPath:"#/properties/currency/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema32.properties.currency.type,parentSchema:schema32.properties.currency,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.cost_multiplier !== undefined){
if(!(validate80(data.cost_multiplier, {instancePath:instancePath+"/cost_multiplier",parentData:data,parentDataProperty:"cost_multiplier",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.enforce !== undefined){
if(!(validate36(data.enforce, {instancePath:instancePath+"/enforce",parentData:data,parentDataProperty:"enforce",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.hold_output_tokens !== undefined){
if(!(validate55(data.hold_output_tokens, {instancePath:instancePath+"/hold_output_tokens",parentData:data,parentDataProperty:"hold_output_tokens",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.outcomes !== undefined){
if(!(validate92(data.outcomes, {instancePath:instancePath+"/outcomes",parentData:data,parentDataProperty:"outcomes",rootData}))){
vErrors = vErrors === null ? validate92.errors : vErrors.concat(validate92.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema32.type,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate88.errors = vErrors;
return errors === 0;
}

const schema35 = {"title":"TierConfig","description":"A plan: which models it may call, and how often.","type":"object","additionalProperties":false,"required":["access","limits"],"properties":{"access":{"description":"Tiers of models that this plan may call, or all.","examples":[["Free"],"all"],"anyOf":[{"type":"array","uniqueItems":true,"items":{"type":"string"}},{"const":"all"}]},"limits":{"description":"How many requests and streams a user may have. none: no limit.","$ref":"#/definitions/limits"},"class":{"description":"A number: when server.shed refuses requests, plans with a lower class are refused first. Without it, the plan's place under tiers, from 0.","examples":[0,10],"type":"number","minimum":-1000000,"maximum":1000000}}};
const schema36 = {"title":"LimitsConfig","type":"object","additionalProperties":false,"required":["day","hour","minute","streams"],"properties":{"day":{"description":"Requests in a calendar day (UTC), times the request multiplier of the model. none: no limit.","$ref":"#/definitions/limit","examples":[50,"none"]},"hour":{"description":"Requests in a calendar hour. none: no limit.","$ref":"#/definitions/limit","examples":[50,"none"]},"minute":{"description":"Requests in a calendar minute. none: no limit.","$ref":"#/definitions/limit","examples":[100,"none"]},"streams":{"description":"Concurrent streams. none: no limit.","$ref":"#/definitions/limit","examples":[50,"none"]}}};
const schema37 = {"anyOf":[{"type":"integer","minimum":0,"maximum":1000000000},{"const":"none"}]};

function validate101(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema37.anyOf[0].type,parentSchema:schema37.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000000 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema37.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 0 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema37.anyOf[0],data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs3 = errors;
if("none" !== data){
const err3 = {instancePath,schemaPath:"#/anyOf/1/const",keyword:"const",params:{allowedValue: "none"},message:"must be equal to constant",schema:"none",parentSchema:schema37.anyOf[1],data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
}
if(!valid0){
const err4 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema37.anyOf,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate101.errors = vErrors;
return errors === 0;
}


function validate100(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.day === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "day"},message:"must have required property '"+"day"+"'",schema:schema36.required,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.hour === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "hour"},message:"must have required property '"+"hour"+"'",schema:schema36.required,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.minute === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "minute"},message:"must have required property '"+"minute"+"'",schema:schema36.required,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.streams === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "streams"},message:"must have required property '"+"streams"+"'",schema:schema36.required,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "day") || (key0 === "hour")) || (key0 === "minute")) || (key0 === "streams"))){
const err4 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.day !== undefined){
if(!(validate101(data.day, {instancePath:instancePath+"/day",parentData:data,parentDataProperty:"day",rootData}))){
vErrors = vErrors === null ? validate101.errors : vErrors.concat(validate101.errors);
errors = vErrors.length;
}
}
if(data.hour !== undefined){
if(!(validate101(data.hour, {instancePath:instancePath+"/hour",parentData:data,parentDataProperty:"hour",rootData}))){
vErrors = vErrors === null ? validate101.errors : vErrors.concat(validate101.errors);
errors = vErrors.length;
}
}
if(data.minute !== undefined){
if(!(validate101(data.minute, {instancePath:instancePath+"/minute",parentData:data,parentDataProperty:"minute",rootData}))){
vErrors = vErrors === null ? validate101.errors : vErrors.concat(validate101.errors);
errors = vErrors.length;
}
}
if(data.streams !== undefined){
if(!(validate101(data.streams, {instancePath:instancePath+"/streams",parentData:data,parentDataProperty:"streams",rootData}))){
vErrors = vErrors === null ? validate101.errors : vErrors.concat(validate101.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema36.type,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate100.errors = vErrors;
return errors === 0;
}


function validate99(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.access === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "access"},message:"must have required property '"+"access"+"'",schema:schema35.required,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.limits === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "limits"},message:"must have required property '"+"limits"+"'",schema:schema35.required,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "access") || (key0 === "limits")) || (key0 === "class"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.access !== undefined){
let data0 = data.access;
const _errs3 = errors;
let valid1 = false;
const _errs4 = errors;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/access/" + i0,schemaPath:"#/properties/access/anyOf/0/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema35.properties.access.anyOf[0].items.type,parentSchema:schema35.properties.access.anyOf[0].items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
let i1 = data0.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data0[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err4 = {instancePath:instancePath+"/access",schemaPath:"#/properties/access/anyOf/0/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema35.properties.access.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err5 = {instancePath:instancePath+"/access",schemaPath:"#/properties/access/anyOf/0/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema35.properties.access.anyOf[0].type,parentSchema:schema35.properties.access.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
var _valid0 = _errs4 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs8 = errors;
if("all" !== data0){
const err6 = {instancePath:instancePath+"/access",schemaPath:"#/properties/access/anyOf/1/const",keyword:"const",params:{allowedValue: "all"},message:"must be equal to constant",schema:"all",parentSchema:schema35.properties.access.anyOf[1],data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
var _valid0 = _errs8 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err7 = {instancePath:instancePath+"/access",schemaPath:"#/properties/access/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema35.properties.access.anyOf,parentSchema:schema35.properties.access,data:data0};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
else {
errors = _errs3;
if(vErrors !== null){
if(_errs3){
vErrors.length = _errs3;
}
else {
vErrors = null;
}
}
}
}
if(data.limits !== undefined){
if(!(validate100(data.limits, {instancePath:instancePath+"/limits",parentData:data,parentDataProperty:"limits",rootData}))){
vErrors = vErrors === null ? validate100.errors : vErrors.concat(validate100.errors);
errors = vErrors.length;
}
}
if(data.class !== undefined){
let data3 = data.class;
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 1000000 || isNaN(data3)){
const err8 = {instancePath:instancePath+"/class",schemaPath:"#/properties/class/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema35.properties.class,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data3 < -1000000 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/class",schemaPath:"#/properties/class/minimum",keyword:"minimum",params:{comparison: ">=", limit: -1000000},message:"must be >= -1000000",schema:-1000000,parentSchema:schema35.properties.class,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/class",schemaPath:"#/properties/class/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema35.properties.class.type,parentSchema:schema35.properties.class,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema35.type,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate99.errors = vErrors;
return errors === 0;
}

const schema38 = {"title":"DefaultsConfig","type":"object","additionalProperties":false,"properties":{"upstream":{"description":"Settings of upstreams that do not set them themselves.","$ref":"#/definitions/upstreamDefaults"},"kinds":{"description":"Settings of models by their kind.","$ref":"#/definitions/kindsDefaults"}}};
const schema39 = {"title":"UpstreamDefaultsConfig","type":"object","additionalProperties":false,"properties":{"timeouts":{"description":"How long to wait for an upstream.","$ref":"#/definitions/timeouts"},"retries":{"description":"Attempts at one upstream before the next step of the chain is tried.","$ref":"#/definitions/retries"},"breaker":{"description":"When an upstream gets no requests for a while because too many have failed.","$ref":"#/definitions/breaker"},"connections":{"description":"Connections of one process to one upstream. none: no limit; server.connections bounds them.","$ref":"#/definitions/upstreamConnections"},"http2":{"description":"true: use HTTP/2 where the upstream offers it.","$ref":"#/definitions/flag","examples":[false]},"tls":{"description":"Authorities to trust and the client certificate to show, for https:// addresses.","$ref":"#/definitions/upstreamTls"},"probe":{"description":"Health probe behind GET /v1/status. It is never a billed model call. none: health is what live requests show.","$ref":"#/definitions/probe","examples":[{"every":"60s","timeout":"5s"},"none"]}}};
const schema40 = {"title":"TimeoutsConfig","type":"object","additionalProperties":false,"properties":{"connect":{"description":"Time until the connection is established.","$ref":"#/definitions/positiveDuration","examples":["2s"]},"first_byte":{"description":"Time from sending the request to the head of a streamed answer. A whole answer may take until `total`, or the model's `deadline`.","$ref":"#/definitions/positiveDuration","examples":["30s"]},"idle":{"description":"Longest silence between two bytes of the answer.","$ref":"#/definitions/positiveDuration","examples":["60s"]},"total":{"description":"Time for the whole attempt.","$ref":"#/definitions/positiveDuration","examples":["10m"]}}};

function validate110(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((key0 === "connect") || (key0 === "first_byte")) || (key0 === "idle")) || (key0 === "total"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.connect !== undefined){
if(!(validate48(data.connect, {instancePath:instancePath+"/connect",parentData:data,parentDataProperty:"connect",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.first_byte !== undefined){
if(!(validate48(data.first_byte, {instancePath:instancePath+"/first_byte",parentData:data,parentDataProperty:"first_byte",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.idle !== undefined){
if(!(validate48(data.idle, {instancePath:instancePath+"/idle",parentData:data,parentDataProperty:"idle",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.total !== undefined){
if(!(validate48(data.total, {instancePath:instancePath+"/total",parentData:data,parentDataProperty:"total",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema40.type,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate110.errors = vErrors;
return errors === 0;
}

const schema41 = {"title":"RetriesConfig","type":"object","additionalProperties":false,"properties":{"attempts":{"description":"Attempts at one upstream. 1 means no retry.","examples":[1],"type":"integer","minimum":1,"maximum":20},"min_delay":{"description":"Wait before the first retry.","$ref":"#/definitions/duration","examples":["100ms"]},"max_delay":{"description":"Longest wait between two attempts.","$ref":"#/definitions/duration","examples":["2s"]}}};

function validate116(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "attempts") || (key0 === "min_delay")) || (key0 === "max_delay"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.attempts !== undefined){
let data0 = data.attempts;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err1 = {instancePath:instancePath+"/attempts",schemaPath:"#/properties/attempts/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema41.properties.attempts.type,parentSchema:schema41.properties.attempts,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 20 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/attempts",schemaPath:"#/properties/attempts/maximum",keyword:"maximum",params:{comparison: "<=", limit: 20},message:"must be <= 20",schema:20,parentSchema:schema41.properties.attempts,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/attempts",schemaPath:"#/properties/attempts/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema41.properties.attempts,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.min_delay !== undefined){
if(!(validate63(data.min_delay, {instancePath:instancePath+"/min_delay",parentData:data,parentDataProperty:"min_delay",rootData}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
}
if(data.max_delay !== undefined){
if(!(validate63(data.max_delay, {instancePath:instancePath+"/max_delay",parentData:data,parentDataProperty:"max_delay",rootData}))){
vErrors = vErrors === null ? validate63.errors : vErrors.concat(validate63.errors);
errors = vErrors.length;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema41.type,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate116.errors = vErrors;
return errors === 0;
}

const schema42 = {"title":"BreakerConfig","type":"object","additionalProperties":false,"properties":{"consecutive":{"description":"Failures in a row that open the breaker.","$ref":"#/definitions/count","examples":[3]},"window":{"description":"Window in which `ratio` is measured.","$ref":"#/definitions/positiveDuration","examples":["30s"]},"ratio":{"description":"Share of failed attempts in the window that opens the breaker, above 0 up to 1.","examples":[0.5],"type":"number","exclusiveMinimum":0,"maximum":1},"minimum":{"description":"Attempts that the window needs before `ratio` counts.","$ref":"#/definitions/count","examples":[20]},"open_for":{"description":"How long the breaker stays open the first time.","$ref":"#/definitions/positiveDuration","examples":["10s"]},"max_open_for":{"description":"Longest time the breaker stays open. Each time it stays open twice as long, up to this.","$ref":"#/definitions/positiveDuration","examples":["5m"]},"probes":{"description":"Attempts that a half-open breaker lets through.","$ref":"#/definitions/count","examples":[1]},"scope":{"description":"What one breaker is for.","examples":["upstream"],"enum":["upstream","target"]}}};

function validate120(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((((key0 === "consecutive") || (key0 === "window")) || (key0 === "ratio")) || (key0 === "minimum")) || (key0 === "open_for")) || (key0 === "max_open_for")) || (key0 === "probes")) || (key0 === "scope"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema42,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.consecutive !== undefined){
if(!(validate55(data.consecutive, {instancePath:instancePath+"/consecutive",parentData:data,parentDataProperty:"consecutive",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.window !== undefined){
if(!(validate48(data.window, {instancePath:instancePath+"/window",parentData:data,parentDataProperty:"window",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.ratio !== undefined){
let data2 = data.ratio;
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 1 || isNaN(data2)){
const err1 = {instancePath:instancePath+"/ratio",schemaPath:"#/properties/ratio/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1",schema:1,parentSchema:schema42.properties.ratio,data:data2};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data2 <= 0 || isNaN(data2)){
const err2 = {instancePath:instancePath+"/ratio",schemaPath:"#/properties/ratio/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema42.properties.ratio,data:data2};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/ratio",schemaPath:"#/properties/ratio/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema42.properties.ratio.type,parentSchema:schema42.properties.ratio,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.minimum !== undefined){
if(!(validate55(data.minimum, {instancePath:instancePath+"/minimum",parentData:data,parentDataProperty:"minimum",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.open_for !== undefined){
if(!(validate48(data.open_for, {instancePath:instancePath+"/open_for",parentData:data,parentDataProperty:"open_for",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.max_open_for !== undefined){
if(!(validate48(data.max_open_for, {instancePath:instancePath+"/max_open_for",parentData:data,parentDataProperty:"max_open_for",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.probes !== undefined){
if(!(validate55(data.probes, {instancePath:instancePath+"/probes",parentData:data,parentDataProperty:"probes",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.scope !== undefined){
let data7 = data.scope;
if(!((data7 === "upstream") || (data7 === "target"))){
const err4 = {instancePath:instancePath+"/scope",schemaPath:"#/properties/scope/enum",keyword:"enum",params:{allowedValues: schema42.properties.scope.enum},message:"must be equal to one of the allowed values",schema:schema42.properties.scope.enum,parentSchema:schema42.properties.scope,data:data7};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema42.type,parentSchema:schema42,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate120.errors = vErrors;
return errors === 0;
}

const schema43 = {"title":"UpstreamConnections","examples":[256,"none"],"anyOf":[{"type":"integer","minimum":1,"maximum":1000000000},{"const":"none"}]};

function validate128(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema43.anyOf[0].type,parentSchema:schema43.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000000 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema43.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 1 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema43.anyOf[0],data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs3 = errors;
if("none" !== data){
const err3 = {instancePath,schemaPath:"#/anyOf/1/const",keyword:"const",params:{allowedValue: "none"},message:"must be equal to constant",schema:"none",parentSchema:schema43.anyOf[1],data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
}
if(!valid0){
const err4 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema43.anyOf,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate128.errors = vErrors;
return errors === 0;
}

const schema44 = {"title":"UpstreamTlsConfig","description":"How an upstream's HTTPS connections are made. Changed files serve new connections after a reload, which comes by itself.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"ca":{"description":"PEM file with authorities to trust besides those that Node trusts: a company's own, or a self-signed certificate. Relative to the folder of the configuration. Without it, only those of Node.","$ref":"#/definitions/pemFile","examples":["./corporate-ca.pem"]},"cert":{"description":"PEM file with the client certificate that the upstream asks for, and the intermediate ones after it. Needs `key`. Without it, no certificate is shown.","$ref":"#/definitions/pemFile","examples":["./gateway.crt"]},"key":{"description":"PEM file with the private key of `cert`, not encrypted. Without it, `cert` cannot be used.","$ref":"#/definitions/pemFile","examples":["./gateway.key"]}}};

function validate131(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "ca") || (key0 === "cert")) || (key0 === "key"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.ca !== undefined){
if(!(validate27(data.ca, {instancePath:instancePath+"/ca",parentData:data,parentDataProperty:"ca",rootData}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
}
if(data.cert !== undefined){
if(!(validate27(data.cert, {instancePath:instancePath+"/cert",parentData:data,parentDataProperty:"cert",rootData}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
}
if(data.key !== undefined){
if(!(validate27(data.key, {instancePath:instancePath+"/key",parentData:data,parentDataProperty:"key",rootData}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema44.type,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate131.errors = vErrors;
return errors === 0;
}

const schema45 = {"anyOf":[{"$ref":"#/definitions/probeSettings"},{"const":"none"}]};
const schema46 = {"title":"ProbeConfig","type":"object","additionalProperties":false,"required":["every"],"properties":{"every":{"description":"Time between two probes. GET /v1/status shows their latency.","$ref":"#/definitions/positiveDuration","examples":["60s"]},"timeout":{"description":"Time after which a probe counts as failed.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};

function validate137(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.every === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "every"},message:"must have required property '"+"every"+"'",schema:schema46.required,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "every") || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.every !== undefined){
if(!(validate48(data.every, {instancePath:instancePath+"/every",parentData:data,parentDataProperty:"every",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema46.type,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate137.errors = vErrors;
return errors === 0;
}


function validate136(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(!(validate137(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate137.errors : vErrors.concat(validate137.errors);
errors = vErrors.length;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs2 = errors;
if("none" !== data){
const err0 = {instancePath,schemaPath:"#/anyOf/1/const",keyword:"const",params:{allowedValue: "none"},message:"must be equal to constant",schema:"none",parentSchema:schema45.anyOf[1],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs2 === errors;
valid0 = valid0 || _valid0;
}
if(!valid0){
const err1 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema45.anyOf,parentSchema:schema45,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate136.errors = vErrors;
return errors === 0;
}


function validate109(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((((key0 === "timeouts") || (key0 === "retries")) || (key0 === "breaker")) || (key0 === "connections")) || (key0 === "http2")) || (key0 === "tls")) || (key0 === "probe"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.timeouts !== undefined){
if(!(validate110(data.timeouts, {instancePath:instancePath+"/timeouts",parentData:data,parentDataProperty:"timeouts",rootData}))){
vErrors = vErrors === null ? validate110.errors : vErrors.concat(validate110.errors);
errors = vErrors.length;
}
}
if(data.retries !== undefined){
if(!(validate116(data.retries, {instancePath:instancePath+"/retries",parentData:data,parentDataProperty:"retries",rootData}))){
vErrors = vErrors === null ? validate116.errors : vErrors.concat(validate116.errors);
errors = vErrors.length;
}
}
if(data.breaker !== undefined){
if(!(validate120(data.breaker, {instancePath:instancePath+"/breaker",parentData:data,parentDataProperty:"breaker",rootData}))){
vErrors = vErrors === null ? validate120.errors : vErrors.concat(validate120.errors);
errors = vErrors.length;
}
}
if(data.connections !== undefined){
if(!(validate128(data.connections, {instancePath:instancePath+"/connections",parentData:data,parentDataProperty:"connections",rootData}))){
vErrors = vErrors === null ? validate128.errors : vErrors.concat(validate128.errors);
errors = vErrors.length;
}
}
if(data.http2 !== undefined){
if(!(validate36(data.http2, {instancePath:instancePath+"/http2",parentData:data,parentDataProperty:"http2",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.tls !== undefined){
if(!(validate131(data.tls, {instancePath:instancePath+"/tls",parentData:data,parentDataProperty:"tls",rootData}))){
vErrors = vErrors === null ? validate131.errors : vErrors.concat(validate131.errors);
errors = vErrors.length;
}
}
if(data.probe !== undefined){
if(!(validate136(data.probe, {instancePath:instancePath+"/probe",parentData:data,parentDataProperty:"probe",rootData}))){
vErrors = vErrors === null ? validate136.errors : vErrors.concat(validate136.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema39.type,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate109.errors = vErrors;
return errors === 0;
}

const schema47 = {"title":"KindsDefaultsConfig","type":"object","additionalProperties":false,"properties":{"chat":{"description":"Settings of chat models.","$ref":"#/definitions/kindDefaults"},"embedding":{"description":"Settings of embedding models.","$ref":"#/definitions/kindDefaults"},"rerank":{"description":"Settings of rerank models.","$ref":"#/definitions/kindDefaults"},"speech":{"description":"Settings of text-to-speech models.","$ref":"#/definitions/kindDefaults"},"transcription":{"description":"Settings of speech-to-text models.","$ref":"#/definitions/kindDefaults"},"image":{"description":"Settings of image models.","$ref":"#/definitions/kindDefaults"}}};
const schema48 = {"title":"KindDefaultsConfig","type":"object","additionalProperties":false,"properties":{"multipliers":{"description":"Factors on the quota and the charge of a request.","$ref":"#/definitions/multipliers"},"deadline":{"description":"Time for the whole chain.","$ref":"#/definitions/positiveDuration","examples":["5m"]}}};
const schema49 = {"title":"MultipliersConfig","type":"object","additionalProperties":false,"properties":{"requests":{"description":"How many requests of the daily quota one request counts as. Without it, 5 for speech, transcription and image models, and 1 for others.","$ref":"#/definitions/count","examples":[5]},"cost":{"description":"Factor on every charge of the model.","$ref":"#/definitions/money","examples":[1.5]}}};

function validate145(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "requests") || (key0 === "cost"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema49,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.requests !== undefined){
if(!(validate55(data.requests, {instancePath:instancePath+"/requests",parentData:data,parentDataProperty:"requests",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.cost !== undefined){
if(!(validate80(data.cost, {instancePath:instancePath+"/cost",parentData:data,parentDataProperty:"cost",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema49.type,parentSchema:schema49,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate145.errors = vErrors;
return errors === 0;
}


function validate144(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "multipliers") || (key0 === "deadline"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema48,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.multipliers !== undefined){
if(!(validate145(data.multipliers, {instancePath:instancePath+"/multipliers",parentData:data,parentDataProperty:"multipliers",rootData}))){
vErrors = vErrors === null ? validate145.errors : vErrors.concat(validate145.errors);
errors = vErrors.length;
}
}
if(data.deadline !== undefined){
if(!(validate48(data.deadline, {instancePath:instancePath+"/deadline",parentData:data,parentDataProperty:"deadline",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema48.type,parentSchema:schema48,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate144.errors = vErrors;
return errors === 0;
}


function validate143(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "chat") || (key0 === "embedding")) || (key0 === "rerank")) || (key0 === "speech")) || (key0 === "transcription")) || (key0 === "image"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema47,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.chat !== undefined){
if(!(validate144(data.chat, {instancePath:instancePath+"/chat",parentData:data,parentDataProperty:"chat",rootData}))){
vErrors = vErrors === null ? validate144.errors : vErrors.concat(validate144.errors);
errors = vErrors.length;
}
}
if(data.embedding !== undefined){
if(!(validate144(data.embedding, {instancePath:instancePath+"/embedding",parentData:data,parentDataProperty:"embedding",rootData}))){
vErrors = vErrors === null ? validate144.errors : vErrors.concat(validate144.errors);
errors = vErrors.length;
}
}
if(data.rerank !== undefined){
if(!(validate144(data.rerank, {instancePath:instancePath+"/rerank",parentData:data,parentDataProperty:"rerank",rootData}))){
vErrors = vErrors === null ? validate144.errors : vErrors.concat(validate144.errors);
errors = vErrors.length;
}
}
if(data.speech !== undefined){
if(!(validate144(data.speech, {instancePath:instancePath+"/speech",parentData:data,parentDataProperty:"speech",rootData}))){
vErrors = vErrors === null ? validate144.errors : vErrors.concat(validate144.errors);
errors = vErrors.length;
}
}
if(data.transcription !== undefined){
if(!(validate144(data.transcription, {instancePath:instancePath+"/transcription",parentData:data,parentDataProperty:"transcription",rootData}))){
vErrors = vErrors === null ? validate144.errors : vErrors.concat(validate144.errors);
errors = vErrors.length;
}
}
if(data.image !== undefined){
if(!(validate144(data.image, {instancePath:instancePath+"/image",parentData:data,parentDataProperty:"image",rootData}))){
vErrors = vErrors === null ? validate144.errors : vErrors.concat(validate144.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema47.type,parentSchema:schema47,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate143.errors = vErrors;
return errors === 0;
}


function validate108(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "upstream") || (key0 === "kinds"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.upstream !== undefined){
if(!(validate109(data.upstream, {instancePath:instancePath+"/upstream",parentData:data,parentDataProperty:"upstream",rootData}))){
vErrors = vErrors === null ? validate109.errors : vErrors.concat(validate109.errors);
errors = vErrors.length;
}
}
if(data.kinds !== undefined){
if(!(validate143(data.kinds, {instancePath:instancePath+"/kinds",parentData:data,parentDataProperty:"kinds",rootData}))){
vErrors = vErrors === null ? validate143.errors : vErrors.concat(validate143.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema38.type,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate108.errors = vErrors;
return errors === 0;
}

const schema50 = {"title":"UpstreamConfig","description":"One provider account or server.","type":"object","additionalProperties":false,"required":["dialect","base_url"],"properties":{"dialect":{"description":"Wire format of the upstream.","enum":["openai","anthropic","gemini","azure","bedrock","cohere","jina","voyage","elevenlabs","deepgram"]},"base_url":{"description":"Base URL that the provider's official SDK takes, with its /v1 where it has one. sim: is the built-in simulator. Vertex AI: https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google (dialect gemini) or /publishers/anthropic (dialect anthropic).","examples":["https://api.example.com/v1","https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/anthropic"],"type":"string"},"api_keys":{"description":"API keys of the provider; several share the load. sim:, addresses on loopback and the vendors ollama, vllm, lmstudio and llamacpp need none. bedrock: ACCESS_KEY_ID:SECRET[:SESSION_TOKEN] signs requests. Vertex AI: a service account's key file, ${file:PATH}, or application-default.","type":"array","items":{"type":"string"},"examples":[["${env:ALPHA_KEY}"]]},"models":{"description":"Publishes models that the provider lists, each as route/ and its name there. The provider is asked at the start, at a reload and each hour; while it does not answer, its last list stays. A model that is written out under models wins.","$ref":"#/definitions/publishing","examples":[{"include":["gpt-*"],"price":{"input_per_million":0.15,"output_per_million":0.6}}]},"forward_headers":{"description":"Names of client headers that are sent on. Credentials, cookies and headers of the connection never are. Without it, none is.","type":"array","minItems":1,"maxItems":50,"uniqueItems":true,"items":{"type":"string","pattern":"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$","examples":["x-openrouter-title"]},"examples":[["x-openrouter-title","http-referer"]]},"headers":{"description":"Further headers of every request to this upstream.","type":"object","additionalProperties":false,"patternProperties":{"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$":{"type":"string","pattern":"^[^\\u0000\\r\\n]*$","examples":["one line of text"]}},"propertyNames":{"examples":["x-team"]},"examples":[{"x-team":"search"}]},"display_name":{"description":"Name of the provider that users see. Without it, the upstream's own name.","type":"string","minLength":1,"examples":["Alpha"]},"timeouts":{"description":"How long to wait for this upstream.","$ref":"#/definitions/timeouts"},"retries":{"description":"Attempts at this upstream before the next step of the chain is tried.","$ref":"#/definitions/retries"},"breaker":{"description":"When this upstream gets no requests for a while because too many have failed.","$ref":"#/definitions/breaker"},"connections":{"description":"Connections of one process to this upstream. none: no limit; server.connections bounds them.","$ref":"#/definitions/upstreamConnections"},"concurrency":{"description":"Requests in flight from one process to this upstream, and the queue for further ones. Without it only `connections` bounds them, and no request waits.","$ref":"#/definitions/concurrency"},"http2":{"description":"true: use HTTP/2 where the upstream offers it.","$ref":"#/definitions/flag","examples":[false]},"tls":{"description":"Authorities to trust and the client certificate to show, for https:// addresses.","$ref":"#/definitions/upstreamTls"},"proxy":{"description":"Proxy for this upstream: http://[USER:PASSWORD@]HOST:PORT or https://… none: connect directly. Without it, the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide.","type":"string","minLength":1,"examples":["http://proxy.example.com:3128","none"]},"probe":{"description":"Health probe behind GET /v1/status. It is never a billed model call. none: health is what live requests show.","$ref":"#/definitions/probe","examples":[{"every":"60s","timeout":"5s"},"none"]},"vendor":{"description":"For dialect openai: whose server it is, and so which fields, efforts and limits it is sent. Without it, the host of base_url decides, else generic.","enum":["openai","mistral","deepseek","groq","openrouter","xai","moonshot","together","fireworks","cerebras","perplexity","alibaba","zai","nvidia","ollama","vllm","lmstudio","llamacpp","generic"],"examples":["mistral"]},"accepts":{"description":"What this server accepts where it differs from its vendor, for all of its models.","$ref":"#/definitions/accepts"},"api":{"description":"For dialects openai and azure: the endpoint that chats are sent to.","enum":["auto","chat","responses"]}}};
const schema51 = {"title":"PublishingConfig","description":"Which models of a provider's list an upstream publishes, and what they have in common.","type":"object","additionalProperties":false,"required":["include"],"properties":{"include":{"description":"Patterns of the provider's names of models; * matches any text, also none.","type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string","minLength":1,"examples":["gpt-*"]},"examples":[["gpt-*","o*"],["*"]]},"exclude":{"description":"Patterns of names that are not published, although `include` matches them. Without it, none.","type":"array","uniqueItems":true,"items":{"type":"string","minLength":1,"examples":["*-preview"]},"examples":[["*-preview","*-audio-*"]]},"tier":{"description":"Tier that all of them belong to. Required where tiers are defined. Without it, Open.","type":"string","examples":["Max"]},"price":{"description":"What each of them costs, in billing.currency: the units of every kind that is to be published. Default: 0 for a local server, on loopback or of vendor ollama, vllm, lmstudio or llamacpp; otherwise required.","$ref":"#/definitions/price","examples":[{"input_per_million":0.15,"output_per_million":0.6}]}}};
const schema52 = {"title":"PriceConfig","type":"object","additionalProperties":false,"properties":{"input_per_million":{"description":"Price of a million prompt tokens, in billing.currency. Chat models need it. Without it, prompt tokens are not charged.","$ref":"#/definitions/money","examples":[0.15]},"output_per_million":{"description":"Price of a million output tokens, in billing.currency. Chat models need it. Without it, output tokens are not charged.","$ref":"#/definitions/money","examples":[0.6]},"cached_input_per_million":{"description":"Price of a million prompt tokens that the provider had cached, in billing.currency. Without it, as input_per_million.","$ref":"#/definitions/money","examples":[0.075]},"cache_write_per_million":{"description":"Price of a million prompt tokens that are written to the provider's cache, in billing.currency. Without it, as input_per_million.","$ref":"#/definitions/money","examples":[0.1875]},"cache_write_1h_per_million":{"description":"Price of a million prompt tokens that are written to the provider's cache for an hour, in billing.currency. Without it, as cache_write_per_million.","$ref":"#/definitions/money","examples":[0.3]},"reasoning_per_million":{"description":"Price of a million tokens of reasoning, in billing.currency. Without it, as output_per_million.","$ref":"#/definitions/money","examples":[0.6]},"per_request":{"description":"Price of a request, in billing.currency. Without it, a request itself is not charged.","$ref":"#/definitions/money","examples":[0.002]},"per_image":{"description":"Price of an image, in billing.currency, or a map of prices by size and quality. A model whose upstream counts the tokens of images may be priced by tokens instead, or as well. Without it, images are not charged.","examples":[0.04,{"default":0.04,"1024x1536/high":0.25}],"anyOf":[{"type":"number","minimum":0,"maximum":1000000000},{"$ref":"#/definitions/imagePrice"}]},"per_second":{"description":"Price of a second of audio, in billing.currency. Without it, seconds are not charged.","$ref":"#/definitions/money","examples":[0.0001]},"per_million_characters":{"description":"Price of a million characters of text, in billing.currency. Without it, characters are not charged.","$ref":"#/definitions/money","examples":[15]},"verified_at":{"description":"Date on which you last compared these prices with the provider's. gateway check warns after 180 days. Without it, it does not.","type":"string","format":"date","examples":["2026-01-15"]}}};
const schema53 = {"title":"ImagePriceConfig","description":"Prices of an image by SIZE/QUALITY, SIZE or QUALITY, as the upstream says them or else the request; the most exact counts.","type":"object","additionalProperties":false,"required":["default"],"properties":{"default":{"description":"Price of an image of any other size and quality, in billing.currency.","$ref":"#/definitions/money","examples":[0.04]}},"patternProperties":{"^(?!default$)([1-9][0-9]{0,4}x[1-9][0-9]{0,4}(/[a-z][a-z0-9_-]{0,31})?|[a-z][a-z0-9_-]{0,31})$":{"$ref":"#/definitions/money"}},"propertyNames":{"examples":["default","1024x1536","high","1024x1536/high"]}};
const pattern21 = new RegExp("^(?!default$)([1-9][0-9]{0,4}x[1-9][0-9]{0,4}(/[a-z][a-z0-9_-]{0,31})?|[a-z][a-z0-9_-]{0,31})$", "u");

function validate168(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.default === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "default"},message:"must have required property '"+"default"+"'",schema:schema53.required,parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "default") || (pattern21.test(key0)))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.default !== undefined){
if(!(validate80(data.default, {instancePath:instancePath+"/default",parentData:data,parentDataProperty:"default",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
for(const key1 in data){
if(pattern21.test(key1)){
if(!(validate80(data[key1], {instancePath:instancePath+"/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data,parentDataProperty:key1,rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema53.type,parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate168.errors = vErrors;
return errors === 0;
}

const formats0 = require("ajv-formats/dist/formats").fullFormats.date;

function validate160(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func2.call(schema52.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema52,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.input_per_million !== undefined){
if(!(validate80(data.input_per_million, {instancePath:instancePath+"/input_per_million",parentData:data,parentDataProperty:"input_per_million",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.output_per_million !== undefined){
if(!(validate80(data.output_per_million, {instancePath:instancePath+"/output_per_million",parentData:data,parentDataProperty:"output_per_million",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.cached_input_per_million !== undefined){
if(!(validate80(data.cached_input_per_million, {instancePath:instancePath+"/cached_input_per_million",parentData:data,parentDataProperty:"cached_input_per_million",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.cache_write_per_million !== undefined){
if(!(validate80(data.cache_write_per_million, {instancePath:instancePath+"/cache_write_per_million",parentData:data,parentDataProperty:"cache_write_per_million",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.cache_write_1h_per_million !== undefined){
if(!(validate80(data.cache_write_1h_per_million, {instancePath:instancePath+"/cache_write_1h_per_million",parentData:data,parentDataProperty:"cache_write_1h_per_million",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.reasoning_per_million !== undefined){
if(!(validate80(data.reasoning_per_million, {instancePath:instancePath+"/reasoning_per_million",parentData:data,parentDataProperty:"reasoning_per_million",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.per_request !== undefined){
if(!(validate80(data.per_request, {instancePath:instancePath+"/per_request",parentData:data,parentDataProperty:"per_request",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.per_image !== undefined){
let data7 = data.per_image;
const _errs10 = errors;
let valid1 = false;
const _errs11 = errors;
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 > 1000000000 || isNaN(data7)){
const err1 = {instancePath:instancePath+"/per_image",schemaPath:"#/properties/per_image/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema52.properties.per_image.anyOf[0],data:data7};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data7 < 0 || isNaN(data7)){
const err2 = {instancePath:instancePath+"/per_image",schemaPath:"#/properties/per_image/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema52.properties.per_image.anyOf[0],data:data7};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/per_image",schemaPath:"#/properties/per_image/anyOf/0/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema52.properties.per_image.anyOf[0].type,parentSchema:schema52.properties.per_image.anyOf[0],data:data7};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs11 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs13 = errors;
if(!(validate168(data7, {instancePath:instancePath+"/per_image",parentData:data,parentDataProperty:"per_image",rootData}))){
vErrors = vErrors === null ? validate168.errors : vErrors.concat(validate168.errors);
errors = vErrors.length;
}
var _valid0 = _errs13 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err4 = {instancePath:instancePath+"/per_image",schemaPath:"#/properties/per_image/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema52.properties.per_image.anyOf,parentSchema:schema52.properties.per_image,data:data7};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs10;
if(vErrors !== null){
if(_errs10){
vErrors.length = _errs10;
}
else {
vErrors = null;
}
}
}
}
if(data.per_second !== undefined){
if(!(validate80(data.per_second, {instancePath:instancePath+"/per_second",parentData:data,parentDataProperty:"per_second",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.per_million_characters !== undefined){
if(!(validate80(data.per_million_characters, {instancePath:instancePath+"/per_million_characters",parentData:data,parentDataProperty:"per_million_characters",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.verified_at !== undefined){
let data10 = data.verified_at;
if(typeof data10 === "string"){
if(!(formats0.validate(data10))){
const err5 = {instancePath:instancePath+"/verified_at",schemaPath:"#/properties/verified_at/format",keyword:"format",params:{format: "date"},message:"must match format \""+"date"+"\"",schema:"date",parentSchema:schema52.properties.verified_at,data:data10};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/verified_at",schemaPath:"#/properties/verified_at/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema52.properties.verified_at.type,parentSchema:schema52.properties.verified_at,data:data10};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema52.type,parentSchema:schema52,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate160.errors = vErrors;
return errors === 0;
}


function validate159(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.include === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "include"},message:"must have required property '"+"include"+"'",schema:schema51.required,parentSchema:schema51,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "include") || (key0 === "exclude")) || (key0 === "tier")) || (key0 === "price"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema51,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.include !== undefined){
let data0 = data.include;
if(Array.isArray(data0)){
if(data0.length < 1){
const err2 = {instancePath:instancePath+"/include",schemaPath:"#/properties/include/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema51.properties.include,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 === "string"){
if(func3(data1) < 1){
const err3 = {instancePath:instancePath+"/include/" + i0,schemaPath:"#/properties/include/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema51.properties.include.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/include/" + i0,schemaPath:"#/properties/include/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema51.properties.include.items.type,parentSchema:schema51.properties.include.items,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
let i1 = data0.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data0[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err5 = {instancePath:instancePath+"/include",schemaPath:"#/properties/include/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema51.properties.include,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err6 = {instancePath:instancePath+"/include",schemaPath:"#/properties/include/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema51.properties.include.type,parentSchema:schema51.properties.include,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.exclude !== undefined){
let data2 = data.exclude;
if(Array.isArray(data2)){
const len1 = data2.length;
for(let i2=0; i2<len1; i2++){
let data3 = data2[i2];
if(typeof data3 === "string"){
if(func3(data3) < 1){
const err7 = {instancePath:instancePath+"/exclude/" + i2,schemaPath:"#/properties/exclude/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema51.properties.exclude.items,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/exclude/" + i2,schemaPath:"#/properties/exclude/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema51.properties.exclude.items.type,parentSchema:schema51.properties.exclude.items,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
let i3 = data2.length;
let j1;
if(i3 > 1){
const indices1 = {};
for(;i3--;){
let item1 = data2[i3];
if(typeof item1 !== "string"){
continue;
}
if(typeof indices1[item1] == "number"){
j1 = indices1[item1];
const err9 = {instancePath:instancePath+"/exclude",schemaPath:"#/properties/exclude/uniqueItems",keyword:"uniqueItems",params:{i: i3, j: j1},message:"must NOT have duplicate items (items ## "+j1+" and "+i3+" are identical)",schema:true,parentSchema:schema51.properties.exclude,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
break;
}
indices1[item1] = i3;
}
}
}
else {
const err10 = {instancePath:instancePath+"/exclude",schemaPath:"#/properties/exclude/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema51.properties.exclude.type,parentSchema:schema51.properties.exclude,data:data2};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.tier !== undefined){
let data4 = data.tier;
if(typeof data4 !== "string"){
const err11 = {instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema51.properties.tier.type,parentSchema:schema51.properties.tier,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.price !== undefined){
if(!(validate160(data.price, {instancePath:instancePath+"/price",parentData:data,parentDataProperty:"price",rootData}))){
vErrors = vErrors === null ? validate160.errors : vErrors.concat(validate160.errors);
errors = vErrors.length;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema51.type,parentSchema:schema51,data};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate159.errors = vErrors;
return errors === 0;
}

const schema54 = {"title":"ConcurrencyConfig","type":"object","additionalProperties":false,"required":["requests"],"properties":{"requests":{"description":"Requests in flight at the same time. A stream counts until it ends.","examples":[4],"type":"integer","minimum":1,"maximum":1000000},"queue":{"description":"Requests that may wait for a place, in turn by user. A request beyond them goes to the next target of the chain, or gets 503. 0: none waits.","examples":[100],"type":"integer","minimum":0,"maximum":1000000},"max_wait":{"description":"Longest time a request waits for a place.","$ref":"#/definitions/positiveDuration","examples":["30s"]}},"examples":[{"requests":4,"queue":100,"max_wait":"30s"}]};

function validate180(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.requests === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "requests"},message:"must have required property '"+"requests"+"'",schema:schema54.required,parentSchema:schema54,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "requests") || (key0 === "queue")) || (key0 === "max_wait"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema54,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.requests !== undefined){
let data0 = data.requests;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/requests",schemaPath:"#/properties/requests/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema54.properties.requests.type,parentSchema:schema54.properties.requests,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 1000000 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/requests",schemaPath:"#/properties/requests/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema54.properties.requests,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/requests",schemaPath:"#/properties/requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema54.properties.requests,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
if(data.queue !== undefined){
let data1 = data.queue;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/queue",schemaPath:"#/properties/queue/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema54.properties.queue.type,parentSchema:schema54.properties.queue,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 1000000 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/queue",schemaPath:"#/properties/queue/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema54.properties.queue,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data1 < 0 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/queue",schemaPath:"#/properties/queue/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema54.properties.queue,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.max_wait !== undefined){
if(!(validate48(data.max_wait, {instancePath:instancePath+"/max_wait",parentData:data,parentDataProperty:"max_wait",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema54.type,parentSchema:schema54,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate180.errors = vErrors;
return errors === 0;
}

const schema55 = {"title":"AcceptsConfig","description":"Single entries that stand in place of the vendor's.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"output_limit":{"description":"Name of the field that limits the tokens of an answer. Without it, the vendor's.","enum":["max_tokens","max_completion_tokens"],"examples":["max_completion_tokens"]},"efforts":{"description":"Levels of reasoning_effort. Any other level becomes the nearest one below. An empty list: the field is not sent. Without it, the vendor's.","type":"array","uniqueItems":true,"items":{"$ref":"#/definitions/effort"},"examples":[["low","medium","high"],[]]},"reasoning_echo":{"description":"Field in which the reasoning of earlier turns is sent back. Without it, the vendor's.","enum":["never","reasoning_content","reasoning_details","reasoning"],"examples":["reasoning_content"]},"unknown_fields":{"description":"true: fields of a request and of its messages that the gateway does not know are sent on. false: they are dropped and reported. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"fields":{"description":"Top-level fields, tools and betas (anthropic-beta:NAME) that would be dropped, such as those that choose another model or rate. Name them only if you trust the clients with that. Without it, none.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[^/]+$","examples":["service_tier"]},"examples":[["service_tier","provider","anthropic-beta:context-1m-2025-08-07"]]},"references":{"description":"What clients may name in a conversation besides data: URLs and URLs of public hosts: addresses of other schemes, private hosts, ids of files and of other content at the provider. * matches any text without an @ before the path. The provider reads them with your account's identity, so every client may read them. Without it, nothing else.","type":"array","uniqueItems":true,"items":{"type":"string","maxLength":1000,"pattern":"^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s\\\\@/]*(?:/[^\\s\\\\]*)?|(?!(?!arn:)[A-Za-z][A-Za-z0-9+.-]*:)(?!.*://)[^\\s\\\\@]+)$","examples":["s3://my-bucket/*","file-*"]},"examples":[["s3://my-bucket/*","file-*"]]},"stop":{"description":"Largest number of stop sequences. 0: none are sent. Without it, the vendor's.","type":"integer","minimum":0,"maximum":1000,"examples":[4]},"tool_name":{"description":"Most characters in the name of a tool. Longer names are shortened, and restored in the answer. Without it, the vendor's.","type":"integer","minimum":16,"maximum":1000,"examples":[64]},"user":{"description":"Most characters in the field user. A longer value is replaced by a digest. 0: the field is not sent. Without it, the vendor's.","type":"integer","minimum":0,"maximum":10000,"examples":[64]},"stream_options":{"description":"true: streams may be asked for their usage. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"developer_role":{"description":"false: messages of the role developer are sent as system. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[false]},"strict_tools":{"description":"true: tools may be marked strict. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"tool_call_ids":{"description":"Form of the ids of tool calls. Without it, the vendor's.","enum":["any","mistral"],"examples":["any"]},"sampling":{"description":"true: temperature, top_p and the penalties are sent. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"parts":{"description":"What messages of the user may hold besides text. Any other part becomes a text that says what it was, and is reported. Without it, what is known of the vendor.","type":"array","uniqueItems":true,"items":{"enum":["image","file","audio","video"],"examples":["image"]},"examples":[["image"],[]]},"image_urls":{"description":"false: images are sent by their content only, not by their address. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[false]},"system_role":{"description":"Where system messages may stand. Without it, the vendor's.","enum":["anywhere","front","first","user"],"examples":["first"]},"alternate":{"description":"true: consecutive messages of one role are sent as one. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"prefill":{"description":"How a conversation is sent that ends with the assistant. Without it, the vendor's.","enum":["as_is","prefix","partial","closed"],"examples":["closed"]},"cache_marks":{"description":"How a prefix is marked for the provider's prompt cache. Marks that are lost are reported. Without it, the vendor's.","enum":["none","marks","marks_with_ttl","breakpoints"],"examples":["marks"]},"verbosity":{"description":"true: the levels of verbosity are sent. Without it, what is known of the vendor.","$ref":"#/definitions/flag","examples":[true]},"max_tools":{"description":"Largest number of tools. Of a longer list the tools that were called are sent, then the first ones; the others are reported. Without it, the vendor's.","type":"integer","minimum":1,"maximum":10000,"examples":[128]},"max_output":{"description":"Largest number of output tokens that may be asked for. A larger wish is lowered, and reported. Without it, the vendor's.","$ref":"#/definitions/count","examples":[16384]},"schema_keywords":{"description":"Keywords of JSON Schema, beyond the common ones, that a schema for structured output may have. Without it, what is known of the vendor.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[$A-Za-z][A-Za-z0-9]*$","examples":["minLength"]},"examples":[["minLength","pattern"]]}}};
const func0 = require("ajv/dist/runtime/equal").default;
const schema56 = {"enum":["none","minimal","low","medium","high","xhigh","max"],"examples":["low"]};

function validate187(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((((((data === "none") || (data === "minimal")) || (data === "low")) || (data === "medium")) || (data === "high")) || (data === "xhigh")) || (data === "max"))){
const err0 = {instancePath,schemaPath:"#/enum",keyword:"enum",params:{allowedValues: schema56.enum},message:"must be equal to one of the allowed values",schema:schema56.enum,parentSchema:schema56,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate187.errors = vErrors;
return errors === 0;
}

const pattern27 = new RegExp("^[^/]+$", "u");
const pattern28 = new RegExp("^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s\\\\@/]*(?:/[^\\s\\\\]*)?|(?!(?!arn:)[A-Za-z][A-Za-z0-9+.-]*:)(?!.*://)[^\\s\\\\@]+)$", "u");
const pattern29 = new RegExp("^[$A-Za-z][A-Za-z0-9]*$", "u");

function validate186(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema55,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema55.properties, key0))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema55,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.output_limit !== undefined){
let data0 = data.output_limit;
if(!((data0 === "max_tokens") || (data0 === "max_completion_tokens"))){
const err2 = {instancePath:instancePath+"/output_limit",schemaPath:"#/properties/output_limit/enum",keyword:"enum",params:{allowedValues: schema55.properties.output_limit.enum},message:"must be equal to one of the allowed values",schema:schema55.properties.output_limit.enum,parentSchema:schema55.properties.output_limit,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.efforts !== undefined){
let data1 = data.efforts;
if(Array.isArray(data1)){
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
if(!(validate187(data1[i0], {instancePath:instancePath+"/efforts/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate187.errors : vErrors.concat(validate187.errors);
errors = vErrors.length;
}
}
let i1 = data1.length;
let j0;
if(i1 > 1){
outer0:
for(;i1--;){
for(j0 = i1; j0--;){
if(func0(data1[i1], data1[j0])){
const err3 = {instancePath:instancePath+"/efforts",schemaPath:"#/properties/efforts/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema55.properties.efforts,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
break outer0;
}
}
}
}
}
else {
const err4 = {instancePath:instancePath+"/efforts",schemaPath:"#/properties/efforts/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema55.properties.efforts.type,parentSchema:schema55.properties.efforts,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.reasoning_echo !== undefined){
let data3 = data.reasoning_echo;
if(!((((data3 === "never") || (data3 === "reasoning_content")) || (data3 === "reasoning_details")) || (data3 === "reasoning"))){
const err5 = {instancePath:instancePath+"/reasoning_echo",schemaPath:"#/properties/reasoning_echo/enum",keyword:"enum",params:{allowedValues: schema55.properties.reasoning_echo.enum},message:"must be equal to one of the allowed values",schema:schema55.properties.reasoning_echo.enum,parentSchema:schema55.properties.reasoning_echo,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.unknown_fields !== undefined){
if(!(validate36(data.unknown_fields, {instancePath:instancePath+"/unknown_fields",parentData:data,parentDataProperty:"unknown_fields",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.fields !== undefined){
let data5 = data.fields;
if(Array.isArray(data5)){
const len1 = data5.length;
for(let i2=0; i2<len1; i2++){
let data6 = data5[i2];
if(typeof data6 === "string"){
if(!pattern27.test(data6)){
const err6 = {instancePath:instancePath+"/fields/" + i2,schemaPath:"#/properties/fields/items/pattern",keyword:"pattern",params:{pattern: "^[^/]+$"},message:"must match pattern \""+"^[^/]+$"+"\"",schema:"^[^/]+$",parentSchema:schema55.properties.fields.items,data:data6};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/fields/" + i2,schemaPath:"#/properties/fields/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema55.properties.fields.items.type,parentSchema:schema55.properties.fields.items,data:data6};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
let i3 = data5.length;
let j1;
if(i3 > 1){
const indices0 = {};
for(;i3--;){
let item0 = data5[i3];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j1 = indices0[item0];
const err8 = {instancePath:instancePath+"/fields",schemaPath:"#/properties/fields/uniqueItems",keyword:"uniqueItems",params:{i: i3, j: j1},message:"must NOT have duplicate items (items ## "+j1+" and "+i3+" are identical)",schema:true,parentSchema:schema55.properties.fields,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
break;
}
indices0[item0] = i3;
}
}
}
else {
const err9 = {instancePath:instancePath+"/fields",schemaPath:"#/properties/fields/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema55.properties.fields.type,parentSchema:schema55.properties.fields,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.references !== undefined){
let data7 = data.references;
if(Array.isArray(data7)){
const len2 = data7.length;
for(let i4=0; i4<len2; i4++){
let data8 = data7[i4];
if(typeof data8 === "string"){
if(func3(data8) > 1000){
const err10 = {instancePath:instancePath+"/references/" + i4,schemaPath:"#/properties/references/items/maxLength",keyword:"maxLength",params:{limit: 1000},message:"must NOT have more than 1000 characters",schema:1000,parentSchema:schema55.properties.references.items,data:data8};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(!pattern28.test(data8)){
const err11 = {instancePath:instancePath+"/references/" + i4,schemaPath:"#/properties/references/items/pattern",keyword:"pattern",params:{pattern: "^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s\\\\@/]*(?:/[^\\s\\\\]*)?|(?!(?!arn:)[A-Za-z][A-Za-z0-9+.-]*:)(?!.*://)[^\\s\\\\@]+)$"},message:"must match pattern \""+"^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s\\\\@/]*(?:/[^\\s\\\\]*)?|(?!(?!arn:)[A-Za-z][A-Za-z0-9+.-]*:)(?!.*://)[^\\s\\\\@]+)$"+"\"",schema:"^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s\\\\@/]*(?:/[^\\s\\\\]*)?|(?!(?!arn:)[A-Za-z][A-Za-z0-9+.-]*:)(?!.*://)[^\\s\\\\@]+)$",parentSchema:schema55.properties.references.items,data:data8};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/references/" + i4,schemaPath:"#/properties/references/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema55.properties.references.items.type,parentSchema:schema55.properties.references.items,data:data8};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
let i5 = data7.length;
let j2;
if(i5 > 1){
const indices1 = {};
for(;i5--;){
let item1 = data7[i5];
if(typeof item1 !== "string"){
continue;
}
if(typeof indices1[item1] == "number"){
j2 = indices1[item1];
const err13 = {instancePath:instancePath+"/references",schemaPath:"#/properties/references/uniqueItems",keyword:"uniqueItems",params:{i: i5, j: j2},message:"must NOT have duplicate items (items ## "+j2+" and "+i5+" are identical)",schema:true,parentSchema:schema55.properties.references,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
break;
}
indices1[item1] = i5;
}
}
}
else {
const err14 = {instancePath:instancePath+"/references",schemaPath:"#/properties/references/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema55.properties.references.type,parentSchema:schema55.properties.references,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.stop !== undefined){
let data9 = data.stop;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err15 = {instancePath:instancePath+"/stop",schemaPath:"#/properties/stop/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema55.properties.stop.type,parentSchema:schema55.properties.stop,data:data9};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 > 1000 || isNaN(data9)){
const err16 = {instancePath:instancePath+"/stop",schemaPath:"#/properties/stop/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000",schema:1000,parentSchema:schema55.properties.stop,data:data9};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data9 < 0 || isNaN(data9)){
const err17 = {instancePath:instancePath+"/stop",schemaPath:"#/properties/stop/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema55.properties.stop,data:data9};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
if(data.tool_name !== undefined){
let data10 = data.tool_name;
if(!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))){
const err18 = {instancePath:instancePath+"/tool_name",schemaPath:"#/properties/tool_name/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema55.properties.tool_name.type,parentSchema:schema55.properties.tool_name,data:data10};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 > 1000 || isNaN(data10)){
const err19 = {instancePath:instancePath+"/tool_name",schemaPath:"#/properties/tool_name/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000",schema:1000,parentSchema:schema55.properties.tool_name,data:data10};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(data10 < 16 || isNaN(data10)){
const err20 = {instancePath:instancePath+"/tool_name",schemaPath:"#/properties/tool_name/minimum",keyword:"minimum",params:{comparison: ">=", limit: 16},message:"must be >= 16",schema:16,parentSchema:schema55.properties.tool_name,data:data10};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
if(data.user !== undefined){
let data11 = data.user;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
const err21 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema55.properties.user.type,parentSchema:schema55.properties.user,data:data11};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 10000 || isNaN(data11)){
const err22 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000},message:"must be <= 10000",schema:10000,parentSchema:schema55.properties.user,data:data11};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(data11 < 0 || isNaN(data11)){
const err23 = {instancePath:instancePath+"/user",schemaPath:"#/properties/user/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema55.properties.user,data:data11};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
if(data.stream_options !== undefined){
if(!(validate36(data.stream_options, {instancePath:instancePath+"/stream_options",parentData:data,parentDataProperty:"stream_options",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.developer_role !== undefined){
if(!(validate36(data.developer_role, {instancePath:instancePath+"/developer_role",parentData:data,parentDataProperty:"developer_role",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.strict_tools !== undefined){
if(!(validate36(data.strict_tools, {instancePath:instancePath+"/strict_tools",parentData:data,parentDataProperty:"strict_tools",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.tool_call_ids !== undefined){
let data15 = data.tool_call_ids;
if(!((data15 === "any") || (data15 === "mistral"))){
const err24 = {instancePath:instancePath+"/tool_call_ids",schemaPath:"#/properties/tool_call_ids/enum",keyword:"enum",params:{allowedValues: schema55.properties.tool_call_ids.enum},message:"must be equal to one of the allowed values",schema:schema55.properties.tool_call_ids.enum,parentSchema:schema55.properties.tool_call_ids,data:data15};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.sampling !== undefined){
if(!(validate36(data.sampling, {instancePath:instancePath+"/sampling",parentData:data,parentDataProperty:"sampling",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.parts !== undefined){
let data17 = data.parts;
if(Array.isArray(data17)){
const len3 = data17.length;
for(let i6=0; i6<len3; i6++){
let data18 = data17[i6];
if(!((((data18 === "image") || (data18 === "file")) || (data18 === "audio")) || (data18 === "video"))){
const err25 = {instancePath:instancePath+"/parts/" + i6,schemaPath:"#/properties/parts/items/enum",keyword:"enum",params:{allowedValues: schema55.properties.parts.items.enum},message:"must be equal to one of the allowed values",schema:schema55.properties.parts.items.enum,parentSchema:schema55.properties.parts.items,data:data18};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
let i7 = data17.length;
let j3;
if(i7 > 1){
outer1:
for(;i7--;){
for(j3 = i7; j3--;){
if(func0(data17[i7], data17[j3])){
const err26 = {instancePath:instancePath+"/parts",schemaPath:"#/properties/parts/uniqueItems",keyword:"uniqueItems",params:{i: i7, j: j3},message:"must NOT have duplicate items (items ## "+j3+" and "+i7+" are identical)",schema:true,parentSchema:schema55.properties.parts,data:data17};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
break outer1;
}
}
}
}
}
else {
const err27 = {instancePath:instancePath+"/parts",schemaPath:"#/properties/parts/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema55.properties.parts.type,parentSchema:schema55.properties.parts,data:data17};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.image_urls !== undefined){
if(!(validate36(data.image_urls, {instancePath:instancePath+"/image_urls",parentData:data,parentDataProperty:"image_urls",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.system_role !== undefined){
let data20 = data.system_role;
if(!((((data20 === "anywhere") || (data20 === "front")) || (data20 === "first")) || (data20 === "user"))){
const err28 = {instancePath:instancePath+"/system_role",schemaPath:"#/properties/system_role/enum",keyword:"enum",params:{allowedValues: schema55.properties.system_role.enum},message:"must be equal to one of the allowed values",schema:schema55.properties.system_role.enum,parentSchema:schema55.properties.system_role,data:data20};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data.alternate !== undefined){
if(!(validate36(data.alternate, {instancePath:instancePath+"/alternate",parentData:data,parentDataProperty:"alternate",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.prefill !== undefined){
let data22 = data.prefill;
if(!((((data22 === "as_is") || (data22 === "prefix")) || (data22 === "partial")) || (data22 === "closed"))){
const err29 = {instancePath:instancePath+"/prefill",schemaPath:"#/properties/prefill/enum",keyword:"enum",params:{allowedValues: schema55.properties.prefill.enum},message:"must be equal to one of the allowed values",schema:schema55.properties.prefill.enum,parentSchema:schema55.properties.prefill,data:data22};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data.cache_marks !== undefined){
let data23 = data.cache_marks;
if(!((((data23 === "none") || (data23 === "marks")) || (data23 === "marks_with_ttl")) || (data23 === "breakpoints"))){
const err30 = {instancePath:instancePath+"/cache_marks",schemaPath:"#/properties/cache_marks/enum",keyword:"enum",params:{allowedValues: schema55.properties.cache_marks.enum},message:"must be equal to one of the allowed values",schema:schema55.properties.cache_marks.enum,parentSchema:schema55.properties.cache_marks,data:data23};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data.verbosity !== undefined){
if(!(validate36(data.verbosity, {instancePath:instancePath+"/verbosity",parentData:data,parentDataProperty:"verbosity",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.max_tools !== undefined){
let data25 = data.max_tools;
if(!(((typeof data25 == "number") && (!(data25 % 1) && !isNaN(data25))) && (isFinite(data25)))){
const err31 = {instancePath:instancePath+"/max_tools",schemaPath:"#/properties/max_tools/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema55.properties.max_tools.type,parentSchema:schema55.properties.max_tools,data:data25};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
if((typeof data25 == "number") && (isFinite(data25))){
if(data25 > 10000 || isNaN(data25)){
const err32 = {instancePath:instancePath+"/max_tools",schemaPath:"#/properties/max_tools/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000},message:"must be <= 10000",schema:10000,parentSchema:schema55.properties.max_tools,data:data25};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if(data25 < 1 || isNaN(data25)){
const err33 = {instancePath:instancePath+"/max_tools",schemaPath:"#/properties/max_tools/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema55.properties.max_tools,data:data25};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
}
if(data.max_output !== undefined){
if(!(validate55(data.max_output, {instancePath:instancePath+"/max_output",parentData:data,parentDataProperty:"max_output",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.schema_keywords !== undefined){
let data27 = data.schema_keywords;
if(Array.isArray(data27)){
const len4 = data27.length;
for(let i8=0; i8<len4; i8++){
let data28 = data27[i8];
if(typeof data28 === "string"){
if(!pattern29.test(data28)){
const err34 = {instancePath:instancePath+"/schema_keywords/" + i8,schemaPath:"#/properties/schema_keywords/items/pattern",keyword:"pattern",params:{pattern: "^[$A-Za-z][A-Za-z0-9]*$"},message:"must match pattern \""+"^[$A-Za-z][A-Za-z0-9]*$"+"\"",schema:"^[$A-Za-z][A-Za-z0-9]*$",parentSchema:schema55.properties.schema_keywords.items,data:data28};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
else {
const err35 = {instancePath:instancePath+"/schema_keywords/" + i8,schemaPath:"#/properties/schema_keywords/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema55.properties.schema_keywords.items.type,parentSchema:schema55.properties.schema_keywords.items,data:data28};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
let i9 = data27.length;
let j4;
if(i9 > 1){
const indices2 = {};
for(;i9--;){
let item2 = data27[i9];
if(typeof item2 !== "string"){
continue;
}
if(typeof indices2[item2] == "number"){
j4 = indices2[item2];
const err36 = {instancePath:instancePath+"/schema_keywords",schemaPath:"#/properties/schema_keywords/uniqueItems",keyword:"uniqueItems",params:{i: i9, j: j4},message:"must NOT have duplicate items (items ## "+j4+" and "+i9+" are identical)",schema:true,parentSchema:schema55.properties.schema_keywords,data:data27};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
break;
}
indices2[item2] = i9;
}
}
}
else {
const err37 = {instancePath:instancePath+"/schema_keywords",schemaPath:"#/properties/schema_keywords/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema55.properties.schema_keywords.type,parentSchema:schema55.properties.schema_keywords,data:data27};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
else {
const err38 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema55.type,parentSchema:schema55,data};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
validate186.errors = vErrors;
return errors === 0;
}

const pattern23 = new RegExp("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "u");
const pattern26 = new RegExp("^[^\\u0000\\r\\n]*$", "u");

function validate158(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.dialect === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "dialect"},message:"must have required property '"+"dialect"+"'",schema:schema50.required,parentSchema:schema50,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.base_url === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "base_url"},message:"must have required property '"+"base_url"+"'",schema:schema50.required,parentSchema:schema50,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema50.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema50,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.dialect !== undefined){
let data0 = data.dialect;
if(!((((((((((data0 === "openai") || (data0 === "anthropic")) || (data0 === "gemini")) || (data0 === "azure")) || (data0 === "bedrock")) || (data0 === "cohere")) || (data0 === "jina")) || (data0 === "voyage")) || (data0 === "elevenlabs")) || (data0 === "deepgram"))){
const err3 = {instancePath:instancePath+"/dialect",schemaPath:"#/properties/dialect/enum",keyword:"enum",params:{allowedValues: schema50.properties.dialect.enum},message:"must be equal to one of the allowed values",schema:schema50.properties.dialect.enum,parentSchema:schema50.properties.dialect,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.base_url !== undefined){
let data1 = data.base_url;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/base_url",schemaPath:"#/properties/base_url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema50.properties.base_url.type,parentSchema:schema50.properties.base_url,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.api_keys !== undefined){
let data2 = data.api_keys;
if(Array.isArray(data2)){
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/api_keys/" + i0,schemaPath:"#/properties/api_keys/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema50.properties.api_keys.items.type,parentSchema:schema50.properties.api_keys.items,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath:instancePath+"/api_keys",schemaPath:"#/properties/api_keys/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema50.properties.api_keys.type,parentSchema:schema50.properties.api_keys,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.models !== undefined){
if(!(validate159(data.models, {instancePath:instancePath+"/models",parentData:data,parentDataProperty:"models",rootData}))){
vErrors = vErrors === null ? validate159.errors : vErrors.concat(validate159.errors);
errors = vErrors.length;
}
}
if(data.forward_headers !== undefined){
let data5 = data.forward_headers;
if(Array.isArray(data5)){
if(data5.length > 50){
const err7 = {instancePath:instancePath+"/forward_headers",schemaPath:"#/properties/forward_headers/maxItems",keyword:"maxItems",params:{limit: 50},message:"must NOT have more than 50 items",schema:50,parentSchema:schema50.properties.forward_headers,data:data5};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data5.length < 1){
const err8 = {instancePath:instancePath+"/forward_headers",schemaPath:"#/properties/forward_headers/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema50.properties.forward_headers,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const len1 = data5.length;
for(let i1=0; i1<len1; i1++){
let data6 = data5[i1];
if(typeof data6 === "string"){
if(!pattern23.test(data6)){
const err9 = {instancePath:instancePath+"/forward_headers/" + i1,schemaPath:"#/properties/forward_headers/items/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"},message:"must match pattern \""+"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"+"\"",schema:"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",parentSchema:schema50.properties.forward_headers.items,data:data6};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/forward_headers/" + i1,schemaPath:"#/properties/forward_headers/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema50.properties.forward_headers.items.type,parentSchema:schema50.properties.forward_headers.items,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
let i2 = data5.length;
let j0;
if(i2 > 1){
const indices0 = {};
for(;i2--;){
let item0 = data5[i2];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err11 = {instancePath:instancePath+"/forward_headers",schemaPath:"#/properties/forward_headers/uniqueItems",keyword:"uniqueItems",params:{i: i2, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i2+" are identical)",schema:true,parentSchema:schema50.properties.forward_headers,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
break;
}
indices0[item0] = i2;
}
}
}
else {
const err12 = {instancePath:instancePath+"/forward_headers",schemaPath:"#/properties/forward_headers/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema50.properties.forward_headers.type,parentSchema:schema50.properties.forward_headers,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.headers !== undefined){
let data7 = data.headers;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
for(const key1 in data7){
if(!(pattern23.test(key1))){
const err13 = {instancePath:instancePath+"/headers",schemaPath:"#/properties/headers/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema50.properties.headers,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
for(const key2 in data7){
if(pattern23.test(key2)){
let data8 = data7[key2];
if(typeof data8 === "string"){
if(!pattern26.test(data8)){
const err14 = {instancePath:instancePath+"/headers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/headers/patternProperties/%5E%5BA-Za-z0-9!%23%24%25%26'*%2B.%5E_%60%7C~0-%5D%2B%24/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000\\r\\n]*$"},message:"must match pattern \""+"^[^\\u0000\\r\\n]*$"+"\"",schema:"^[^\\u0000\\r\\n]*$",parentSchema:schema50.properties.headers.patternProperties["^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"],data:data8};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/headers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/headers/patternProperties/%5E%5BA-Za-z0-9!%23%24%25%26'*%2B.%5E_%60%7C~0-%5D%2B%24/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema50.properties.headers.patternProperties["^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"].type,parentSchema:schema50.properties.headers.patternProperties["^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"],data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
}
else {
const err16 = {instancePath:instancePath+"/headers",schemaPath:"#/properties/headers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema50.properties.headers.type,parentSchema:schema50.properties.headers,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.display_name !== undefined){
let data9 = data.display_name;
if(typeof data9 === "string"){
if(func3(data9) < 1){
const err17 = {instancePath:instancePath+"/display_name",schemaPath:"#/properties/display_name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema50.properties.display_name,data:data9};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
else {
const err18 = {instancePath:instancePath+"/display_name",schemaPath:"#/properties/display_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema50.properties.display_name.type,parentSchema:schema50.properties.display_name,data:data9};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.timeouts !== undefined){
if(!(validate110(data.timeouts, {instancePath:instancePath+"/timeouts",parentData:data,parentDataProperty:"timeouts",rootData}))){
vErrors = vErrors === null ? validate110.errors : vErrors.concat(validate110.errors);
errors = vErrors.length;
}
}
if(data.retries !== undefined){
if(!(validate116(data.retries, {instancePath:instancePath+"/retries",parentData:data,parentDataProperty:"retries",rootData}))){
vErrors = vErrors === null ? validate116.errors : vErrors.concat(validate116.errors);
errors = vErrors.length;
}
}
if(data.breaker !== undefined){
if(!(validate120(data.breaker, {instancePath:instancePath+"/breaker",parentData:data,parentDataProperty:"breaker",rootData}))){
vErrors = vErrors === null ? validate120.errors : vErrors.concat(validate120.errors);
errors = vErrors.length;
}
}
if(data.connections !== undefined){
if(!(validate128(data.connections, {instancePath:instancePath+"/connections",parentData:data,parentDataProperty:"connections",rootData}))){
vErrors = vErrors === null ? validate128.errors : vErrors.concat(validate128.errors);
errors = vErrors.length;
}
}
if(data.concurrency !== undefined){
if(!(validate180(data.concurrency, {instancePath:instancePath+"/concurrency",parentData:data,parentDataProperty:"concurrency",rootData}))){
vErrors = vErrors === null ? validate180.errors : vErrors.concat(validate180.errors);
errors = vErrors.length;
}
}
if(data.http2 !== undefined){
if(!(validate36(data.http2, {instancePath:instancePath+"/http2",parentData:data,parentDataProperty:"http2",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.tls !== undefined){
if(!(validate131(data.tls, {instancePath:instancePath+"/tls",parentData:data,parentDataProperty:"tls",rootData}))){
vErrors = vErrors === null ? validate131.errors : vErrors.concat(validate131.errors);
errors = vErrors.length;
}
}
if(data.proxy !== undefined){
let data17 = data.proxy;
if(typeof data17 === "string"){
if(func3(data17) < 1){
const err19 = {instancePath:instancePath+"/proxy",schemaPath:"#/properties/proxy/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema50.properties.proxy,data:data17};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
else {
const err20 = {instancePath:instancePath+"/proxy",schemaPath:"#/properties/proxy/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema50.properties.proxy.type,parentSchema:schema50.properties.proxy,data:data17};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.probe !== undefined){
if(!(validate136(data.probe, {instancePath:instancePath+"/probe",parentData:data,parentDataProperty:"probe",rootData}))){
vErrors = vErrors === null ? validate136.errors : vErrors.concat(validate136.errors);
errors = vErrors.length;
}
}
if(data.vendor !== undefined){
let data19 = data.vendor;
if(!(((((((((((((((((((data19 === "openai") || (data19 === "mistral")) || (data19 === "deepseek")) || (data19 === "groq")) || (data19 === "openrouter")) || (data19 === "xai")) || (data19 === "moonshot")) || (data19 === "together")) || (data19 === "fireworks")) || (data19 === "cerebras")) || (data19 === "perplexity")) || (data19 === "alibaba")) || (data19 === "zai")) || (data19 === "nvidia")) || (data19 === "ollama")) || (data19 === "vllm")) || (data19 === "lmstudio")) || (data19 === "llamacpp")) || (data19 === "generic"))){
const err21 = {instancePath:instancePath+"/vendor",schemaPath:"#/properties/vendor/enum",keyword:"enum",params:{allowedValues: schema50.properties.vendor.enum},message:"must be equal to one of the allowed values",schema:schema50.properties.vendor.enum,parentSchema:schema50.properties.vendor,data:data19};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.accepts !== undefined){
if(!(validate186(data.accepts, {instancePath:instancePath+"/accepts",parentData:data,parentDataProperty:"accepts",rootData}))){
vErrors = vErrors === null ? validate186.errors : vErrors.concat(validate186.errors);
errors = vErrors.length;
}
}
if(data.api !== undefined){
let data21 = data.api;
if(!(((data21 === "auto") || (data21 === "chat")) || (data21 === "responses"))){
const err22 = {instancePath:instancePath+"/api",schemaPath:"#/properties/api/enum",keyword:"enum",params:{allowedValues: schema50.properties.api.enum},message:"must be equal to one of the allowed values",schema:schema50.properties.api.enum,parentSchema:schema50.properties.api,data:data21};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema50.type,parentSchema:schema50,data};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
validate158.errors = vErrors;
return errors === 0;
}

const schema57 = {"title":"ModelConfig","description":"A model as clients see it, and the chain of upstreams behind it.","type":"object","additionalProperties":false,"required":["kind","chain"],"properties":{"kind":{"description":"What the model does, and so which endpoint serves it.","enum":["chat","embedding","rerank","speech","transcription","image"]},"tier":{"description":"Tier of the model. Plans list the tiers that they may call. Required where tiers are defined. Without it, Open.","type":"string","examples":["Free"]},"display_name":{"description":"Name in the pricing table. Without it, the id without route/.","type":"string","minLength":1,"examples":["Swift Mini"]},"owned_by":{"description":"Owner that the catalogue shows, usually the vendor of the model. Without it, the name of the upstream that the chain tries first.","type":"string","minLength":1,"examples":["aurora"]},"created":{"description":"Date of the model, for the catalogue. Without it, 1970-01-01.","type":"string","format":"date","examples":["2026-01-15"]},"deprecated_at":{"description":"Date from which nobody should begin to use the model. Answers carry it in a Deprecation header. A date begins in UTC. Without it, the model is not deprecated.","$ref":"#/definitions/moment","examples":["2027-01-15","2027-01-15T12:00:00Z"]},"sunset_at":{"description":"Date from which the model is gone, or its successor serves. Answers carry it in a Sunset header. Without it, the model stays.","$ref":"#/definitions/moment","examples":["2027-04-15","2027-04-15T12:00:00Z"]},"successor":{"description":"Model that serves the requests after sunset_at, under its own name, plan and price. Without it, the model is gone.","type":"string","minLength":1,"examples":["route/swift"]},"published":{"description":"false: the model can be called by plan, and is not listed.","$ref":"#/definitions/flag","examples":[false]},"context_window":{"description":"Tokens of prompt and answer together. Without it, the provider's own limit applies.","$ref":"#/definitions/count","examples":[128000]},"max_output":{"description":"Most tokens of an answer. A client's larger limit is lowered to it, and X-Gateway-Dropped says so. It is also sent where an upstream needs a limit and the client gives none. Without it, the provider's own limit applies.","$ref":"#/definitions/count","examples":[16384]},"features":{"description":"What the model promises, for example tools, vision, reasoning, documents, json_schema. gateway check compares it with what each step's dialect can do.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[a-z][a-z0-9_-]*$","examples":["tools"]},"examples":[["tools","vision"]]},"voices":{"description":"Voices of a speech model. Others are refused. Empty: the upstream decides.","type":"array","uniqueItems":true,"items":{"type":"string","minLength":1},"examples":[["alba","breeze"]]},"realtime":{"description":"true: a model for live streams. POST /v1/audio/transcriptions refuses it.","$ref":"#/definitions/flag","examples":[true]},"strict":{"description":"true: a request that an upstream's dialect cannot express is refused. false: the field is dropped, and reported.","$ref":"#/definitions/flag","examples":[true]},"price":{"description":"Prices in billing.currency. A free model has prices of 0: they must be written. Without it, 0 if every target of the chain is a local server (on loopback, or of vendor ollama, vllm, lmstudio or llamacpp); otherwise an error.","$ref":"#/definitions/price","examples":[{"input_per_million":0.15,"output_per_million":0.6}]},"multipliers":{"description":"Factors on the quota and the charge of a request.","$ref":"#/definitions/multipliers"},"deadline":{"description":"Time for the whole chain.","$ref":"#/definitions/positiveDuration","examples":["5m"]},"fail_over_on":{"description":"Refusals after which the next step of the chain is tried. A step may set its own.","$ref":"#/definitions/failOverOn"},"chain":{"description":"Upstreams of the model, tried in this order until one serves.","type":"array","minItems":1,"items":{"$ref":"#/definitions/chainStep"},"examples":[[{"upstream":"alpha","model":"alpha-mini-1"}]]}}};
const schema58 = {"description":"A date, or a date and a time.","anyOf":[{"type":"string","format":"date","examples":["2027-01-15"]},{"type":"string","format":"date-time","examples":["2027-01-15T12:00:00Z"]}]};
const formats6 = require("ajv-formats/dist/formats").fullFormats["date-time"];

function validate201(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(typeof data === "string"){
if(!(formats0.validate(data))){
const err0 = {instancePath,schemaPath:"#/anyOf/0/format",keyword:"format",params:{format: "date"},message:"must match format \""+"date"+"\"",schema:"date",parentSchema:schema58.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema58.anyOf[0].type,parentSchema:schema58.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const _errs3 = errors;
if(typeof data === "string"){
if(!(formats6.validate(data))){
const err2 = {instancePath,schemaPath:"#/anyOf/1/format",keyword:"format",params:{format: "date-time"},message:"must match format \""+"date-time"+"\"",schema:"date-time",parentSchema:schema58.anyOf[1],data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema58.anyOf[1].type,parentSchema:schema58.anyOf[1],data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
}
if(!valid0){
const err4 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema58.anyOf,parentSchema:schema58,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate201.errors = vErrors;
return errors === 0;
}

const schema59 = {"title":"FailOverOn","description":"content_filter: the provider's content filter refused. Without it that is the client's 400.","type":"array","uniqueItems":true,"items":{"enum":["content_filter"],"examples":["content_filter"]},"examples":[["content_filter"]]};

function validate212(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(Array.isArray(data)){
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if(!(data0 === "content_filter")){
const err0 = {instancePath:instancePath+"/" + i0,schemaPath:"#/items/enum",keyword:"enum",params:{allowedValues: schema59.items.enum},message:"must be equal to one of the allowed values",schema:schema59.items.enum,parentSchema:schema59.items,data:data0};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
let i1 = data.length;
let j0;
if(i1 > 1){
outer0:
for(;i1--;){
for(j0 = i1; j0--;){
if(func0(data[i1], data[j0])){
const err1 = {instancePath,schemaPath:"#/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema59,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
break outer0;
}
}
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema59.type,parentSchema:schema59,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate212.errors = vErrors;
return errors === 0;
}

const schema60 = {"oneOf":[{"$ref":"#/definitions/target"},{"$ref":"#/definitions/balancedStep"}]};
const schema61 = {"title":"TargetConfig","type":"object","additionalProperties":false,"required":["upstream","model"],"properties":{"upstream":{"description":"Name of an upstream, as under upstreams.","type":"string","examples":["alpha"]},"model":{"description":"The upstream's own name of the model.","type":"string","minLength":1,"examples":["alpha-mini-1"]},"weight":{"description":"Weight among the targets of a balanced step: a target of weight 3 gets three times the requests of one of weight 1. 0: none.","examples":[3],"type":"number","minimum":0,"maximum":1000000},"timeouts":{"description":"How long to wait, where this step differs from its upstream.","$ref":"#/definitions/timeouts"},"context_window":{"description":"Tokens of prompt and answer together, where this step differs from the model. Without it, the model's.","$ref":"#/definitions/count","examples":[64000]},"features":{"description":"What this step can do, where it differs from the model. Without it, the model's.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[a-z][a-z0-9_-]*$","examples":["tools"]},"examples":[["tools"]]},"fail_over_on":{"description":"Refusals of this step after which the next one is tried. Without it, the model's.","$ref":"#/definitions/failOverOn"},"cost":{"description":"What the provider charges you, in billing.currency. gateway check warns if the model's price is below it.","$ref":"#/definitions/price","examples":[{"input_per_million":0.1,"output_per_million":0.4,"verified_at":"2026-01-15"}]},"parameters":{"description":"Changes to the body that is sent, in the upstream's own dialect, after everything else.","$ref":"#/definitions/parameters","examples":[{"set":{"/safe_prompt":true}}]}}};
const schema62 = {"title":"ParametersConfig","description":"By JSON pointers into the upstream's body; removed first, then renamed, then set.","type":"object","additionalProperties":false,"minProperties":1,"properties":{"set":{"description":"Values by JSON pointer. Missing parents become maps, never lists.","type":"object","additionalProperties":false,"patternProperties":{"^(/([^/~]|~[01])*)+$":{}},"examples":[{"/safe_prompt":true}],"propertyNames":{"examples":["/safe_prompt","/extra_body/region"]}},"remove":{"description":"JSON pointers of fields to remove. A field that is not there is no error.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^(/([^/~]|~[01])*)+$","examples":["/logit_bias"]},"examples":[["/logit_bias"]]},"rename":{"description":"New names by JSON pointer, in the same map. A field that is not there is no error.","type":"object","additionalProperties":false,"patternProperties":{"^(/([^/~]|~[01])*)+$":{"type":"string","pattern":"^[^/~]+$","examples":["max_completion_tokens"]}},"examples":[{"/max_tokens":"max_completion_tokens"}],"propertyNames":{"examples":["/max_tokens"]}}}};
const pattern34 = new RegExp("^(/([^/~]|~[01])*)+$", "u");
const pattern38 = new RegExp("^[^/~]+$", "u");

function validate220(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema62,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "set") || (key0 === "remove")) || (key0 === "rename"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema62,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.set !== undefined){
let data0 = data.set;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key1 in data0){
if(!(pattern34.test(key1))){
const err2 = {instancePath:instancePath+"/set",schemaPath:"#/properties/set/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema62.properties.set,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath:instancePath+"/set",schemaPath:"#/properties/set/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema62.properties.set.type,parentSchema:schema62.properties.set,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.remove !== undefined){
let data1 = data.remove;
if(Array.isArray(data1)){
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(typeof data2 === "string"){
if(!pattern34.test(data2)){
const err4 = {instancePath:instancePath+"/remove/" + i0,schemaPath:"#/properties/remove/items/pattern",keyword:"pattern",params:{pattern: "^(/([^/~]|~[01])*)+$"},message:"must match pattern \""+"^(/([^/~]|~[01])*)+$"+"\"",schema:"^(/([^/~]|~[01])*)+$",parentSchema:schema62.properties.remove.items,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/remove/" + i0,schemaPath:"#/properties/remove/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema62.properties.remove.items.type,parentSchema:schema62.properties.remove.items,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
let i1 = data1.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data1[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err6 = {instancePath:instancePath+"/remove",schemaPath:"#/properties/remove/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema62.properties.remove,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err7 = {instancePath:instancePath+"/remove",schemaPath:"#/properties/remove/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema62.properties.remove.type,parentSchema:schema62.properties.remove,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.rename !== undefined){
let data3 = data.rename;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key2 in data3){
if(!(pattern34.test(key2))){
const err8 = {instancePath:instancePath+"/rename",schemaPath:"#/properties/rename/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema62.properties.rename,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
for(const key3 in data3){
if(pattern34.test(key3)){
let data4 = data3[key3];
if(typeof data4 === "string"){
if(!pattern38.test(data4)){
const err9 = {instancePath:instancePath+"/rename/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/rename/patternProperties/%5E(~1(%5B%5E~1~0%5D%7C~0%5B01%5D)*)%2B%24/pattern",keyword:"pattern",params:{pattern: "^[^/~]+$"},message:"must match pattern \""+"^[^/~]+$"+"\"",schema:"^[^/~]+$",parentSchema:schema62.properties.rename.patternProperties["^(/([^/~]|~[01])*)+$"],data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/rename/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/rename/patternProperties/%5E(~1(%5B%5E~1~0%5D%7C~0%5B01%5D)*)%2B%24/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema62.properties.rename.patternProperties["^(/([^/~]|~[01])*)+$"].type,parentSchema:schema62.properties.rename.patternProperties["^(/([^/~]|~[01])*)+$"],data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
}
else {
const err11 = {instancePath:instancePath+"/rename",schemaPath:"#/properties/rename/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema62.properties.rename.type,parentSchema:schema62.properties.rename,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema62.type,parentSchema:schema62,data};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate220.errors = vErrors;
return errors === 0;
}

const pattern32 = new RegExp("^[a-z][a-z0-9_-]*$", "u");

function validate215(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.upstream === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "upstream"},message:"must have required property '"+"upstream"+"'",schema:schema61.required,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.model === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "model"},message:"must have required property '"+"model"+"'",schema:schema61.required,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema61.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.upstream !== undefined){
let data0 = data.upstream;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema61.properties.upstream.type,parentSchema:schema61.properties.upstream,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.model !== undefined){
let data1 = data.model;
if(typeof data1 === "string"){
if(func3(data1) < 1){
const err4 = {instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema61.properties.model,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema61.properties.model.type,parentSchema:schema61.properties.model,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.weight !== undefined){
let data2 = data.weight;
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 1000000 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema61.properties.weight,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2 < 0 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema61.properties.weight,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema61.properties.weight.type,parentSchema:schema61.properties.weight,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.timeouts !== undefined){
if(!(validate110(data.timeouts, {instancePath:instancePath+"/timeouts",parentData:data,parentDataProperty:"timeouts",rootData}))){
vErrors = vErrors === null ? validate110.errors : vErrors.concat(validate110.errors);
errors = vErrors.length;
}
}
if(data.context_window !== undefined){
if(!(validate55(data.context_window, {instancePath:instancePath+"/context_window",parentData:data,parentDataProperty:"context_window",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.features !== undefined){
let data5 = data.features;
if(Array.isArray(data5)){
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
let data6 = data5[i0];
if(typeof data6 === "string"){
if(!pattern32.test(data6)){
const err9 = {instancePath:instancePath+"/features/" + i0,schemaPath:"#/properties/features/items/pattern",keyword:"pattern",params:{pattern: "^[a-z][a-z0-9_-]*$"},message:"must match pattern \""+"^[a-z][a-z0-9_-]*$"+"\"",schema:"^[a-z][a-z0-9_-]*$",parentSchema:schema61.properties.features.items,data:data6};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/features/" + i0,schemaPath:"#/properties/features/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema61.properties.features.items.type,parentSchema:schema61.properties.features.items,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
let i1 = data5.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data5[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err11 = {instancePath:instancePath+"/features",schemaPath:"#/properties/features/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema61.properties.features,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err12 = {instancePath:instancePath+"/features",schemaPath:"#/properties/features/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema61.properties.features.type,parentSchema:schema61.properties.features,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.fail_over_on !== undefined){
if(!(validate212(data.fail_over_on, {instancePath:instancePath+"/fail_over_on",parentData:data,parentDataProperty:"fail_over_on",rootData}))){
vErrors = vErrors === null ? validate212.errors : vErrors.concat(validate212.errors);
errors = vErrors.length;
}
}
if(data.cost !== undefined){
if(!(validate160(data.cost, {instancePath:instancePath+"/cost",parentData:data,parentDataProperty:"cost",rootData}))){
vErrors = vErrors === null ? validate160.errors : vErrors.concat(validate160.errors);
errors = vErrors.length;
}
}
if(data.parameters !== undefined){
if(!(validate220(data.parameters, {instancePath:instancePath+"/parameters",parentData:data,parentDataProperty:"parameters",rootData}))){
vErrors = vErrors === null ? validate220.errors : vErrors.concat(validate220.errors);
errors = vErrors.length;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema61.type,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate215.errors = vErrors;
return errors === 0;
}

const schema63 = {"title":"BalancedStepConfig","type":"object","additionalProperties":false,"required":["balance","targets"],"properties":{"balance":{"description":"How requests are spread over the targets.","enum":["weighted","latency","sticky"]},"fail_over_on":{"description":"Refusals after which the next target is tried. Without it, the model's.","$ref":"#/definitions/failOverOn"},"targets":{"description":"The targets that share this step.","type":"array","minItems":1,"items":{"$ref":"#/definitions/target"},"examples":[[{"upstream":"alpha","model":"alpha-mini-1","weight":3},{"upstream":"beta","model":"beta-small-2"}]]}}};

function validate223(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.balance === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "balance"},message:"must have required property '"+"balance"+"'",schema:schema63.required,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.targets === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "targets"},message:"must have required property '"+"targets"+"'",schema:schema63.required,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "balance") || (key0 === "fail_over_on")) || (key0 === "targets"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.balance !== undefined){
let data0 = data.balance;
if(!(((data0 === "weighted") || (data0 === "latency")) || (data0 === "sticky"))){
const err3 = {instancePath:instancePath+"/balance",schemaPath:"#/properties/balance/enum",keyword:"enum",params:{allowedValues: schema63.properties.balance.enum},message:"must be equal to one of the allowed values",schema:schema63.properties.balance.enum,parentSchema:schema63.properties.balance,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.fail_over_on !== undefined){
if(!(validate212(data.fail_over_on, {instancePath:instancePath+"/fail_over_on",parentData:data,parentDataProperty:"fail_over_on",rootData}))){
vErrors = vErrors === null ? validate212.errors : vErrors.concat(validate212.errors);
errors = vErrors.length;
}
}
if(data.targets !== undefined){
let data2 = data.targets;
if(Array.isArray(data2)){
if(data2.length < 1){
const err4 = {instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema63.properties.targets,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
if(!(validate215(data2[i0], {instancePath:instancePath+"/targets/" + i0,parentData:data2,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate215.errors : vErrors.concat(validate215.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema63.properties.targets.type,parentSchema:schema63.properties.targets,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema63.type,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate223.errors = vErrors;
return errors === 0;
}


function validate214(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
let passing0 = null;
const _errs1 = errors;
if(!(validate215(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate215.errors : vErrors.concat(validate215.errors);
errors = vErrors.length;
}
var _valid0 = _errs1 === errors;
if(_valid0){
valid0 = true;
passing0 = 0;
}
const _errs2 = errors;
if(!(validate223(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate223.errors : vErrors.concat(validate223.errors);
errors = vErrors.length;
}
var _valid0 = _errs2 === errors;
if(_valid0 && valid0){
valid0 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid0 = true;
passing0 = 1;
}
}
if(!valid0){
const err0 = {instancePath,schemaPath:"#/oneOf",keyword:"oneOf",params:{passingSchemas: passing0},message:"must match exactly one schema in oneOf",schema:schema60.oneOf,parentSchema:schema60,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate214.errors = vErrors;
return errors === 0;
}


function validate200(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.kind === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'",schema:schema57.required,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.chain === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "chain"},message:"must have required property '"+"chain"+"'",schema:schema57.required,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema57.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.kind !== undefined){
let data0 = data.kind;
if(!((((((data0 === "chat") || (data0 === "embedding")) || (data0 === "rerank")) || (data0 === "speech")) || (data0 === "transcription")) || (data0 === "image"))){
const err3 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/enum",keyword:"enum",params:{allowedValues: schema57.properties.kind.enum},message:"must be equal to one of the allowed values",schema:schema57.properties.kind.enum,parentSchema:schema57.properties.kind,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.tier !== undefined){
let data1 = data.tier;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.tier.type,parentSchema:schema57.properties.tier,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.display_name !== undefined){
let data2 = data.display_name;
if(typeof data2 === "string"){
if(func3(data2) < 1){
const err5 = {instancePath:instancePath+"/display_name",schemaPath:"#/properties/display_name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema57.properties.display_name,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/display_name",schemaPath:"#/properties/display_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.display_name.type,parentSchema:schema57.properties.display_name,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.owned_by !== undefined){
let data3 = data.owned_by;
if(typeof data3 === "string"){
if(func3(data3) < 1){
const err7 = {instancePath:instancePath+"/owned_by",schemaPath:"#/properties/owned_by/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema57.properties.owned_by,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/owned_by",schemaPath:"#/properties/owned_by/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.owned_by.type,parentSchema:schema57.properties.owned_by,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.created !== undefined){
let data4 = data.created;
if(typeof data4 === "string"){
if(!(formats0.validate(data4))){
const err9 = {instancePath:instancePath+"/created",schemaPath:"#/properties/created/format",keyword:"format",params:{format: "date"},message:"must match format \""+"date"+"\"",schema:"date",parentSchema:schema57.properties.created,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/created",schemaPath:"#/properties/created/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.created.type,parentSchema:schema57.properties.created,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.deprecated_at !== undefined){
if(!(validate201(data.deprecated_at, {instancePath:instancePath+"/deprecated_at",parentData:data,parentDataProperty:"deprecated_at",rootData}))){
vErrors = vErrors === null ? validate201.errors : vErrors.concat(validate201.errors);
errors = vErrors.length;
}
}
if(data.sunset_at !== undefined){
if(!(validate201(data.sunset_at, {instancePath:instancePath+"/sunset_at",parentData:data,parentDataProperty:"sunset_at",rootData}))){
vErrors = vErrors === null ? validate201.errors : vErrors.concat(validate201.errors);
errors = vErrors.length;
}
}
if(data.successor !== undefined){
let data7 = data.successor;
if(typeof data7 === "string"){
if(func3(data7) < 1){
const err11 = {instancePath:instancePath+"/successor",schemaPath:"#/properties/successor/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema57.properties.successor,data:data7};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/successor",schemaPath:"#/properties/successor/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.successor.type,parentSchema:schema57.properties.successor,data:data7};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.published !== undefined){
if(!(validate36(data.published, {instancePath:instancePath+"/published",parentData:data,parentDataProperty:"published",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.context_window !== undefined){
if(!(validate55(data.context_window, {instancePath:instancePath+"/context_window",parentData:data,parentDataProperty:"context_window",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.max_output !== undefined){
if(!(validate55(data.max_output, {instancePath:instancePath+"/max_output",parentData:data,parentDataProperty:"max_output",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.features !== undefined){
let data11 = data.features;
if(Array.isArray(data11)){
const len0 = data11.length;
for(let i0=0; i0<len0; i0++){
let data12 = data11[i0];
if(typeof data12 === "string"){
if(!pattern32.test(data12)){
const err13 = {instancePath:instancePath+"/features/" + i0,schemaPath:"#/properties/features/items/pattern",keyword:"pattern",params:{pattern: "^[a-z][a-z0-9_-]*$"},message:"must match pattern \""+"^[a-z][a-z0-9_-]*$"+"\"",schema:"^[a-z][a-z0-9_-]*$",parentSchema:schema57.properties.features.items,data:data12};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
else {
const err14 = {instancePath:instancePath+"/features/" + i0,schemaPath:"#/properties/features/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.features.items.type,parentSchema:schema57.properties.features.items,data:data12};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
let i1 = data11.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data11[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err15 = {instancePath:instancePath+"/features",schemaPath:"#/properties/features/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema57.properties.features,data:data11};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err16 = {instancePath:instancePath+"/features",schemaPath:"#/properties/features/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema57.properties.features.type,parentSchema:schema57.properties.features,data:data11};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.voices !== undefined){
let data13 = data.voices;
if(Array.isArray(data13)){
const len1 = data13.length;
for(let i2=0; i2<len1; i2++){
let data14 = data13[i2];
if(typeof data14 === "string"){
if(func3(data14) < 1){
const err17 = {instancePath:instancePath+"/voices/" + i2,schemaPath:"#/properties/voices/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema57.properties.voices.items,data:data14};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
else {
const err18 = {instancePath:instancePath+"/voices/" + i2,schemaPath:"#/properties/voices/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.voices.items.type,parentSchema:schema57.properties.voices.items,data:data14};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
let i3 = data13.length;
let j1;
if(i3 > 1){
const indices1 = {};
for(;i3--;){
let item1 = data13[i3];
if(typeof item1 !== "string"){
continue;
}
if(typeof indices1[item1] == "number"){
j1 = indices1[item1];
const err19 = {instancePath:instancePath+"/voices",schemaPath:"#/properties/voices/uniqueItems",keyword:"uniqueItems",params:{i: i3, j: j1},message:"must NOT have duplicate items (items ## "+j1+" and "+i3+" are identical)",schema:true,parentSchema:schema57.properties.voices,data:data13};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
break;
}
indices1[item1] = i3;
}
}
}
else {
const err20 = {instancePath:instancePath+"/voices",schemaPath:"#/properties/voices/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema57.properties.voices.type,parentSchema:schema57.properties.voices,data:data13};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.realtime !== undefined){
if(!(validate36(data.realtime, {instancePath:instancePath+"/realtime",parentData:data,parentDataProperty:"realtime",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.strict !== undefined){
if(!(validate36(data.strict, {instancePath:instancePath+"/strict",parentData:data,parentDataProperty:"strict",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.price !== undefined){
if(!(validate160(data.price, {instancePath:instancePath+"/price",parentData:data,parentDataProperty:"price",rootData}))){
vErrors = vErrors === null ? validate160.errors : vErrors.concat(validate160.errors);
errors = vErrors.length;
}
}
if(data.multipliers !== undefined){
if(!(validate145(data.multipliers, {instancePath:instancePath+"/multipliers",parentData:data,parentDataProperty:"multipliers",rootData}))){
vErrors = vErrors === null ? validate145.errors : vErrors.concat(validate145.errors);
errors = vErrors.length;
}
}
if(data.deadline !== undefined){
if(!(validate48(data.deadline, {instancePath:instancePath+"/deadline",parentData:data,parentDataProperty:"deadline",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.fail_over_on !== undefined){
if(!(validate212(data.fail_over_on, {instancePath:instancePath+"/fail_over_on",parentData:data,parentDataProperty:"fail_over_on",rootData}))){
vErrors = vErrors === null ? validate212.errors : vErrors.concat(validate212.errors);
errors = vErrors.length;
}
}
if(data.chain !== undefined){
let data21 = data.chain;
if(Array.isArray(data21)){
if(data21.length < 1){
const err21 = {instancePath:instancePath+"/chain",schemaPath:"#/properties/chain/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema57.properties.chain,data:data21};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
const len2 = data21.length;
for(let i4=0; i4<len2; i4++){
if(!(validate214(data21[i4], {instancePath:instancePath+"/chain/" + i4,parentData:data21,parentDataProperty:i4,rootData}))){
vErrors = vErrors === null ? validate214.errors : vErrors.concat(validate214.errors);
errors = vErrors.length;
}
}
}
else {
const err22 = {instancePath:instancePath+"/chain",schemaPath:"#/properties/chain/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema57.properties.chain.type,parentSchema:schema57.properties.chain,data:data21};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema57.type,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
validate200.errors = vErrors;
return errors === 0;
}

const schema64 = {"oneOf":[{"type":"string","minLength":1},{"$ref":"#/definitions/localStep"},{"$ref":"#/definitions/builtInStep"}]};
const schema65 = {"title":"LocalStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Path of a plugin file, relative to the folder of the main configuration file.","type":"string","pattern":"^(\\.{1,2}/|/)","examples":["./plugins/redact-names.ts"]},"options":{"description":"Options of the plugin. Its own schema checks them.","type":"object","additionalProperties":true,"examples":[{"words":["secret"]}]},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const pattern39 = new RegExp("^(\\.{1,2}/|/)", "u");
const schema66 = {"title":"ConditionConfig","type":"object","additionalProperties":false,"minProperties":1,"properties":{"models":{"description":"Ids of models. * matches any text. Without it, all models.","type":"array","minItems":1,"items":{"type":"string","minLength":1},"examples":[["route/swift*"]]},"tiers":{"description":"Plans of the caller. Without it, all plans.","type":"array","minItems":1,"items":{"type":"string"},"examples":[["Free"]]}}};

function validate231(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "models") || (key0 === "tiers"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.models !== undefined){
let data0 = data.models;
if(Array.isArray(data0)){
if(data0.length < 1){
const err2 = {instancePath:instancePath+"/models",schemaPath:"#/properties/models/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema66.properties.models,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 === "string"){
if(func3(data1) < 1){
const err3 = {instancePath:instancePath+"/models/" + i0,schemaPath:"#/properties/models/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema66.properties.models.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/models/" + i0,schemaPath:"#/properties/models/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.models.items.type,parentSchema:schema66.properties.models.items,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath:instancePath+"/models",schemaPath:"#/properties/models/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema66.properties.models.type,parentSchema:schema66.properties.models,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.tiers !== undefined){
let data2 = data.tiers;
if(Array.isArray(data2)){
if(data2.length < 1){
const err6 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema66.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
let data3 = data2[i1];
if(typeof data3 !== "string"){
const err7 = {instancePath:instancePath+"/tiers/" + i1,schemaPath:"#/properties/tiers/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.tiers.items.type,parentSchema:schema66.properties.tiers.items,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema66.properties.tiers.type,parentSchema:schema66.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.type,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate231.errors = vErrors;
return errors === 0;
}

const schema67 = {"enum":["closed","open"]};

function validate233(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!((data === "closed") || (data === "open"))){
const err0 = {instancePath,schemaPath:"#/enum",keyword:"enum",params:{allowedValues: schema67.enum},message:"must be equal to one of the allowed values",schema:schema67.enum,parentSchema:schema67,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate233.errors = vErrors;
return errors === 0;
}


function validate230(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema65.required,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if(typeof data0 === "string"){
if(!pattern39.test(data0)){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/pattern",keyword:"pattern",params:{pattern: "^(\\.{1,2}/|/)"},message:"must match pattern \""+"^(\\.{1,2}/|/)"+"\"",schema:"^(\\.{1,2}/|/)",parentSchema:schema65.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema65.properties.use.type,parentSchema:schema65.properties.use,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.options !== undefined){
let data1 = data.options;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
}
else {
const err4 = {instancePath:instancePath+"/options",schemaPath:"#/properties/options/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema65.properties.options.type,parentSchema:schema65.properties.options,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema65.type,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate230.errors = vErrors;
return errors === 0;
}

const schema68 = {"type":"object","discriminator":{"propertyName":"use"},"oneOf":[{"$ref":"#/definitions/authStep"},{"$ref":"#/definitions/planCheckStep"},{"$ref":"#/definitions/quotaStep"},{"$ref":"#/definitions/breakerStep"},{"$ref":"#/definitions/transformStep"},{"$ref":"#/definitions/promptPrefixStep"},{"$ref":"#/definitions/guardWordsStep"},{"$ref":"#/definitions/piiMaskStep"},{"$ref":"#/definitions/answerCacheStep"},{"$ref":"#/definitions/headerTagsStep"},{"$ref":"#/definitions/budgetStep"},{"$ref":"#/definitions/streamRelayStep"},{"$ref":"#/definitions/meterStep"}]};
const schema69 = {"title":"AuthStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Says who is calling.","const":"auth"},"options":{"description":"Options of the plugin.","$ref":"plugins/auth.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema70 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/auth.schema.json","title":"AuthOptions","description":"auth takes no options: credentials are read as the API says.","type":"object","additionalProperties":false,"properties":{}};

function validate239(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/auth.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema70,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema70.type,parentSchema:schema70,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate239.errors = vErrors;
return errors === 0;
}


function validate238(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema69.required,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("auth" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "auth"},message:"must be equal to constant",schema:"auth",parentSchema:schema69.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate239(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate239.errors : vErrors.concat(validate239.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema69.type,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate238.errors = vErrors;
return errors === 0;
}

const schema71 = {"title":"PlanCheckStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Refuses models that the caller's plan may not call.","const":"plan-check"},"options":{"description":"Options of the plugin.","$ref":"plugins/plan-check.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema72 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/plan-check.schema.json","title":"PlanCheckOptions","description":"plan-check takes no options: plans are declared under tiers.","type":"object","additionalProperties":false,"properties":{}};

function validate245(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/plan-check.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema72,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema72.type,parentSchema:schema72,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate245.errors = vErrors;
return errors === 0;
}


function validate244(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema71.required,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("plan-check" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "plan-check"},message:"must be equal to constant",schema:"plan-check",parentSchema:schema71.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate245(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate245.errors : vErrors.concat(validate245.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema71.type,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate244.errors = vErrors;
return errors === 0;
}

const schema73 = {"title":"QuotaStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Counts against the plan's limits and holds credits.","const":"quota"},"options":{"description":"Options of the plugin.","$ref":"plugins/quota.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema74 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/quota.schema.json","title":"QuotaOptions","description":"quota takes no options: limits are declared under tiers, holds under billing.","type":"object","additionalProperties":false,"properties":{}};

function validate251(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/quota.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema74,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema74.type,parentSchema:schema74,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate251.errors = vErrors;
return errors === 0;
}


function validate250(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema73.required,parentSchema:schema73,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema73,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("quota" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "quota"},message:"must be equal to constant",schema:"quota",parentSchema:schema73.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate251(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate251.errors : vErrors.concat(validate251.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema73.type,parentSchema:schema73,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate250.errors = vErrors;
return errors === 0;
}

const schema75 = {"title":"BreakerStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Leaves failing upstreams alone for a while.","const":"breaker"},"options":{"description":"Options of the plugin.","$ref":"plugins/breaker.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema76 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/breaker.schema.json","title":"BreakerOptions","description":"breaker takes no options: thresholds are declared under upstreams and defaults.","type":"object","additionalProperties":false,"properties":{}};

function validate257(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/breaker.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema76,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema76.type,parentSchema:schema76,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate257.errors = vErrors;
return errors === 0;
}


function validate256(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema75.required,parentSchema:schema75,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema75,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("breaker" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "breaker"},message:"must be equal to constant",schema:"breaker",parentSchema:schema75.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate257(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate257.errors : vErrors.concat(validate257.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema75.type,parentSchema:schema75,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate256.errors = vErrors;
return errors === 0;
}

const schema77 = {"title":"TransformStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Sets and removes fields of the request that is sent on.","const":"transform"},"options":{"description":"Options of the plugin.","$ref":"plugins/transform.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema78 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/transform.schema.json","title":"TransformOptions","description":"Fields of the request body to set and to remove, before it is sent on.","type":"object","additionalProperties":false,"properties":{"set":{"description":"Values by JSON pointer. Missing parents are made.","type":"object","additionalProperties":false,"patternProperties":{"^(/([^/~]|~[01])*)+$":{}},"examples":[{"/metadata/gateway":"route"}],"propertyNames":{"examples":["/metadata/gateway"]}},"remove":{"description":"JSON pointers of fields to remove.","type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^(/([^/~]|~[01])*)+$","examples":["/logit_bias"]},"examples":[["/logit_bias"]]}}};

function validate263(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/transform.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "set") || (key0 === "remove"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema78,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.set !== undefined){
let data0 = data.set;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key1 in data0){
if(!(pattern34.test(key1))){
const err1 = {instancePath:instancePath+"/set",schemaPath:"#/properties/set/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema78.properties.set,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath:instancePath+"/set",schemaPath:"#/properties/set/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema78.properties.set.type,parentSchema:schema78.properties.set,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.remove !== undefined){
let data1 = data.remove;
if(Array.isArray(data1)){
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(typeof data2 === "string"){
if(!pattern34.test(data2)){
const err3 = {instancePath:instancePath+"/remove/" + i0,schemaPath:"#/properties/remove/items/pattern",keyword:"pattern",params:{pattern: "^(/([^/~]|~[01])*)+$"},message:"must match pattern \""+"^(/([^/~]|~[01])*)+$"+"\"",schema:"^(/([^/~]|~[01])*)+$",parentSchema:schema78.properties.remove.items,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/remove/" + i0,schemaPath:"#/properties/remove/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema78.properties.remove.items.type,parentSchema:schema78.properties.remove.items,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
let i1 = data1.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data1[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err5 = {instancePath:instancePath+"/remove",schemaPath:"#/properties/remove/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema78.properties.remove,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err6 = {instancePath:instancePath+"/remove",schemaPath:"#/properties/remove/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema78.properties.remove.type,parentSchema:schema78.properties.remove,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema78.type,parentSchema:schema78,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate263.errors = vErrors;
return errors === 0;
}


function validate262(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema77.required,parentSchema:schema77,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema77,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("transform" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "transform"},message:"must be equal to constant",schema:"transform",parentSchema:schema77.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate263(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate263.errors : vErrors.concat(validate263.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema77.type,parentSchema:schema77,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate262.errors = vErrors;
return errors === 0;
}

const schema79 = {"title":"PromptPrefixStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Puts the operator's instructions around the client's own.","const":"prompt-prefix"},"options":{"description":"Options of the plugin.","$ref":"plugins/prompt-prefix.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema80 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/prompt-prefix.schema.json","title":"PromptPrefixOptions","description":"Instructions that stand around the client's own in every chat request.","type":"object","additionalProperties":false,"required":["prompts"],"properties":{"prompts":{"description":"Texts, in the order in which they are sent. All that match a request are sent.","type":"array","minItems":1,"items":{"$ref":"#/definitions/prompt"},"examples":[[{"text":"Answer in the language of the question.","tiers":["Free"]}]]}},"definitions":{"prompt":{"title":"PromptPrefix","type":"object","additionalProperties":false,"required":["text"],"properties":{"text":{"description":"Text that is sent. The client pays for it as for its own.","type":"string","minLength":1,"maxLength":100000,"examples":["Answer in the language of the question."]},"place":{"description":"Where it is put.","enum":["before","after"],"examples":["after"]},"tiers":{"description":"Plans whose users' requests get it. Without it, all plans.","type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string","minLength":1},"examples":[["Free"]]},"models":{"description":"Models by id that get it. * matches any text. Without it, all models.","type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string","minLength":1},"examples":[["route/swift-*"]]}}}}};
const schema81 = {"title":"PromptPrefix","type":"object","additionalProperties":false,"required":["text"],"properties":{"text":{"description":"Text that is sent. The client pays for it as for its own.","type":"string","minLength":1,"maxLength":100000,"examples":["Answer in the language of the question."]},"place":{"description":"Where it is put.","enum":["before","after"],"examples":["after"]},"tiers":{"description":"Plans whose users' requests get it. Without it, all plans.","type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string","minLength":1},"examples":[["Free"]]},"models":{"description":"Models by id that get it. * matches any text. Without it, all models.","type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string","minLength":1},"examples":[["route/swift-*"]]}}};

function validate270(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.text === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "text"},message:"must have required property '"+"text"+"'",schema:schema81.required,parentSchema:schema81,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "text") || (key0 === "place")) || (key0 === "tiers")) || (key0 === "models"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema81,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.text !== undefined){
let data0 = data.text;
if(typeof data0 === "string"){
if(func3(data0) > 100000){
const err2 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/maxLength",keyword:"maxLength",params:{limit: 100000},message:"must NOT have more than 100000 characters",schema:100000,parentSchema:schema81.properties.text,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func3(data0) < 1){
const err3 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema81.properties.text,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/text",schemaPath:"#/properties/text/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema81.properties.text.type,parentSchema:schema81.properties.text,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.place !== undefined){
let data1 = data.place;
if(!((data1 === "before") || (data1 === "after"))){
const err5 = {instancePath:instancePath+"/place",schemaPath:"#/properties/place/enum",keyword:"enum",params:{allowedValues: schema81.properties.place.enum},message:"must be equal to one of the allowed values",schema:schema81.properties.place.enum,parentSchema:schema81.properties.place,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.tiers !== undefined){
let data2 = data.tiers;
if(Array.isArray(data2)){
if(data2.length < 1){
const err6 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema81.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(typeof data3 === "string"){
if(func3(data3) < 1){
const err7 = {instancePath:instancePath+"/tiers/" + i0,schemaPath:"#/properties/tiers/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema81.properties.tiers.items,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/tiers/" + i0,schemaPath:"#/properties/tiers/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema81.properties.tiers.items.type,parentSchema:schema81.properties.tiers.items,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
let i1 = data2.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data2[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err9 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema81.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err10 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema81.properties.tiers.type,parentSchema:schema81.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.models !== undefined){
let data4 = data.models;
if(Array.isArray(data4)){
if(data4.length < 1){
const err11 = {instancePath:instancePath+"/models",schemaPath:"#/properties/models/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema81.properties.models,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
const len1 = data4.length;
for(let i2=0; i2<len1; i2++){
let data5 = data4[i2];
if(typeof data5 === "string"){
if(func3(data5) < 1){
const err12 = {instancePath:instancePath+"/models/" + i2,schemaPath:"#/properties/models/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema81.properties.models.items,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/models/" + i2,schemaPath:"#/properties/models/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema81.properties.models.items.type,parentSchema:schema81.properties.models.items,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
let i3 = data4.length;
let j1;
if(i3 > 1){
const indices1 = {};
for(;i3--;){
let item1 = data4[i3];
if(typeof item1 !== "string"){
continue;
}
if(typeof indices1[item1] == "number"){
j1 = indices1[item1];
const err14 = {instancePath:instancePath+"/models",schemaPath:"#/properties/models/uniqueItems",keyword:"uniqueItems",params:{i: i3, j: j1},message:"must NOT have duplicate items (items ## "+j1+" and "+i3+" are identical)",schema:true,parentSchema:schema81.properties.models,data:data4};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
break;
}
indices1[item1] = i3;
}
}
}
else {
const err15 = {instancePath:instancePath+"/models",schemaPath:"#/properties/models/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema81.properties.models.type,parentSchema:schema81.properties.models,data:data4};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema81.type,parentSchema:schema81,data};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
validate270.errors = vErrors;
return errors === 0;
}


function validate269(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/prompt-prefix.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.prompts === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "prompts"},message:"must have required property '"+"prompts"+"'",schema:schema80.required,parentSchema:schema80,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "prompts")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema80,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.prompts !== undefined){
let data0 = data.prompts;
if(Array.isArray(data0)){
if(data0.length < 1){
const err2 = {instancePath:instancePath+"/prompts",schemaPath:"#/properties/prompts/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema80.properties.prompts,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate270(data0[i0], {instancePath:instancePath+"/prompts/" + i0,parentData:data0,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate270.errors : vErrors.concat(validate270.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath:instancePath+"/prompts",schemaPath:"#/properties/prompts/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema80.properties.prompts.type,parentSchema:schema80.properties.prompts,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema80.type,parentSchema:schema80,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate269.errors = vErrors;
return errors === 0;
}


function validate268(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema79.required,parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("prompt-prefix" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "prompt-prefix"},message:"must be equal to constant",schema:"prompt-prefix",parentSchema:schema79.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate269(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate269.errors : vErrors.concat(validate269.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema79.type,parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate268.errors = vErrors;
return errors === 0;
}

const schema82 = {"title":"GuardWordsStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Refuses or masks words in what is asked and answered.","const":"guard-words"},"options":{"description":"Options of the plugin.","$ref":"plugins/guard-words.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema83 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/guard-words.schema.json","title":"GuardWordsOptions","description":"Words and expressions that must not be asked or answered.","type":"object","additionalProperties":false,"properties":{"words":{"description":"Words and phrases, whatever their case. A space stands for up to eight blanks. Without it, only `patterns` count.","type":"array","minItems":1,"maxItems":2000,"uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":200},"examples":[["project nightingale"]]},"patterns":{"description":"Regular expressions of bounded length: characters, classes, groups, |, ?, {n}, {n,m}, and \\b at the ends. All together may repeat about 128 times where a text continues with one character, so that none slows the others down. Without it, only `words` count.","type":"array","minItems":1,"maxItems":50,"uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":500},"examples":[["\\bTICKET-\\d{4,8}\\b"]]},"action":{"description":"What happens to a request or an answer that has one.","enum":["refuse","mask"],"examples":["mask"]},"in":{"description":"Where the words are looked for.","type":"array","minItems":1,"uniqueItems":true,"items":{"enum":["request","answer"]},"examples":[["answer"]]},"replacement":{"description":"Text that replaces what is masked.","type":"string","maxLength":200,"examples":["[removed]"]},"whole_words":{"description":"true: a word counts only as a whole, not as a part of another. Patterns say it by \\b.","type":"boolean","examples":[false]}}};

function validate277(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/guard-words.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "words") || (key0 === "patterns")) || (key0 === "action")) || (key0 === "in")) || (key0 === "replacement")) || (key0 === "whole_words"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema83,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.words !== undefined){
let data0 = data.words;
if(Array.isArray(data0)){
if(data0.length > 2000){
const err1 = {instancePath:instancePath+"/words",schemaPath:"#/properties/words/maxItems",keyword:"maxItems",params:{limit: 2000},message:"must NOT have more than 2000 items",schema:2000,parentSchema:schema83.properties.words,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0.length < 1){
const err2 = {instancePath:instancePath+"/words",schemaPath:"#/properties/words/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema83.properties.words,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 === "string"){
if(func3(data1) > 200){
const err3 = {instancePath:instancePath+"/words/" + i0,schemaPath:"#/properties/words/items/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters",schema:200,parentSchema:schema83.properties.words.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(func3(data1) < 1){
const err4 = {instancePath:instancePath+"/words/" + i0,schemaPath:"#/properties/words/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema83.properties.words.items,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/words/" + i0,schemaPath:"#/properties/words/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema83.properties.words.items.type,parentSchema:schema83.properties.words.items,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
let i1 = data0.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data0[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err6 = {instancePath:instancePath+"/words",schemaPath:"#/properties/words/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema83.properties.words,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err7 = {instancePath:instancePath+"/words",schemaPath:"#/properties/words/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema83.properties.words.type,parentSchema:schema83.properties.words,data:data0};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.patterns !== undefined){
let data2 = data.patterns;
if(Array.isArray(data2)){
if(data2.length > 50){
const err8 = {instancePath:instancePath+"/patterns",schemaPath:"#/properties/patterns/maxItems",keyword:"maxItems",params:{limit: 50},message:"must NOT have more than 50 items",schema:50,parentSchema:schema83.properties.patterns,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data2.length < 1){
const err9 = {instancePath:instancePath+"/patterns",schemaPath:"#/properties/patterns/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema83.properties.patterns,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const len1 = data2.length;
for(let i2=0; i2<len1; i2++){
let data3 = data2[i2];
if(typeof data3 === "string"){
if(func3(data3) > 500){
const err10 = {instancePath:instancePath+"/patterns/" + i2,schemaPath:"#/properties/patterns/items/maxLength",keyword:"maxLength",params:{limit: 500},message:"must NOT have more than 500 characters",schema:500,parentSchema:schema83.properties.patterns.items,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(func3(data3) < 1){
const err11 = {instancePath:instancePath+"/patterns/" + i2,schemaPath:"#/properties/patterns/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema83.properties.patterns.items,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/patterns/" + i2,schemaPath:"#/properties/patterns/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema83.properties.patterns.items.type,parentSchema:schema83.properties.patterns.items,data:data3};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
let i3 = data2.length;
let j1;
if(i3 > 1){
const indices1 = {};
for(;i3--;){
let item1 = data2[i3];
if(typeof item1 !== "string"){
continue;
}
if(typeof indices1[item1] == "number"){
j1 = indices1[item1];
const err13 = {instancePath:instancePath+"/patterns",schemaPath:"#/properties/patterns/uniqueItems",keyword:"uniqueItems",params:{i: i3, j: j1},message:"must NOT have duplicate items (items ## "+j1+" and "+i3+" are identical)",schema:true,parentSchema:schema83.properties.patterns,data:data2};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
break;
}
indices1[item1] = i3;
}
}
}
else {
const err14 = {instancePath:instancePath+"/patterns",schemaPath:"#/properties/patterns/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema83.properties.patterns.type,parentSchema:schema83.properties.patterns,data:data2};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.action !== undefined){
let data4 = data.action;
if(!((data4 === "refuse") || (data4 === "mask"))){
const err15 = {instancePath:instancePath+"/action",schemaPath:"#/properties/action/enum",keyword:"enum",params:{allowedValues: schema83.properties.action.enum},message:"must be equal to one of the allowed values",schema:schema83.properties.action.enum,parentSchema:schema83.properties.action,data:data4};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.in !== undefined){
let data5 = data.in;
if(Array.isArray(data5)){
if(data5.length < 1){
const err16 = {instancePath:instancePath+"/in",schemaPath:"#/properties/in/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema83.properties.in,data:data5};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
const len2 = data5.length;
for(let i4=0; i4<len2; i4++){
let data6 = data5[i4];
if(!((data6 === "request") || (data6 === "answer"))){
const err17 = {instancePath:instancePath+"/in/" + i4,schemaPath:"#/properties/in/items/enum",keyword:"enum",params:{allowedValues: schema83.properties.in.items.enum},message:"must be equal to one of the allowed values",schema:schema83.properties.in.items.enum,parentSchema:schema83.properties.in.items,data:data6};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
let i5 = data5.length;
let j2;
if(i5 > 1){
outer0:
for(;i5--;){
for(j2 = i5; j2--;){
if(func0(data5[i5], data5[j2])){
const err18 = {instancePath:instancePath+"/in",schemaPath:"#/properties/in/uniqueItems",keyword:"uniqueItems",params:{i: i5, j: j2},message:"must NOT have duplicate items (items ## "+j2+" and "+i5+" are identical)",schema:true,parentSchema:schema83.properties.in,data:data5};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
break outer0;
}
}
}
}
}
else {
const err19 = {instancePath:instancePath+"/in",schemaPath:"#/properties/in/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema83.properties.in.type,parentSchema:schema83.properties.in,data:data5};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.replacement !== undefined){
let data7 = data.replacement;
if(typeof data7 === "string"){
if(func3(data7) > 200){
const err20 = {instancePath:instancePath+"/replacement",schemaPath:"#/properties/replacement/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters",schema:200,parentSchema:schema83.properties.replacement,data:data7};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
else {
const err21 = {instancePath:instancePath+"/replacement",schemaPath:"#/properties/replacement/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema83.properties.replacement.type,parentSchema:schema83.properties.replacement,data:data7};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.whole_words !== undefined){
let data8 = data.whole_words;
if(typeof data8 !== "boolean"){
const err22 = {instancePath:instancePath+"/whole_words",schemaPath:"#/properties/whole_words/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema83.properties.whole_words.type,parentSchema:schema83.properties.whole_words,data:data8};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema83.type,parentSchema:schema83,data};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
validate277.errors = vErrors;
return errors === 0;
}


function validate276(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema82.required,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("guard-words" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "guard-words"},message:"must be equal to constant",schema:"guard-words",parentSchema:schema82.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate277(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate277.errors : vErrors.concat(validate277.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema82.type,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate276.errors = vErrors;
return errors === 0;
}

const schema84 = {"title":"PiiMaskStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Upstreams get placeholders for personal data; answers have it again.","const":"pii-mask"},"options":{"description":"Options of the plugin.","$ref":"plugins/pii-mask.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema85 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/pii-mask.schema.json","title":"PiiMaskOptions","description":"Personal data that upstreams get placeholders for, such as [EMAIL_1]; answers have it again.","type":"object","additionalProperties":false,"properties":{"kinds":{"description":"What is masked. Cards and IBANs only with a valid checksum. Without it, all kinds.","type":"array","minItems":1,"uniqueItems":true,"items":{"enum":["email","phone","iban","card","ip","key"]},"examples":[["email","phone"]]}}};

function validate283(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/pii-mask.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(key0 === "kinds")){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema85,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.kinds !== undefined){
let data0 = data.kinds;
if(Array.isArray(data0)){
if(data0.length < 1){
const err1 = {instancePath:instancePath+"/kinds",schemaPath:"#/properties/kinds/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema85.properties.kinds,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(!((((((data1 === "email") || (data1 === "phone")) || (data1 === "iban")) || (data1 === "card")) || (data1 === "ip")) || (data1 === "key"))){
const err2 = {instancePath:instancePath+"/kinds/" + i0,schemaPath:"#/properties/kinds/items/enum",keyword:"enum",params:{allowedValues: schema85.properties.kinds.items.enum},message:"must be equal to one of the allowed values",schema:schema85.properties.kinds.items.enum,parentSchema:schema85.properties.kinds.items,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
let i1 = data0.length;
let j0;
if(i1 > 1){
outer0:
for(;i1--;){
for(j0 = i1; j0--;){
if(func0(data0[i1], data0[j0])){
const err3 = {instancePath:instancePath+"/kinds",schemaPath:"#/properties/kinds/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema85.properties.kinds,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
break outer0;
}
}
}
}
}
else {
const err4 = {instancePath:instancePath+"/kinds",schemaPath:"#/properties/kinds/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema85.properties.kinds.type,parentSchema:schema85.properties.kinds,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema85.type,parentSchema:schema85,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate283.errors = vErrors;
return errors === 0;
}


function validate282(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema84.required,parentSchema:schema84,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema84,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("pii-mask" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "pii-mask"},message:"must be equal to constant",schema:"pii-mask",parentSchema:schema84.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate283(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate283.errors : vErrors.concat(validate283.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema84.type,parentSchema:schema84,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate282.errors = vErrors;
return errors === 0;
}

const schema86 = {"title":"AnswerCacheStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Answers what was asked before from the store.","const":"answer-cache"},"options":{"description":"Options of the plugin.","$ref":"plugins/answer-cache.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema87 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/answer-cache.schema.json","title":"AnswerCacheOptions","description":"Answers that are kept, and given again to a request that asks for the very same.","type":"object","additionalProperties":false,"properties":{"ttl":{"description":"How long an answer is kept, at most 30d.","type":"string","pattern":"^0*[1-9][0-9]{0,8}(s|m|h|d)$","examples":["10m","1h"]},"scope":{"description":"Who gets a kept answer.","enum":["user","shared"],"examples":["shared"]},"answers":{"description":"Which answers are kept.","enum":["deterministic","all"],"examples":["all"]},"except":{"description":"Finish reasons of answers that are not kept. Filtered, broken and refused answers never are.","type":"array","uniqueItems":true,"items":{"enum":["length","tool_calls"]},"examples":[["length","tool_calls"]]},"max_size":{"description":"Size above which an answer is not kept, at most 2MiB. All kept answers together take up to 64 MiB.","type":"string","pattern":"^0*[1-9][0-9]{0,8}(B|KiB|MiB)$","examples":["64KiB"]},"charge":{"description":"What a kept answer costs.","enum":["nothing","full"],"examples":["full"]}}};
const pattern42 = new RegExp("^0*[1-9][0-9]{0,8}(s|m|h|d)$", "u");
const pattern43 = new RegExp("^0*[1-9][0-9]{0,8}(B|KiB|MiB)$", "u");

function validate289(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/answer-cache.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "ttl") || (key0 === "scope")) || (key0 === "answers")) || (key0 === "except")) || (key0 === "max_size")) || (key0 === "charge"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema87,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.ttl !== undefined){
let data0 = data.ttl;
if(typeof data0 === "string"){
if(!pattern42.test(data0)){
const err1 = {instancePath:instancePath+"/ttl",schemaPath:"#/properties/ttl/pattern",keyword:"pattern",params:{pattern: "^0*[1-9][0-9]{0,8}(s|m|h|d)$"},message:"must match pattern \""+"^0*[1-9][0-9]{0,8}(s|m|h|d)$"+"\"",schema:"^0*[1-9][0-9]{0,8}(s|m|h|d)$",parentSchema:schema87.properties.ttl,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/ttl",schemaPath:"#/properties/ttl/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema87.properties.ttl.type,parentSchema:schema87.properties.ttl,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.scope !== undefined){
let data1 = data.scope;
if(!((data1 === "user") || (data1 === "shared"))){
const err3 = {instancePath:instancePath+"/scope",schemaPath:"#/properties/scope/enum",keyword:"enum",params:{allowedValues: schema87.properties.scope.enum},message:"must be equal to one of the allowed values",schema:schema87.properties.scope.enum,parentSchema:schema87.properties.scope,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.answers !== undefined){
let data2 = data.answers;
if(!((data2 === "deterministic") || (data2 === "all"))){
const err4 = {instancePath:instancePath+"/answers",schemaPath:"#/properties/answers/enum",keyword:"enum",params:{allowedValues: schema87.properties.answers.enum},message:"must be equal to one of the allowed values",schema:schema87.properties.answers.enum,parentSchema:schema87.properties.answers,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.except !== undefined){
let data3 = data.except;
if(Array.isArray(data3)){
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
if(!((data4 === "length") || (data4 === "tool_calls"))){
const err5 = {instancePath:instancePath+"/except/" + i0,schemaPath:"#/properties/except/items/enum",keyword:"enum",params:{allowedValues: schema87.properties.except.items.enum},message:"must be equal to one of the allowed values",schema:schema87.properties.except.items.enum,parentSchema:schema87.properties.except.items,data:data4};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
let i1 = data3.length;
let j0;
if(i1 > 1){
outer0:
for(;i1--;){
for(j0 = i1; j0--;){
if(func0(data3[i1], data3[j0])){
const err6 = {instancePath:instancePath+"/except",schemaPath:"#/properties/except/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema87.properties.except,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
break outer0;
}
}
}
}
}
else {
const err7 = {instancePath:instancePath+"/except",schemaPath:"#/properties/except/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema87.properties.except.type,parentSchema:schema87.properties.except,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.max_size !== undefined){
let data5 = data.max_size;
if(typeof data5 === "string"){
if(!pattern43.test(data5)){
const err8 = {instancePath:instancePath+"/max_size",schemaPath:"#/properties/max_size/pattern",keyword:"pattern",params:{pattern: "^0*[1-9][0-9]{0,8}(B|KiB|MiB)$"},message:"must match pattern \""+"^0*[1-9][0-9]{0,8}(B|KiB|MiB)$"+"\"",schema:"^0*[1-9][0-9]{0,8}(B|KiB|MiB)$",parentSchema:schema87.properties.max_size,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/max_size",schemaPath:"#/properties/max_size/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema87.properties.max_size.type,parentSchema:schema87.properties.max_size,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.charge !== undefined){
let data6 = data.charge;
if(!((data6 === "nothing") || (data6 === "full"))){
const err10 = {instancePath:instancePath+"/charge",schemaPath:"#/properties/charge/enum",keyword:"enum",params:{allowedValues: schema87.properties.charge.enum},message:"must be equal to one of the allowed values",schema:schema87.properties.charge.enum,parentSchema:schema87.properties.charge,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema87.type,parentSchema:schema87,data};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate289.errors = vErrors;
return errors === 0;
}


function validate288(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema86.required,parentSchema:schema86,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema86,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("answer-cache" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "answer-cache"},message:"must be equal to constant",schema:"answer-cache",parentSchema:schema86.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate289(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate289.errors : vErrors.concat(validate289.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema86.type,parentSchema:schema86,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate288.errors = vErrors;
return errors === 0;
}

const schema88 = {"title":"HeaderTagsStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Marks requests by their headers, for log, metrics and ledger.","const":"header-tags"},"options":{"description":"Options of the plugin.","$ref":"plugins/header-tags.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema89 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/header-tags.schema.json","title":"HeaderTagsOptions","description":"Headers of requests that mark them in the log, the ledger and the metrics.","type":"object","additionalProperties":false,"required":["tags"],"properties":{"tags":{"description":"Tags by name: up to 32 of a-z, 0-9, _ and -, a letter first.","type":"object","minProperties":1,"maxProperties":16,"additionalProperties":false,"patternProperties":{"^[a-z][a-z0-9_-]{0,31}$":{"$ref":"#/definitions/tag"}},"examples":[{"team":{"header":"X-Team","values":["search","support"],"measured":true}}]}},"definitions":{"tag":{"title":"HeaderTag","type":"object","additionalProperties":false,"required":["header"],"properties":{"header":{"description":"Header that has the value. Case does not matter. Headers with credentials are never read.","type":"string","pattern":"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$","examples":["X-Team"]},"values":{"description":"Allowed values; any other becomes `other`. Without it, every value is allowed.","type":"array","minItems":1,"maxItems":100,"uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":128},"examples":[["search","support"]]},"default":{"description":"Value of a request without the header. Without it, such a request gets no tag.","type":"string","minLength":1,"maxLength":128,"examples":["none"]},"measured":{"description":"true: metrics have the tag, too, for its first hundred values.","type":"boolean","examples":[true]},"required":{"description":"true: a request without the header, or with a value that is not allowed, is refused.","type":"boolean","examples":[true]}}}}};
const pattern44 = new RegExp("^[a-z][a-z0-9_-]{0,31}$", "u");
const schema90 = {"title":"HeaderTag","type":"object","additionalProperties":false,"required":["header"],"properties":{"header":{"description":"Header that has the value. Case does not matter. Headers with credentials are never read.","type":"string","pattern":"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$","examples":["X-Team"]},"values":{"description":"Allowed values; any other becomes `other`. Without it, every value is allowed.","type":"array","minItems":1,"maxItems":100,"uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":128},"examples":[["search","support"]]},"default":{"description":"Value of a request without the header. Without it, such a request gets no tag.","type":"string","minLength":1,"maxLength":128,"examples":["none"]},"measured":{"description":"true: metrics have the tag, too, for its first hundred values.","type":"boolean","examples":[true]},"required":{"description":"true: a request without the header, or with a value that is not allowed, is refused.","type":"boolean","examples":[true]}}};
const pattern46 = new RegExp("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$", "u");

function validate296(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.header === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "header"},message:"must have required property '"+"header"+"'",schema:schema90.required,parentSchema:schema90,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "header") || (key0 === "values")) || (key0 === "default")) || (key0 === "measured")) || (key0 === "required"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema90,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.header !== undefined){
let data0 = data.header;
if(typeof data0 === "string"){
if(!pattern46.test(data0)){
const err2 = {instancePath:instancePath+"/header",schemaPath:"#/properties/header/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"},message:"must match pattern \""+"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"+"\"",schema:"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$",parentSchema:schema90.properties.header,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/header",schemaPath:"#/properties/header/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema90.properties.header.type,parentSchema:schema90.properties.header,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.values !== undefined){
let data1 = data.values;
if(Array.isArray(data1)){
if(data1.length > 100){
const err4 = {instancePath:instancePath+"/values",schemaPath:"#/properties/values/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items",schema:100,parentSchema:schema90.properties.values,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data1.length < 1){
const err5 = {instancePath:instancePath+"/values",schemaPath:"#/properties/values/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema90.properties.values,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(typeof data2 === "string"){
if(func3(data2) > 128){
const err6 = {instancePath:instancePath+"/values/" + i0,schemaPath:"#/properties/values/items/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema90.properties.values.items,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(func3(data2) < 1){
const err7 = {instancePath:instancePath+"/values/" + i0,schemaPath:"#/properties/values/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema90.properties.values.items,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/values/" + i0,schemaPath:"#/properties/values/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema90.properties.values.items.type,parentSchema:schema90.properties.values.items,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
let i1 = data1.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data1[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err9 = {instancePath:instancePath+"/values",schemaPath:"#/properties/values/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema90.properties.values,data:data1};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err10 = {instancePath:instancePath+"/values",schemaPath:"#/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema90.properties.values.type,parentSchema:schema90.properties.values,data:data1};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.default !== undefined){
let data3 = data.default;
if(typeof data3 === "string"){
if(func3(data3) > 128){
const err11 = {instancePath:instancePath+"/default",schemaPath:"#/properties/default/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema90.properties.default,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(func3(data3) < 1){
const err12 = {instancePath:instancePath+"/default",schemaPath:"#/properties/default/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema90.properties.default,data:data3};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/default",schemaPath:"#/properties/default/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema90.properties.default.type,parentSchema:schema90.properties.default,data:data3};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.measured !== undefined){
let data4 = data.measured;
if(typeof data4 !== "boolean"){
const err14 = {instancePath:instancePath+"/measured",schemaPath:"#/properties/measured/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema90.properties.measured.type,parentSchema:schema90.properties.measured,data:data4};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.required !== undefined){
let data5 = data.required;
if(typeof data5 !== "boolean"){
const err15 = {instancePath:instancePath+"/required",schemaPath:"#/properties/required/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema90.properties.required.type,parentSchema:schema90.properties.required,data:data5};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema90.type,parentSchema:schema90,data};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
validate296.errors = vErrors;
return errors === 0;
}


function validate295(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/header-tags.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.tags === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "tags"},message:"must have required property '"+"tags"+"'",schema:schema89.required,parentSchema:schema89,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "tags")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema89,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.tags !== undefined){
let data0 = data.tags;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(Object.keys(data0).length > 16){
const err2 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/maxProperties",keyword:"maxProperties",params:{limit: 16},message:"must NOT have more than 16 properties",schema:16,parentSchema:schema89.properties.tags,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(Object.keys(data0).length < 1){
const err3 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema89.properties.tags,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key1 in data0){
if(!(pattern44.test(key1))){
const err4 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema89.properties.tags,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
for(const key2 in data0){
if(pattern44.test(key2)){
if(!(validate296(data0[key2], {instancePath:instancePath+"/tags/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data0,parentDataProperty:key2,rootData}))){
vErrors = vErrors === null ? validate296.errors : vErrors.concat(validate296.errors);
errors = vErrors.length;
}
}
}
}
else {
const err5 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema89.properties.tags.type,parentSchema:schema89.properties.tags,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema89.type,parentSchema:schema89,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate295.errors = vErrors;
return errors === 0;
}


function validate294(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema88.required,parentSchema:schema88,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema88,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("header-tags" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "header-tags"},message:"must be equal to constant",schema:"header-tags",parentSchema:schema88.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate295(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate295.errors : vErrors.concat(validate295.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema88.type,parentSchema:schema88,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate294.errors = vErrors;
return errors === 0;
}

const schema91 = {"title":"BudgetStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Refuses what would go beyond a sum per user and month or day.","const":"budget"},"options":{"description":"Options of the plugin.","$ref":"plugins/budget.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema92 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/budget.schema.json","title":"BudgetOptions","description":"What a user may spend in a month or a day, besides the credits that there are.","type":"object","additionalProperties":false,"properties":{"period":{"description":"What the amount is for.","enum":["month","day"],"examples":["day"]},"amount":{"description":"What every user may spend in the period, in billing.currency. A plan under `tiers` has its own amount. Without it, only those plans are bounded.","type":"number","minimum":0,"maximum":1000000000,"examples":[20]},"tiers":{"description":"What users of a plan may spend in the period, in billing.currency. Without it, `amount` counts for all plans.","type":"object","minProperties":1,"additionalProperties":false,"patternProperties":{"^.+$":{"type":"number","minimum":0,"maximum":1000000000}},"examples":[{"Free":1,"Pro":50}]},"warn_at":{"description":"Percentage of the amount from which answers and the log have a warning.","type":"string","pattern":"^(?:100|[1-9][0-9]?)%$","examples":["90%"]}}};
const pattern47 = new RegExp("^.+$", "u");
const pattern49 = new RegExp("^(?:100|[1-9][0-9]?)%$", "u");

function validate303(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/budget.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((key0 === "period") || (key0 === "amount")) || (key0 === "tiers")) || (key0 === "warn_at"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema92,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.period !== undefined){
let data0 = data.period;
if(!((data0 === "month") || (data0 === "day"))){
const err1 = {instancePath:instancePath+"/period",schemaPath:"#/properties/period/enum",keyword:"enum",params:{allowedValues: schema92.properties.period.enum},message:"must be equal to one of the allowed values",schema:schema92.properties.period.enum,parentSchema:schema92.properties.period,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.amount !== undefined){
let data1 = data.amount;
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 1000000000 || isNaN(data1)){
const err2 = {instancePath:instancePath+"/amount",schemaPath:"#/properties/amount/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema92.properties.amount,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data1 < 0 || isNaN(data1)){
const err3 = {instancePath:instancePath+"/amount",schemaPath:"#/properties/amount/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema92.properties.amount,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/amount",schemaPath:"#/properties/amount/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema92.properties.amount.type,parentSchema:schema92.properties.amount,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.tiers !== undefined){
let data2 = data.tiers;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(Object.keys(data2).length < 1){
const err5 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema92.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
for(const key1 in data2){
if(!(pattern47.test(key1))){
const err6 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema92.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
for(const key2 in data2){
if(pattern47.test(key2)){
let data3 = data2[key2];
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 1000000000 || isNaN(data3)){
const err7 = {instancePath:instancePath+"/tiers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/tiers/patternProperties/%5E.%2B%24/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema92.properties.tiers.patternProperties["^.+$"],data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data3 < 0 || isNaN(data3)){
const err8 = {instancePath:instancePath+"/tiers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/tiers/patternProperties/%5E.%2B%24/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema92.properties.tiers.patternProperties["^.+$"],data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/tiers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/tiers/patternProperties/%5E.%2B%24/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema92.properties.tiers.patternProperties["^.+$"].type,parentSchema:schema92.properties.tiers.patternProperties["^.+$"],data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
else {
const err10 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema92.properties.tiers.type,parentSchema:schema92.properties.tiers,data:data2};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.warn_at !== undefined){
let data4 = data.warn_at;
if(typeof data4 === "string"){
if(!pattern49.test(data4)){
const err11 = {instancePath:instancePath+"/warn_at",schemaPath:"#/properties/warn_at/pattern",keyword:"pattern",params:{pattern: "^(?:100|[1-9][0-9]?)%$"},message:"must match pattern \""+"^(?:100|[1-9][0-9]?)%$"+"\"",schema:"^(?:100|[1-9][0-9]?)%$",parentSchema:schema92.properties.warn_at,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/warn_at",schemaPath:"#/properties/warn_at/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema92.properties.warn_at.type,parentSchema:schema92.properties.warn_at,data:data4};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema92.type,parentSchema:schema92,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate303.errors = vErrors;
return errors === 0;
}


function validate302(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema91.required,parentSchema:schema91,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema91,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("budget" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "budget"},message:"must be equal to constant",schema:"budget",parentSchema:schema91.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate303(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate303.errors : vErrors.concat(validate303.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema91.type,parentSchema:schema91,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate302.errors = vErrors;
return errors === 0;
}

const schema93 = {"title":"StreamRelayStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Walks the model's chain and relays the answer; one per pipeline.","const":"stream-relay"},"options":{"description":"Options of the plugin.","$ref":"plugins/stream-relay.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]}}};
const schema94 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/stream-relay.schema.json","title":"StreamRelayOptions","description":"stream-relay takes no options: chains are declared under models.","type":"object","additionalProperties":false,"properties":{}};

function validate309(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/stream-relay.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema94,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema94.type,parentSchema:schema94,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate309.errors = vErrors;
return errors === 0;
}


function validate308(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema93.required,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("stream-relay" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "stream-relay"},message:"must be equal to constant",schema:"stream-relay",parentSchema:schema93.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate309(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate309.errors : vErrors.concat(validate309.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema93.type,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate308.errors = vErrors;
return errors === 0;
}

const schema95 = {"title":"MeterStep","type":"object","additionalProperties":false,"required":["use"],"properties":{"use":{"description":"Turns usage into a charge, once per request.","const":"meter"},"options":{"description":"Options of the plugin.","$ref":"plugins/meter.schema.json"},"when":{"description":"Only requests that match are handled. Without it, all requests are.","$ref":"#/definitions/condition"},"fail":{"description":"What happens to a request when the plugin throws.","$ref":"#/definitions/fail","examples":["closed","open"]},"timeout":{"description":"Longest time that one call of a hook may take. Without it, 5s for a local plugin, and no limit for a built-in one.","$ref":"#/definitions/positiveDuration","examples":["5s"]}}};
const schema96 = {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://route-gateway.example/schemas/plugins/meter.schema.json","title":"MeterOptions","description":"meter takes no options: prices are declared under models and billing.","type":"object","additionalProperties":false,"properties":{}};

function validate314(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/plugins/meter.schema.json" */;
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema96,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema96.type,parentSchema:schema96,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate314.errors = vErrors;
return errors === 0;
}


function validate313(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema95.required,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("meter" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "meter"},message:"must be equal to constant",schema:"meter",parentSchema:schema95.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate314(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate314.errors : vErrors.concat(validate314.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema95.type,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate313.errors = vErrors;
return errors === 0;
}


function validate237(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
const tag0 = data.use;
if(typeof tag0 == "string"){
if(tag0 === "auth"){
if(!(validate238(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate238.errors : vErrors.concat(validate238.errors);
errors = vErrors.length;
}
}
else if(tag0 === "plan-check"){
if(!(validate244(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate244.errors : vErrors.concat(validate244.errors);
errors = vErrors.length;
}
}
else if(tag0 === "quota"){
if(!(validate250(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate250.errors : vErrors.concat(validate250.errors);
errors = vErrors.length;
}
}
else if(tag0 === "breaker"){
if(!(validate256(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate256.errors : vErrors.concat(validate256.errors);
errors = vErrors.length;
}
}
else if(tag0 === "transform"){
if(!(validate262(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate262.errors : vErrors.concat(validate262.errors);
errors = vErrors.length;
}
}
else if(tag0 === "prompt-prefix"){
if(!(validate268(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate268.errors : vErrors.concat(validate268.errors);
errors = vErrors.length;
}
}
else if(tag0 === "guard-words"){
if(!(validate276(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate276.errors : vErrors.concat(validate276.errors);
errors = vErrors.length;
}
}
else if(tag0 === "pii-mask"){
if(!(validate282(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate282.errors : vErrors.concat(validate282.errors);
errors = vErrors.length;
}
}
else if(tag0 === "answer-cache"){
if(!(validate288(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate288.errors : vErrors.concat(validate288.errors);
errors = vErrors.length;
}
}
else if(tag0 === "header-tags"){
if(!(validate294(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate294.errors : vErrors.concat(validate294.errors);
errors = vErrors.length;
}
}
else if(tag0 === "budget"){
if(!(validate302(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate302.errors : vErrors.concat(validate302.errors);
errors = vErrors.length;
}
}
else if(tag0 === "stream-relay"){
if(!(validate308(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate308.errors : vErrors.concat(validate308.errors);
errors = vErrors.length;
}
}
else if(tag0 === "meter"){
if(!(validate313(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate313.errors : vErrors.concat(validate313.errors);
errors = vErrors.length;
}
}
else {
const err0 = {instancePath,schemaPath:"#/discriminator",keyword:"discriminator",params:{error: "mapping", tag: "use", tagValue: tag0},message:"value of tag \"use\" must be in oneOf",schema:schema68.discriminator,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/discriminator",keyword:"discriminator",params:{error: "tag", tag: "use", tagValue: tag0},message:"tag \"use\" must be string",schema:schema68.discriminator,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema68.type,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate237.errors = vErrors;
return errors === 0;
}


function validate229(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
let valid0 = false;
let passing0 = null;
const _errs1 = errors;
if(typeof data === "string"){
if(func3(data) < 1){
const err0 = {instancePath,schemaPath:"#/oneOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema64.oneOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/oneOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.oneOf[0].type,parentSchema:schema64.oneOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs1 === errors;
if(_valid0){
valid0 = true;
passing0 = 0;
}
const _errs3 = errors;
if(!(validate230(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate230.errors : vErrors.concat(validate230.errors);
errors = vErrors.length;
}
var _valid0 = _errs3 === errors;
if(_valid0 && valid0){
valid0 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid0 = true;
passing0 = 1;
}
const _errs4 = errors;
if(!(validate237(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate237.errors : vErrors.concat(validate237.errors);
errors = vErrors.length;
}
var _valid0 = _errs4 === errors;
if(_valid0 && valid0){
valid0 = false;
passing0 = [passing0, 2];
}
else {
if(_valid0){
valid0 = true;
passing0 = 2;
}
}
}
if(!valid0){
const err2 = {instancePath,schemaPath:"#/oneOf",keyword:"oneOf",params:{passingSchemas: passing0},message:"must match exactly one schema in oneOf",schema:schema64.oneOf,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate229.errors = vErrors;
return errors === 0;
}

const schema97 = {"title":"ReloadConfig","type":"object","additionalProperties":false,"properties":{"guard":{"description":"A changed file first serves a share of the users, and then takes over or is rolled back by itself. Without it, it takes over at once. The guard of the current configuration counts, not that of the changed file. Starts are not guarded.","$ref":"#/definitions/guard","examples":[{"share":"10%","for":"2m"}]}}};
const schema98 = {"title":"GuardConfig","type":"object","additionalProperties":false,"properties":{"share":{"description":"Percentage of the users that the changed file serves. A hash of the user and the file chooses them: the same ones on all instances.","type":"string","pattern":"^(?!0+(\\.0+)?%$)[0-9]{1,2}(\\.[0-9]{1,3})?%$","examples":["10%","0.5%"]},"for":{"description":"Time after which the changed file takes over if nothing speaks against it.","$ref":"#/definitions/positiveDuration","examples":["2m"]},"min_requests":{"description":"Requests that the changed file must have served before it can be rolled back early.","$ref":"#/definitions/count","examples":[50]},"max_error_ratio":{"description":"The changed file is rolled back if the share of its requests that fail is more than this many times that of the current configuration. 1 % of the requests may always fail.","type":"number","minimum":1,"maximum":1000,"examples":[2]},"max_ttft_ratio":{"description":"The changed file is rolled back if its time to the first token is more than this many times that of the current configuration.","type":"number","minimum":1,"maximum":1000,"examples":[1.5]}}};
const pattern50 = new RegExp("^(?!0+(\\.0+)?%$)[0-9]{1,2}(\\.[0-9]{1,3})?%$", "u");

function validate335(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "share") || (key0 === "for")) || (key0 === "min_requests")) || (key0 === "max_error_ratio")) || (key0 === "max_ttft_ratio"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema98,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.share !== undefined){
let data0 = data.share;
if(typeof data0 === "string"){
if(!pattern50.test(data0)){
const err1 = {instancePath:instancePath+"/share",schemaPath:"#/properties/share/pattern",keyword:"pattern",params:{pattern: "^(?!0+(\\.0+)?%$)[0-9]{1,2}(\\.[0-9]{1,3})?%$"},message:"must match pattern \""+"^(?!0+(\\.0+)?%$)[0-9]{1,2}(\\.[0-9]{1,3})?%$"+"\"",schema:"^(?!0+(\\.0+)?%$)[0-9]{1,2}(\\.[0-9]{1,3})?%$",parentSchema:schema98.properties.share,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/share",schemaPath:"#/properties/share/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema98.properties.share.type,parentSchema:schema98.properties.share,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.for !== undefined){
if(!(validate48(data.for, {instancePath:instancePath+"/for",parentData:data,parentDataProperty:"for",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.min_requests !== undefined){
if(!(validate55(data.min_requests, {instancePath:instancePath+"/min_requests",parentData:data,parentDataProperty:"min_requests",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.max_error_ratio !== undefined){
let data3 = data.max_error_ratio;
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 1000 || isNaN(data3)){
const err3 = {instancePath:instancePath+"/max_error_ratio",schemaPath:"#/properties/max_error_ratio/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000",schema:1000,parentSchema:schema98.properties.max_error_ratio,data:data3};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data3 < 1 || isNaN(data3)){
const err4 = {instancePath:instancePath+"/max_error_ratio",schemaPath:"#/properties/max_error_ratio/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema98.properties.max_error_ratio,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/max_error_ratio",schemaPath:"#/properties/max_error_ratio/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema98.properties.max_error_ratio.type,parentSchema:schema98.properties.max_error_ratio,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.max_ttft_ratio !== undefined){
let data4 = data.max_ttft_ratio;
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 1000 || isNaN(data4)){
const err6 = {instancePath:instancePath+"/max_ttft_ratio",schemaPath:"#/properties/max_ttft_ratio/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000",schema:1000,parentSchema:schema98.properties.max_ttft_ratio,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err7 = {instancePath:instancePath+"/max_ttft_ratio",schemaPath:"#/properties/max_ttft_ratio/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema98.properties.max_ttft_ratio,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/max_ttft_ratio",schemaPath:"#/properties/max_ttft_ratio/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema98.properties.max_ttft_ratio.type,parentSchema:schema98.properties.max_ttft_ratio,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema98.type,parentSchema:schema98,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate335.errors = vErrors;
return errors === 0;
}


function validate334(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(key0 === "guard")){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema97,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.guard !== undefined){
if(!(validate335(data.guard, {instancePath:instancePath+"/guard",parentData:data,parentDataProperty:"guard",rootData}))){
vErrors = vErrors === null ? validate335.errors : vErrors.concat(validate335.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema97.type,parentSchema:schema97,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate334.errors = vErrors;
return errors === 0;
}

const schema99 = {"title":"StatusConfig","type":"object","additionalProperties":false,"properties":{"incidents":{"description":"Incidents that GET /v1/status shows, in this order.","type":"array","items":{"$ref":"#/definitions/incident"},"examples":[[{"id":"2026-01-10-latency","title":"Slow answers of Swift","description":"Answers of Swift take longer than usual. We are looking into it.","severity":"warning","status":"ongoing","created_at":"2026-01-10T08:00:00Z"}]]}}};
const schema100 = {"title":"IncidentConfig","type":"object","additionalProperties":false,"required":["id","title","description","severity","status","created_at"],"properties":{"id":{"description":"Unique id of the incident.","type":"string","minLength":1,"examples":["2026-01-10-latency"]},"title":{"description":"Title, one line.","type":"string","minLength":1,"examples":["Slow answers of Swift"]},"description":{"description":"What users should know.","type":"string","examples":["Answers of Swift take longer than usual. We are looking into it."]},"severity":{"description":"How bad it is.","enum":["warning","error"]},"status":{"description":"Whether it is over.","enum":["ongoing","resolved"]},"created_at":{"description":"Date and time at which it began.","type":"string","format":"date-time","examples":["2026-01-10T08:00:00Z"]},"resolved_at":{"description":"Date and time at which it was over. null while it is ongoing.","anyOf":[{"type":"string","format":"date-time","examples":["2026-01-10T08:00:00Z"]},{"type":"null"}]}}};

function validate341(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'",schema:schema100.required,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.title === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "title"},message:"must have required property '"+"title"+"'",schema:schema100.required,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.description === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "description"},message:"must have required property '"+"description"+"'",schema:schema100.required,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.severity === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "severity"},message:"must have required property '"+"severity"+"'",schema:schema100.required,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.status === undefined){
const err4 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "status"},message:"must have required property '"+"status"+"'",schema:schema100.required,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.created_at === undefined){
const err5 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "created_at"},message:"must have required property '"+"created_at"+"'",schema:schema100.required,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
for(const key0 in data){
if(!(((((((key0 === "id") || (key0 === "title")) || (key0 === "description")) || (key0 === "severity")) || (key0 === "status")) || (key0 === "created_at")) || (key0 === "resolved_at"))){
const err6 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(func3(data0) < 1){
const err7 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema100.properties.id,data:data0};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema100.properties.id.type,parentSchema:schema100.properties.id,data:data0};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.title !== undefined){
let data1 = data.title;
if(typeof data1 === "string"){
if(func3(data1) < 1){
const err9 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema100.properties.title,data:data1};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/title",schemaPath:"#/properties/title/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema100.properties.title.type,parentSchema:schema100.properties.title,data:data1};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.description !== undefined){
let data2 = data.description;
if(typeof data2 !== "string"){
const err11 = {instancePath:instancePath+"/description",schemaPath:"#/properties/description/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema100.properties.description.type,parentSchema:schema100.properties.description,data:data2};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.severity !== undefined){
let data3 = data.severity;
if(!((data3 === "warning") || (data3 === "error"))){
const err12 = {instancePath:instancePath+"/severity",schemaPath:"#/properties/severity/enum",keyword:"enum",params:{allowedValues: schema100.properties.severity.enum},message:"must be equal to one of the allowed values",schema:schema100.properties.severity.enum,parentSchema:schema100.properties.severity,data:data3};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.status !== undefined){
let data4 = data.status;
if(!((data4 === "ongoing") || (data4 === "resolved"))){
const err13 = {instancePath:instancePath+"/status",schemaPath:"#/properties/status/enum",keyword:"enum",params:{allowedValues: schema100.properties.status.enum},message:"must be equal to one of the allowed values",schema:schema100.properties.status.enum,parentSchema:schema100.properties.status,data:data4};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.created_at !== undefined){
let data5 = data.created_at;
if(typeof data5 === "string"){
if(!(formats6.validate(data5))){
const err14 = {instancePath:instancePath+"/created_at",schemaPath:"#/properties/created_at/format",keyword:"format",params:{format: "date-time"},message:"must match format \""+"date-time"+"\"",schema:"date-time",parentSchema:schema100.properties.created_at,data:data5};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/created_at",schemaPath:"#/properties/created_at/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema100.properties.created_at.type,parentSchema:schema100.properties.created_at,data:data5};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.resolved_at !== undefined){
let data6 = data.resolved_at;
const _errs13 = errors;
let valid1 = false;
const _errs14 = errors;
if(typeof data6 === "string"){
if(!(formats6.validate(data6))){
const err16 = {instancePath:instancePath+"/resolved_at",schemaPath:"#/properties/resolved_at/anyOf/0/format",keyword:"format",params:{format: "date-time"},message:"must match format \""+"date-time"+"\"",schema:"date-time",parentSchema:schema100.properties.resolved_at.anyOf[0],data:data6};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
else {
const err17 = {instancePath:instancePath+"/resolved_at",schemaPath:"#/properties/resolved_at/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema100.properties.resolved_at.anyOf[0].type,parentSchema:schema100.properties.resolved_at.anyOf[0],data:data6};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
var _valid0 = _errs14 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs16 = errors;
if(data6 !== null){
const err18 = {instancePath:instancePath+"/resolved_at",schemaPath:"#/properties/resolved_at/anyOf/1/type",keyword:"type",params:{type: "null"},message:"must be null",schema:schema100.properties.resolved_at.anyOf[1].type,parentSchema:schema100.properties.resolved_at.anyOf[1],data:data6};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
var _valid0 = _errs16 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err19 = {instancePath:instancePath+"/resolved_at",schemaPath:"#/properties/resolved_at/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema100.properties.resolved_at.anyOf,parentSchema:schema100.properties.resolved_at,data:data6};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
else {
errors = _errs13;
if(vErrors !== null){
if(_errs13){
vErrors.length = _errs13;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err20 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema100.type,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
validate341.errors = vErrors;
return errors === 0;
}


function validate340(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(key0 === "incidents")){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema99,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.incidents !== undefined){
let data0 = data.incidents;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate341(data0[i0], {instancePath:instancePath+"/incidents/" + i0,parentData:data0,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate341.errors : vErrors.concat(validate341.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath:instancePath+"/incidents",schemaPath:"#/properties/incidents/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema99.properties.incidents.type,parentSchema:schema99.properties.incidents,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema99.type,parentSchema:schema99,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate340.errors = vErrors;
return errors === 0;
}

const schema101 = {"title":"SecretsConfig","type":"object","additionalProperties":false,"properties":{"refresh":{"description":"Time after which the commands of ${exec:…} run again in the background, at least 10s. A changed value serves new requests. Without it, they run only at a start and at a reload.","$ref":"#/definitions/positiveDuration","examples":["15m"]}}};

function validate344(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(key0 === "refresh")){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema101,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.refresh !== undefined){
if(!(validate48(data.refresh, {instancePath:instancePath+"/refresh",parentData:data,parentDataProperty:"refresh",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema101.type,parentSchema:schema101,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate344.errors = vErrors;
return errors === 0;
}

const schema102 = {"title":"TelemetryConfig","type":"object","additionalProperties":false,"properties":{"access_log":{"description":"The log line of each request.","$ref":"#/definitions/accessLog"},"server_timing":{"description":"When an answer has a Server-Timing header with the time that the gateway and the upstream took.","examples":["always"],"enum":["on_request","always","never"]},"otlp":{"description":"Sends traces and metrics by OTLP. Without it the variable OTEL_EXPORTER_OTLP_ENDPOINT decides; without both, nothing is sent. A change needs a restart.","$ref":"#/definitions/otlp"},"decision_log":{"description":"A file with one JSON line for each request, without prompts, as schemas/decision.schema.json describes it. Without it, no file is written.","$ref":"#/definitions/decisionLog"}}};
const schema103 = {"title":"AccessLogConfig","type":"object","additionalProperties":false,"properties":{"lines":{"description":"Which requests get a log line.","examples":["failures"],"enum":["all","failures","none"]},"users":{"description":"true: the line has a keyed digest of the user's id.","$ref":"#/definitions/flag","examples":[true]},"addresses":{"description":"true: the line has the client's IP address, which is personal data in many countries.","$ref":"#/definitions/flag","examples":[true]}}};

function validate348(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "lines") || (key0 === "users")) || (key0 === "addresses"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema103,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.lines !== undefined){
let data0 = data.lines;
if(!(((data0 === "all") || (data0 === "failures")) || (data0 === "none"))){
const err1 = {instancePath:instancePath+"/lines",schemaPath:"#/properties/lines/enum",keyword:"enum",params:{allowedValues: schema103.properties.lines.enum},message:"must be equal to one of the allowed values",schema:schema103.properties.lines.enum,parentSchema:schema103.properties.lines,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.users !== undefined){
if(!(validate36(data.users, {instancePath:instancePath+"/users",parentData:data,parentDataProperty:"users",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.addresses !== undefined){
if(!(validate36(data.addresses, {instancePath:instancePath+"/addresses",parentData:data,parentDataProperty:"addresses",rootData}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema103.type,parentSchema:schema103,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate348.errors = vErrors;
return errors === 0;
}

const schema104 = {"title":"OtlpConfig","type":"object","additionalProperties":false,"required":["endpoint"],"properties":{"endpoint":{"description":"Base URL of a receiver of OTLP over HTTP (JSON). /v1/traces and /v1/metrics are appended.","type":"string","pattern":"^https?://[^\\s?#]+$","examples":["http://127.0.0.1:4318"]},"headers":{"description":"Further headers of what is sent there.","type":"object","additionalProperties":false,"patternProperties":{"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$":{"type":"string","pattern":"^[^\\u0000\\r\\n]*$","examples":["Bearer ${env:OTLP_TOKEN}"]}},"examples":[{"authorization":"Bearer ${env:OTLP_TOKEN}"}],"propertyNames":{"examples":["authorization"]}},"sample":{"description":"Share of the traces that begin here which are sent, from 0 to 1. For others the caller has decided.","examples":[0.1],"type":"number","minimum":0,"maximum":1},"interval":{"description":"Time between two exports of the metrics.","$ref":"#/definitions/positiveDuration","examples":["30s"]}}};
const pattern51 = new RegExp("^https?://[^\\s?#]+$", "u");

function validate352(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.endpoint === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "endpoint"},message:"must have required property '"+"endpoint"+"'",schema:schema104.required,parentSchema:schema104,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "endpoint") || (key0 === "headers")) || (key0 === "sample")) || (key0 === "interval"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema104,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.endpoint !== undefined){
let data0 = data.endpoint;
if(typeof data0 === "string"){
if(!pattern51.test(data0)){
const err2 = {instancePath:instancePath+"/endpoint",schemaPath:"#/properties/endpoint/pattern",keyword:"pattern",params:{pattern: "^https?://[^\\s?#]+$"},message:"must match pattern \""+"^https?://[^\\s?#]+$"+"\"",schema:"^https?://[^\\s?#]+$",parentSchema:schema104.properties.endpoint,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/endpoint",schemaPath:"#/properties/endpoint/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.endpoint.type,parentSchema:schema104.properties.endpoint,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.headers !== undefined){
let data1 = data.headers;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
for(const key1 in data1){
if(!(pattern23.test(key1))){
const err4 = {instancePath:instancePath+"/headers",schemaPath:"#/properties/headers/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema104.properties.headers,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
for(const key2 in data1){
if(pattern23.test(key2)){
let data2 = data1[key2];
if(typeof data2 === "string"){
if(!pattern26.test(data2)){
const err5 = {instancePath:instancePath+"/headers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/headers/patternProperties/%5E%5BA-Za-z0-9!%23%24%25%26'*%2B.%5E_%60%7C~0-%5D%2B%24/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000\\r\\n]*$"},message:"must match pattern \""+"^[^\\u0000\\r\\n]*$"+"\"",schema:"^[^\\u0000\\r\\n]*$",parentSchema:schema104.properties.headers.patternProperties["^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"],data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/headers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/headers/patternProperties/%5E%5BA-Za-z0-9!%23%24%25%26'*%2B.%5E_%60%7C~0-%5D%2B%24/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.headers.patternProperties["^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"].type,parentSchema:schema104.properties.headers.patternProperties["^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"],data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
else {
const err7 = {instancePath:instancePath+"/headers",schemaPath:"#/properties/headers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema104.properties.headers.type,parentSchema:schema104.properties.headers,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.sample !== undefined){
let data3 = data.sample;
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 1 || isNaN(data3)){
const err8 = {instancePath:instancePath+"/sample",schemaPath:"#/properties/sample/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1",schema:1,parentSchema:schema104.properties.sample,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data3 < 0 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/sample",schemaPath:"#/properties/sample/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema104.properties.sample,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/sample",schemaPath:"#/properties/sample/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema104.properties.sample.type,parentSchema:schema104.properties.sample,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.interval !== undefined){
if(!(validate48(data.interval, {instancePath:instancePath+"/interval",parentData:data,parentDataProperty:"interval",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema104.type,parentSchema:schema104,data};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate352.errors = vErrors;
return errors === 0;
}

const schema105 = {"title":"DecisionLogConfig","type":"object","additionalProperties":false,"required":["file"],"properties":{"file":{"description":"File that lines are appended to, relative to this file's folder. It is opened again at every reload.","type":"string","minLength":1,"examples":["./data/decisions.jsonl"]},"max_size":{"description":"Size at which the file is renamed to FILE.TIME and a new one begins.","$ref":"#/definitions/size","examples":["64MiB"]},"keep":{"description":"Number of renamed files that are kept. The oldest are deleted.","examples":[8],"type":"integer","minimum":0,"maximum":10000}}};

function validate355(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.file === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "file"},message:"must have required property '"+"file"+"'",schema:schema105.required,parentSchema:schema105,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "file") || (key0 === "max_size")) || (key0 === "keep"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema105,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.file !== undefined){
let data0 = data.file;
if(typeof data0 === "string"){
if(func3(data0) < 1){
const err2 = {instancePath:instancePath+"/file",schemaPath:"#/properties/file/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema105.properties.file,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/file",schemaPath:"#/properties/file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema105.properties.file.type,parentSchema:schema105.properties.file,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.max_size !== undefined){
if(!(validate42(data.max_size, {instancePath:instancePath+"/max_size",parentData:data,parentDataProperty:"max_size",rootData}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
if(data.keep !== undefined){
let data2 = data.keep;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err4 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema105.properties.keep.type,parentSchema:schema105.properties.keep,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 10000 || isNaN(data2)){
const err5 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000},message:"must be <= 10000",schema:10000,parentSchema:schema105.properties.keep,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data2 < 0 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema105.properties.keep,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema105.type,parentSchema:schema105,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate355.errors = vErrors;
return errors === 0;
}


function validate347(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((key0 === "access_log") || (key0 === "server_timing")) || (key0 === "otlp")) || (key0 === "decision_log"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema102,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.access_log !== undefined){
if(!(validate348(data.access_log, {instancePath:instancePath+"/access_log",parentData:data,parentDataProperty:"access_log",rootData}))){
vErrors = vErrors === null ? validate348.errors : vErrors.concat(validate348.errors);
errors = vErrors.length;
}
}
if(data.server_timing !== undefined){
let data1 = data.server_timing;
if(!(((data1 === "on_request") || (data1 === "always")) || (data1 === "never"))){
const err1 = {instancePath:instancePath+"/server_timing",schemaPath:"#/properties/server_timing/enum",keyword:"enum",params:{allowedValues: schema102.properties.server_timing.enum},message:"must be equal to one of the allowed values",schema:schema102.properties.server_timing.enum,parentSchema:schema102.properties.server_timing,data:data1};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.otlp !== undefined){
if(!(validate352(data.otlp, {instancePath:instancePath+"/otlp",parentData:data,parentDataProperty:"otlp",rootData}))){
vErrors = vErrors === null ? validate352.errors : vErrors.concat(validate352.errors);
errors = vErrors.length;
}
}
if(data.decision_log !== undefined){
if(!(validate355(data.decision_log, {instancePath:instancePath+"/decision_log",parentData:data,parentDataProperty:"decision_log",rootData}))){
vErrors = vErrors === null ? validate355.errors : vErrors.concat(validate355.errors);
errors = vErrors.length;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema102.type,parentSchema:schema102,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate347.errors = vErrors;
return errors === 0;
}


function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
/*# sourceURL="https://route-gateway.example/schemas/gateway.source.schema.json" */;
let vErrors = null;
let errors = 0;
const _errs1 = errors;
let valid0 = true;
const _errs2 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.tiers === undefined) && (missing0 = "tiers")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
else {
if(data.tiers !== undefined){
let data0 = data.tiers;
const _errs3 = errors;
if(errors === _errs3){
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(Object.keys(data0).length < 1){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
}
}
var _valid0 = _errs2 === errors;
errors = _errs1;
if(vErrors !== null){
if(_errs1){
vErrors.length = _errs1;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs5 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(pattern0.test(key0)){
let data1 = data[key0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
for(const key1 in data1){
if(pattern1.test(key1)){
let data2 = data1[key1];
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.kind !== undefined){
if(data2.tier === undefined){
const err3 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/then/patternProperties/%5Emodels%24/patternProperties/%5Eroute~1/dependencies",keyword:"dependencies",params:{property: "kind",
    missingProperty: "tier",
    depsCount: 1,
    deps: "tier"},message:"must have property tier when property kind is present",schema:schema6.then.patternProperties["^models$"].patternProperties["^route/"].dependencies,parentSchema:schema6.then.patternProperties["^models$"].patternProperties["^route/"],data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/then/patternProperties/%5Emodels%24/patternProperties/%5Eroute~1/type",keyword:"type",params:{type: schema6.then.patternProperties["^models$"].patternProperties["^route/"].type},message:"must be object",schema:schema6.then.patternProperties["^models$"].patternProperties["^route/"].type,parentSchema:schema6.then.patternProperties["^models$"].patternProperties["^route/"],data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
else {
const err5 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/then/patternProperties/%5Emodels%24/type",keyword:"type",params:{type: schema6.then.patternProperties["^models$"].type},message:"must be object",schema:schema6.then.patternProperties["^models$"].type,parentSchema:schema6.then.patternProperties["^models$"],data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
for(const key2 in data){
if(pattern2.test(key2)){
let data3 = data[key2];
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key3 in data3){
if(pattern3.test(key3)){
let data4 = data3[key3];
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
for(const key4 in data4){
if(pattern0.test(key4)){
let data5 = data4[key4];
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
if(data5.include !== undefined){
if(data5.tier === undefined){
const err6 = {instancePath:instancePath+"/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key3.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/then/patternProperties/%5Eupstreams%24/patternProperties//patternProperties/%5Emodels%24/dependencies",keyword:"dependencies",params:{property: "include",
    missingProperty: "tier",
    depsCount: 1,
    deps: "tier"},message:"must have property tier when property include is present",schema:schema6.then.patternProperties["^upstreams$"].patternProperties[""].patternProperties["^models$"].dependencies,parentSchema:schema6.then.patternProperties["^upstreams$"].patternProperties[""].patternProperties["^models$"],data:data5};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath:instancePath+"/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key3.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/then/patternProperties/%5Eupstreams%24/patternProperties//patternProperties/%5Emodels%24/type",keyword:"type",params:{type: schema6.then.patternProperties["^upstreams$"].patternProperties[""].patternProperties["^models$"].type},message:"must be object",schema:schema6.then.patternProperties["^upstreams$"].patternProperties[""].patternProperties["^models$"].type,parentSchema:schema6.then.patternProperties["^upstreams$"].patternProperties[""].patternProperties["^models$"],data:data5};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
else {
const err8 = {instancePath:instancePath+"/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/then/patternProperties/%5Eupstreams%24/patternProperties//type",keyword:"type",params:{type: schema6.then.patternProperties["^upstreams$"].patternProperties[""].type},message:"must be object",schema:schema6.then.patternProperties["^upstreams$"].patternProperties[""].type,parentSchema:schema6.then.patternProperties["^upstreams$"].patternProperties[""],data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
}
else {
const err9 = {instancePath:instancePath+"/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/then/patternProperties/%5Eupstreams%24/type",keyword:"type",params:{type: schema6.then.patternProperties["^upstreams$"].type},message:"must be object",schema:schema6.then.patternProperties["^upstreams$"].type,parentSchema:schema6.then.patternProperties["^upstreams$"],data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
var _valid0 = _errs5 === errors;
valid0 = _valid0;
}
if(!valid0){
const err10 = {instancePath,schemaPath:"#/if",keyword:"if",params:{failingKeyword: "then"},message:"must match \"then\" schema",schema:schema6.if,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.version === undefined){
const err11 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "version"},message:"must have required property '"+"version"+"'",schema:schema6.required,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data.upstreams === undefined){
const err12 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "upstreams"},message:"must have required property '"+"upstreams"+"'",schema:schema6.required,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
for(const key5 in data){
if(!(func2.call(schema6.properties, key5))){
const err13 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties",schema:false,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.version !== undefined){
let data6 = data.version;
if(1 !== data6){
const err14 = {instancePath:instancePath+"/version",schemaPath:"#/properties/version/const",keyword:"const",params:{allowedValue: 1},message:"must be equal to constant",schema:1,parentSchema:schema6.properties.version,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.include !== undefined){
let data7 = data.include;
if(Array.isArray(data7)){
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
if(typeof data8 === "string"){
if(func3(data8) < 1){
const err15 = {instancePath:instancePath+"/include/" + i0,schemaPath:"#/properties/include/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema6.properties.include.items,data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
else {
const err16 = {instancePath:instancePath+"/include/" + i0,schemaPath:"#/properties/include/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.properties.include.items.type,parentSchema:schema6.properties.include.items,data:data8};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
else {
const err17 = {instancePath:instancePath+"/include",schemaPath:"#/properties/include/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema6.properties.include.type,parentSchema:schema6.properties.include,data:data7};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.server !== undefined){
if(!(validate22(data.server, {instancePath:instancePath+"/server",parentData:data,parentDataProperty:"server",rootData}))){
vErrors = vErrors === null ? validate22.errors : vErrors.concat(validate22.errors);
errors = vErrors.length;
}
}
if(data.store !== undefined){
if(!(validate68(data.store, {instancePath:instancePath+"/store",parentData:data,parentDataProperty:"store",rootData}))){
vErrors = vErrors === null ? validate68.errors : vErrors.concat(validate68.errors);
errors = vErrors.length;
}
}
if(data.auth !== undefined){
if(!(validate72(data.auth, {instancePath:instancePath+"/auth",parentData:data,parentDataProperty:"auth",rootData}))){
vErrors = vErrors === null ? validate72.errors : vErrors.concat(validate72.errors);
errors = vErrors.length;
}
}
if(data.billing !== undefined){
if(!(validate88(data.billing, {instancePath:instancePath+"/billing",parentData:data,parentDataProperty:"billing",rootData}))){
vErrors = vErrors === null ? validate88.errors : vErrors.concat(validate88.errors);
errors = vErrors.length;
}
}
if(data.tiers !== undefined){
let data13 = data.tiers;
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
if(Object.keys(data13).length < 1){
const err18 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema6.properties.tiers,data:data13};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
for(const key6 in data13){
if(!(pattern17.test(key6))){
const err19 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties",schema:false,parentSchema:schema6.properties.tiers,data:data13};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
for(const key7 in data13){
if(pattern17.test(key7)){
if(!(validate99(data13[key7], {instancePath:instancePath+"/tiers/" + key7.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data13,parentDataProperty:key7,rootData}))){
vErrors = vErrors === null ? validate99.errors : vErrors.concat(validate99.errors);
errors = vErrors.length;
}
}
}
}
else {
const err20 = {instancePath:instancePath+"/tiers",schemaPath:"#/properties/tiers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema6.properties.tiers.type,parentSchema:schema6.properties.tiers,data:data13};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.defaults !== undefined){
if(!(validate108(data.defaults, {instancePath:instancePath+"/defaults",parentData:data,parentDataProperty:"defaults",rootData}))){
vErrors = vErrors === null ? validate108.errors : vErrors.concat(validate108.errors);
errors = vErrors.length;
}
}
if(data.upstreams !== undefined){
let data16 = data.upstreams;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
for(const key8 in data16){
if(!(pattern19.test(key8))){
const err21 = {instancePath:instancePath+"/upstreams",schemaPath:"#/properties/upstreams/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties",schema:false,parentSchema:schema6.properties.upstreams,data:data16};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
for(const key9 in data16){
if(pattern19.test(key9)){
if(!(validate158(data16[key9], {instancePath:instancePath+"/upstreams/" + key9.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data16,parentDataProperty:key9,rootData}))){
vErrors = vErrors === null ? validate158.errors : vErrors.concat(validate158.errors);
errors = vErrors.length;
}
}
}
}
else {
const err22 = {instancePath:instancePath+"/upstreams",schemaPath:"#/properties/upstreams/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema6.properties.upstreams.type,parentSchema:schema6.properties.upstreams,data:data16};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.models !== undefined){
let data18 = data.models;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
for(const key10 in data18){
if(!(pattern30.test(key10))){
const err23 = {instancePath:instancePath+"/models",schemaPath:"#/properties/models/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties",schema:false,parentSchema:schema6.properties.models,data:data18};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
for(const key11 in data18){
if(pattern30.test(key11)){
if(!(validate200(data18[key11], {instancePath:instancePath+"/models/" + key11.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data18,parentDataProperty:key11,rootData}))){
vErrors = vErrors === null ? validate200.errors : vErrors.concat(validate200.errors);
errors = vErrors.length;
}
}
}
}
else {
const err24 = {instancePath:instancePath+"/models",schemaPath:"#/properties/models/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema6.properties.models.type,parentSchema:schema6.properties.models,data:data18};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.pipeline !== undefined){
let data20 = data.pipeline;
if(Array.isArray(data20)){
if(data20.length < 1){
const err25 = {instancePath:instancePath+"/pipeline",schemaPath:"#/properties/pipeline/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema6.properties.pipeline,data:data20};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
const len1 = data20.length;
for(let i1=0; i1<len1; i1++){
if(!(validate229(data20[i1], {instancePath:instancePath+"/pipeline/" + i1,parentData:data20,parentDataProperty:i1,rootData}))){
vErrors = vErrors === null ? validate229.errors : vErrors.concat(validate229.errors);
errors = vErrors.length;
}
}
}
else {
const err26 = {instancePath:instancePath+"/pipeline",schemaPath:"#/properties/pipeline/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema6.properties.pipeline.type,parentSchema:schema6.properties.pipeline,data:data20};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.reload !== undefined){
if(!(validate334(data.reload, {instancePath:instancePath+"/reload",parentData:data,parentDataProperty:"reload",rootData}))){
vErrors = vErrors === null ? validate334.errors : vErrors.concat(validate334.errors);
errors = vErrors.length;
}
}
if(data.status !== undefined){
if(!(validate340(data.status, {instancePath:instancePath+"/status",parentData:data,parentDataProperty:"status",rootData}))){
vErrors = vErrors === null ? validate340.errors : vErrors.concat(validate340.errors);
errors = vErrors.length;
}
}
if(data.secrets !== undefined){
if(!(validate344(data.secrets, {instancePath:instancePath+"/secrets",parentData:data,parentDataProperty:"secrets",rootData}))){
vErrors = vErrors === null ? validate344.errors : vErrors.concat(validate344.errors);
errors = vErrors.length;
}
}
if(data.telemetry !== undefined){
if(!(validate347(data.telemetry, {instancePath:instancePath+"/telemetry",parentData:data,parentDataProperty:"telemetry",rootData}))){
vErrors = vErrors === null ? validate347.errors : vErrors.concat(validate347.errors);
errors = vErrors.length;
}
}
}
else {
const err27 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema6.type,parentSchema:schema6,data};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
validate21.errors = vErrors;
return errors === 0;
}

export const branch0 = validate359;
const schema106 = {"type":"string","format":"date","examples":["2027-01-15"]};

function validate359(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(!(formats0.validate(data))){
const err0 = {instancePath,schemaPath:"#/format",keyword:"format",params:{format: "date"},message:"must match format \""+"date"+"\"",schema:"date",parentSchema:schema106,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema106.type,parentSchema:schema106,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate359.errors = vErrors;
return errors === 0;
}

export const branch1 = validate360;
const schema107 = {"type":"string","format":"date-time","examples":["2027-01-15T12:00:00Z"]};

function validate360(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(!(formats6.validate(data))){
const err0 = {instancePath,schemaPath:"#/format",keyword:"format",params:{format: "date-time"},message:"must match format \""+"date-time"+"\"",schema:"date-time",parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema107.type,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate360.errors = vErrors;
return errors === 0;
}

export const branch2 = validate361;
const schema108 = {"type":"integer","minimum":0,"maximum":1000000000};

function validate361(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema108.type,parentSchema:schema108,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000000 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema108,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 0 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema108,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate361.errors = vErrors;
return errors === 0;
}

export const branch3 = validate362;
const schema109 = {"const":"none"};

function validate362(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if("none" !== data){
const err0 = {instancePath,schemaPath:"#/const",keyword:"const",params:{allowedValue: "none"},message:"must be equal to constant",schema:"none",parentSchema:schema109,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate362.errors = vErrors;
return errors === 0;
}

export const branch4 = validate363;
const schema110 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/ipLimit"};

function validate364(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.requests === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "requests"},message:"must have required property '"+"requests"+"'",schema:schema19.required,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.window === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "window"},message:"must have required property '"+"window"+"'",schema:schema19.required,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "requests") || (key0 === "window"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.requests !== undefined){
if(!(validate55(data.requests, {instancePath:instancePath+"/requests",parentData:data,parentDataProperty:"requests",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.window !== undefined){
if(!(validate48(data.window, {instancePath:instancePath+"/window",parentData:data,parentDataProperty:"window",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.type,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate364.errors = vErrors;
return errors === 0;
}


function validate363(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate364(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate364.errors : vErrors.concat(validate364.errors);
errors = vErrors.length;
}
validate363.errors = vErrors;
return errors === 0;
}

export const branch5 = validate368;
const schema112 = {"type":"integer","minimum":1,"maximum":1000000};

function validate368(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema112.type,parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 1 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate368.errors = vErrors;
return errors === 0;
}

export const branch6 = validate369;
const schema113 = {"type":"number","exclusiveMinimum":0,"maximum":1};

function validate369(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if((typeof data == "number") && (isFinite(data))){
if(data > 1 || isNaN(data)){
const err0 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1",schema:1,parentSchema:schema113,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data <= 0 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema113,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema113.type,parentSchema:schema113,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate369.errors = vErrors;
return errors === 0;
}

export const branch7 = validate370;
const schema114 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/size"};

function validate371(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(!pattern7.test(data)){
const err0 = {instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$"},message:"must match pattern \""+"^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$"+"\"",schema:"^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$",parentSchema:schema15,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema15.type,parentSchema:schema15,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate371.errors = vErrors;
return errors === 0;
}


function validate370(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate371(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate371.errors : vErrors.concat(validate371.errors);
errors = vErrors.length;
}
validate370.errors = vErrors;
return errors === 0;
}

export const branch8 = validate373;
const schema116 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/signup"};

function validate374(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "tier") || (key0 === "credits")) || (key0 === "domains"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema28,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.tier !== undefined){
let data0 = data.tier;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.tier.type,parentSchema:schema28.properties.tier,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.credits !== undefined){
if(!(validate80(data.credits, {instancePath:instancePath+"/credits",parentData:data,parentDataProperty:"credits",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
if(data.domains !== undefined){
let data2 = data.domains;
if(Array.isArray(data2)){
if(data2.length < 1){
const err2 = {instancePath:instancePath+"/domains",schemaPath:"#/properties/domains/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema28.properties.domains,data:data2};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(typeof data3 === "string"){
if(func3(data3) > 253){
const err3 = {instancePath:instancePath+"/domains/" + i0,schemaPath:"#/properties/domains/items/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters",schema:253,parentSchema:schema28.properties.domains.items,data:data3};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!pattern12.test(data3)){
const err4 = {instancePath:instancePath+"/domains/" + i0,schemaPath:"#/properties/domains/items/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"},message:"must match pattern \""+"^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"+"\"",schema:"^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",parentSchema:schema28.properties.domains.items,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/domains/" + i0,schemaPath:"#/properties/domains/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema28.properties.domains.items.type,parentSchema:schema28.properties.domains.items,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath:instancePath+"/domains",schemaPath:"#/properties/domains/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema28.properties.domains.type,parentSchema:schema28.properties.domains,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema28.type,parentSchema:schema28,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate374.errors = vErrors;
return errors === 0;
}


function validate373(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate374(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate374.errors : vErrors.concat(validate374.errors);
errors = vErrors.length;
}
validate373.errors = vErrors;
return errors === 0;
}

export const branch9 = validate377;
const schema118 = {"const":"off"};

function validate377(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if("off" !== data){
const err0 = {instancePath,schemaPath:"#/const",keyword:"const",params:{allowedValue: "off"},message:"must be equal to constant",schema:"off",parentSchema:schema118,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate377.errors = vErrors;
return errors === 0;
}

export const branch10 = validate378;
const schema119 = {"type":"array","uniqueItems":true,"items":{"type":"string"}};

function validate378(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(Array.isArray(data)){
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if(typeof data0 !== "string"){
const err0 = {instancePath:instancePath+"/" + i0,schemaPath:"#/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema119.items.type,parentSchema:schema119.items,data:data0};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
let i1 = data.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err1 = {instancePath,schemaPath:"#/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema119,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema119.type,parentSchema:schema119,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate378.errors = vErrors;
return errors === 0;
}

export const branch11 = validate379;
const schema120 = {"const":"all"};

function validate379(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if("all" !== data){
const err0 = {instancePath,schemaPath:"#/const",keyword:"const",params:{allowedValue: "all"},message:"must be equal to constant",schema:"all",parentSchema:schema120,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate379.errors = vErrors;
return errors === 0;
}

export const branch12 = validate380;
const schema121 = {"type":"integer","minimum":1,"maximum":1000000000};

function validate380(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema121.type,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000000 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data < 1 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate380.errors = vErrors;
return errors === 0;
}

export const branch13 = validate381;
const schema122 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/probeSettings"};

function validate382(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.every === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "every"},message:"must have required property '"+"every"+"'",schema:schema46.required,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "every") || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.every !== undefined){
if(!(validate48(data.every, {instancePath:instancePath+"/every",parentData:data,parentDataProperty:"every",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema46.type,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate382.errors = vErrors;
return errors === 0;
}


function validate381(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate382(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate382.errors : vErrors.concat(validate382.errors);
errors = vErrors.length;
}
validate381.errors = vErrors;
return errors === 0;
}

export const branch14 = validate386;
const schema124 = {"type":"number","minimum":0,"maximum":1000000000};

function validate386(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if((typeof data == "number") && (isFinite(data))){
if(data > 1000000000 || isNaN(data)){
const err0 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data < 0 || isNaN(data)){
const err1 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema124.type,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate386.errors = vErrors;
return errors === 0;
}

export const branch15 = validate387;
const schema125 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/imagePrice"};

function validate388(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.default === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "default"},message:"must have required property '"+"default"+"'",schema:schema53.required,parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "default") || (pattern21.test(key0)))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.default !== undefined){
if(!(validate80(data.default, {instancePath:instancePath+"/default",parentData:data,parentDataProperty:"default",rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
for(const key1 in data){
if(pattern21.test(key1)){
if(!(validate80(data[key1], {instancePath:instancePath+"/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data,parentDataProperty:key1,rootData}))){
vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
errors = vErrors.length;
}
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema53.type,parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate388.errors = vErrors;
return errors === 0;
}


function validate387(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate388(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate388.errors : vErrors.concat(validate388.errors);
errors = vErrors.length;
}
validate387.errors = vErrors;
return errors === 0;
}

export const branch16 = validate392;
const schema127 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/target"};

function validate393(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.upstream === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "upstream"},message:"must have required property '"+"upstream"+"'",schema:schema61.required,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.model === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "model"},message:"must have required property '"+"model"+"'",schema:schema61.required,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema61.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.upstream !== undefined){
let data0 = data.upstream;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/upstream",schemaPath:"#/properties/upstream/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema61.properties.upstream.type,parentSchema:schema61.properties.upstream,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.model !== undefined){
let data1 = data.model;
if(typeof data1 === "string"){
if(func3(data1) < 1){
const err4 = {instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema61.properties.model,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema61.properties.model.type,parentSchema:schema61.properties.model,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.weight !== undefined){
let data2 = data.weight;
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 1000000 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema61.properties.weight,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2 < 0 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema61.properties.weight,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema61.properties.weight.type,parentSchema:schema61.properties.weight,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.timeouts !== undefined){
if(!(validate110(data.timeouts, {instancePath:instancePath+"/timeouts",parentData:data,parentDataProperty:"timeouts",rootData}))){
vErrors = vErrors === null ? validate110.errors : vErrors.concat(validate110.errors);
errors = vErrors.length;
}
}
if(data.context_window !== undefined){
if(!(validate55(data.context_window, {instancePath:instancePath+"/context_window",parentData:data,parentDataProperty:"context_window",rootData}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.features !== undefined){
let data5 = data.features;
if(Array.isArray(data5)){
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
let data6 = data5[i0];
if(typeof data6 === "string"){
if(!pattern32.test(data6)){
const err9 = {instancePath:instancePath+"/features/" + i0,schemaPath:"#/properties/features/items/pattern",keyword:"pattern",params:{pattern: "^[a-z][a-z0-9_-]*$"},message:"must match pattern \""+"^[a-z][a-z0-9_-]*$"+"\"",schema:"^[a-z][a-z0-9_-]*$",parentSchema:schema61.properties.features.items,data:data6};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/features/" + i0,schemaPath:"#/properties/features/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema61.properties.features.items.type,parentSchema:schema61.properties.features.items,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
let i1 = data5.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data5[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err11 = {instancePath:instancePath+"/features",schemaPath:"#/properties/features/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i1+" are identical)",schema:true,parentSchema:schema61.properties.features,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err12 = {instancePath:instancePath+"/features",schemaPath:"#/properties/features/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema61.properties.features.type,parentSchema:schema61.properties.features,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.fail_over_on !== undefined){
if(!(validate212(data.fail_over_on, {instancePath:instancePath+"/fail_over_on",parentData:data,parentDataProperty:"fail_over_on",rootData}))){
vErrors = vErrors === null ? validate212.errors : vErrors.concat(validate212.errors);
errors = vErrors.length;
}
}
if(data.cost !== undefined){
if(!(validate160(data.cost, {instancePath:instancePath+"/cost",parentData:data,parentDataProperty:"cost",rootData}))){
vErrors = vErrors === null ? validate160.errors : vErrors.concat(validate160.errors);
errors = vErrors.length;
}
}
if(data.parameters !== undefined){
if(!(validate220(data.parameters, {instancePath:instancePath+"/parameters",parentData:data,parentDataProperty:"parameters",rootData}))){
vErrors = vErrors === null ? validate220.errors : vErrors.concat(validate220.errors);
errors = vErrors.length;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema61.type,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate393.errors = vErrors;
return errors === 0;
}


function validate392(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate393(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate393.errors : vErrors.concat(validate393.errors);
errors = vErrors.length;
}
validate392.errors = vErrors;
return errors === 0;
}

export const branch17 = validate400;
const schema129 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/balancedStep"};

function validate401(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.balance === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "balance"},message:"must have required property '"+"balance"+"'",schema:schema63.required,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.targets === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "targets"},message:"must have required property '"+"targets"+"'",schema:schema63.required,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "balance") || (key0 === "fail_over_on")) || (key0 === "targets"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.balance !== undefined){
let data0 = data.balance;
if(!(((data0 === "weighted") || (data0 === "latency")) || (data0 === "sticky"))){
const err3 = {instancePath:instancePath+"/balance",schemaPath:"#/properties/balance/enum",keyword:"enum",params:{allowedValues: schema63.properties.balance.enum},message:"must be equal to one of the allowed values",schema:schema63.properties.balance.enum,parentSchema:schema63.properties.balance,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.fail_over_on !== undefined){
if(!(validate212(data.fail_over_on, {instancePath:instancePath+"/fail_over_on",parentData:data,parentDataProperty:"fail_over_on",rootData}))){
vErrors = vErrors === null ? validate212.errors : vErrors.concat(validate212.errors);
errors = vErrors.length;
}
}
if(data.targets !== undefined){
let data2 = data.targets;
if(Array.isArray(data2)){
if(data2.length < 1){
const err4 = {instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema63.properties.targets,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
if(!(validate215(data2[i0], {instancePath:instancePath+"/targets/" + i0,parentData:data2,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate215.errors : vErrors.concat(validate215.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema63.properties.targets.type,parentSchema:schema63.properties.targets,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema63.type,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate401.errors = vErrors;
return errors === 0;
}


function validate400(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate401(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate401.errors : vErrors.concat(validate401.errors);
errors = vErrors.length;
}
validate400.errors = vErrors;
return errors === 0;
}

export const branch18 = validate405;
const schema131 = {"type":"string","minLength":1};

function validate405(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(func3(data) < 1){
const err0 = {instancePath,schemaPath:"#/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema131,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema131.type,parentSchema:schema131,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate405.errors = vErrors;
return errors === 0;
}

export const branch19 = validate406;
const schema132 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/localStep"};

function validate407(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema65.required,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if(typeof data0 === "string"){
if(!pattern39.test(data0)){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/pattern",keyword:"pattern",params:{pattern: "^(\\.{1,2}/|/)"},message:"must match pattern \""+"^(\\.{1,2}/|/)"+"\"",schema:"^(\\.{1,2}/|/)",parentSchema:schema65.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema65.properties.use.type,parentSchema:schema65.properties.use,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.options !== undefined){
let data1 = data.options;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
}
else {
const err4 = {instancePath:instancePath+"/options",schemaPath:"#/properties/options/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema65.properties.options.type,parentSchema:schema65.properties.options,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema65.type,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate407.errors = vErrors;
return errors === 0;
}


function validate406(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate407(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate407.errors : vErrors.concat(validate407.errors);
errors = vErrors.length;
}
validate406.errors = vErrors;
return errors === 0;
}

export const branch20 = validate412;
const schema134 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/builtInStep"};

function validate413(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
const tag0 = data.use;
if(typeof tag0 == "string"){
if(tag0 === "auth"){
if(!(validate238(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate238.errors : vErrors.concat(validate238.errors);
errors = vErrors.length;
}
}
else if(tag0 === "plan-check"){
if(!(validate244(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate244.errors : vErrors.concat(validate244.errors);
errors = vErrors.length;
}
}
else if(tag0 === "quota"){
if(!(validate250(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate250.errors : vErrors.concat(validate250.errors);
errors = vErrors.length;
}
}
else if(tag0 === "breaker"){
if(!(validate256(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate256.errors : vErrors.concat(validate256.errors);
errors = vErrors.length;
}
}
else if(tag0 === "transform"){
if(!(validate262(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate262.errors : vErrors.concat(validate262.errors);
errors = vErrors.length;
}
}
else if(tag0 === "prompt-prefix"){
if(!(validate268(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate268.errors : vErrors.concat(validate268.errors);
errors = vErrors.length;
}
}
else if(tag0 === "guard-words"){
if(!(validate276(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate276.errors : vErrors.concat(validate276.errors);
errors = vErrors.length;
}
}
else if(tag0 === "pii-mask"){
if(!(validate282(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate282.errors : vErrors.concat(validate282.errors);
errors = vErrors.length;
}
}
else if(tag0 === "answer-cache"){
if(!(validate288(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate288.errors : vErrors.concat(validate288.errors);
errors = vErrors.length;
}
}
else if(tag0 === "header-tags"){
if(!(validate294(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate294.errors : vErrors.concat(validate294.errors);
errors = vErrors.length;
}
}
else if(tag0 === "budget"){
if(!(validate302(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate302.errors : vErrors.concat(validate302.errors);
errors = vErrors.length;
}
}
else if(tag0 === "stream-relay"){
if(!(validate308(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate308.errors : vErrors.concat(validate308.errors);
errors = vErrors.length;
}
}
else if(tag0 === "meter"){
if(!(validate313(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate313.errors : vErrors.concat(validate313.errors);
errors = vErrors.length;
}
}
else {
const err0 = {instancePath,schemaPath:"#/discriminator",keyword:"discriminator",params:{error: "mapping", tag: "use", tagValue: tag0},message:"value of tag \"use\" must be in oneOf",schema:schema68.discriminator,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/discriminator",keyword:"discriminator",params:{error: "tag", tag: "use", tagValue: tag0},message:"tag \"use\" must be string",schema:schema68.discriminator,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema68.type,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate413.errors = vErrors;
return errors === 0;
}


function validate412(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate413(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate413.errors : vErrors.concat(validate413.errors);
errors = vErrors.length;
}
validate412.errors = vErrors;
return errors === 0;
}

export const branch21 = validate428;
const schema136 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/authStep"};

function validate429(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema69.required,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("auth" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "auth"},message:"must be equal to constant",schema:"auth",parentSchema:schema69.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate239(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate239.errors : vErrors.concat(validate239.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema69.type,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate429.errors = vErrors;
return errors === 0;
}


function validate428(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate429(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate429.errors : vErrors.concat(validate429.errors);
errors = vErrors.length;
}
validate428.errors = vErrors;
return errors === 0;
}

export const branch22 = validate435;
const schema138 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/planCheckStep"};

function validate436(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema71.required,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("plan-check" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "plan-check"},message:"must be equal to constant",schema:"plan-check",parentSchema:schema71.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate245(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate245.errors : vErrors.concat(validate245.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema71.type,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate436.errors = vErrors;
return errors === 0;
}


function validate435(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate436(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate436.errors : vErrors.concat(validate436.errors);
errors = vErrors.length;
}
validate435.errors = vErrors;
return errors === 0;
}

export const branch23 = validate442;
const schema140 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/quotaStep"};

function validate443(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema73.required,parentSchema:schema73,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema73,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("quota" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "quota"},message:"must be equal to constant",schema:"quota",parentSchema:schema73.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate251(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate251.errors : vErrors.concat(validate251.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema73.type,parentSchema:schema73,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate443.errors = vErrors;
return errors === 0;
}


function validate442(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate443(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate443.errors : vErrors.concat(validate443.errors);
errors = vErrors.length;
}
validate442.errors = vErrors;
return errors === 0;
}

export const branch24 = validate449;
const schema142 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/breakerStep"};

function validate450(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema75.required,parentSchema:schema75,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema75,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("breaker" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "breaker"},message:"must be equal to constant",schema:"breaker",parentSchema:schema75.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate257(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate257.errors : vErrors.concat(validate257.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema75.type,parentSchema:schema75,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate450.errors = vErrors;
return errors === 0;
}


function validate449(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate450(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate450.errors : vErrors.concat(validate450.errors);
errors = vErrors.length;
}
validate449.errors = vErrors;
return errors === 0;
}

export const branch25 = validate456;
const schema144 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/transformStep"};

function validate457(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema77.required,parentSchema:schema77,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema77,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("transform" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "transform"},message:"must be equal to constant",schema:"transform",parentSchema:schema77.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate263(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate263.errors : vErrors.concat(validate263.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema77.type,parentSchema:schema77,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate457.errors = vErrors;
return errors === 0;
}


function validate456(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate457(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate457.errors : vErrors.concat(validate457.errors);
errors = vErrors.length;
}
validate456.errors = vErrors;
return errors === 0;
}

export const branch26 = validate463;
const schema146 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/promptPrefixStep"};

function validate464(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema79.required,parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("prompt-prefix" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "prompt-prefix"},message:"must be equal to constant",schema:"prompt-prefix",parentSchema:schema79.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate269(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate269.errors : vErrors.concat(validate269.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema79.type,parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate464.errors = vErrors;
return errors === 0;
}


function validate463(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate464(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate464.errors : vErrors.concat(validate464.errors);
errors = vErrors.length;
}
validate463.errors = vErrors;
return errors === 0;
}

export const branch27 = validate470;
const schema148 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/guardWordsStep"};

function validate471(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema82.required,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("guard-words" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "guard-words"},message:"must be equal to constant",schema:"guard-words",parentSchema:schema82.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate277(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate277.errors : vErrors.concat(validate277.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema82.type,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate471.errors = vErrors;
return errors === 0;
}


function validate470(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate471(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate471.errors : vErrors.concat(validate471.errors);
errors = vErrors.length;
}
validate470.errors = vErrors;
return errors === 0;
}

export const branch28 = validate477;
const schema150 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/piiMaskStep"};

function validate478(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema84.required,parentSchema:schema84,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema84,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("pii-mask" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "pii-mask"},message:"must be equal to constant",schema:"pii-mask",parentSchema:schema84.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate283(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate283.errors : vErrors.concat(validate283.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema84.type,parentSchema:schema84,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate478.errors = vErrors;
return errors === 0;
}


function validate477(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate478(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate478.errors : vErrors.concat(validate478.errors);
errors = vErrors.length;
}
validate477.errors = vErrors;
return errors === 0;
}

export const branch29 = validate484;
const schema152 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/answerCacheStep"};

function validate485(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema86.required,parentSchema:schema86,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema86,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("answer-cache" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "answer-cache"},message:"must be equal to constant",schema:"answer-cache",parentSchema:schema86.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate289(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate289.errors : vErrors.concat(validate289.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema86.type,parentSchema:schema86,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate485.errors = vErrors;
return errors === 0;
}


function validate484(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate485(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate485.errors : vErrors.concat(validate485.errors);
errors = vErrors.length;
}
validate484.errors = vErrors;
return errors === 0;
}

export const branch30 = validate491;
const schema154 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/headerTagsStep"};

function validate492(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema88.required,parentSchema:schema88,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema88,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("header-tags" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "header-tags"},message:"must be equal to constant",schema:"header-tags",parentSchema:schema88.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate295(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate295.errors : vErrors.concat(validate295.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema88.type,parentSchema:schema88,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate492.errors = vErrors;
return errors === 0;
}


function validate491(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate492(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate492.errors : vErrors.concat(validate492.errors);
errors = vErrors.length;
}
validate491.errors = vErrors;
return errors === 0;
}

export const branch31 = validate498;
const schema156 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/budgetStep"};

function validate499(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema91.required,parentSchema:schema91,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema91,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("budget" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "budget"},message:"must be equal to constant",schema:"budget",parentSchema:schema91.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate303(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate303.errors : vErrors.concat(validate303.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema91.type,parentSchema:schema91,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate499.errors = vErrors;
return errors === 0;
}


function validate498(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate499(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate499.errors : vErrors.concat(validate499.errors);
errors = vErrors.length;
}
validate498.errors = vErrors;
return errors === 0;
}

export const branch32 = validate505;
const schema158 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/streamRelayStep"};

function validate506(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema93.required,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("stream-relay" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "stream-relay"},message:"must be equal to constant",schema:"stream-relay",parentSchema:schema93.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate309(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate309.errors : vErrors.concat(validate309.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema93.type,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate506.errors = vErrors;
return errors === 0;
}


function validate505(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate506(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate506.errors : vErrors.concat(validate506.errors);
errors = vErrors.length;
}
validate505.errors = vErrors;
return errors === 0;
}

export const branch33 = validate511;
const schema160 = {"$ref":"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/meterStep"};

function validate512(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.use === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "use"},message:"must have required property '"+"use"+"'",schema:schema95.required,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "use") || (key0 === "options")) || (key0 === "when")) || (key0 === "fail")) || (key0 === "timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if("meter" !== data0){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/const",keyword:"const",params:{allowedValue: "meter"},message:"must be equal to constant",schema:"meter",parentSchema:schema95.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.options !== undefined){
if(!(validate314(data.options, {instancePath:instancePath+"/options",parentData:data,parentDataProperty:"options",rootData}))){
vErrors = vErrors === null ? validate314.errors : vErrors.concat(validate314.errors);
errors = vErrors.length;
}
}
if(data.when !== undefined){
if(!(validate231(data.when, {instancePath:instancePath+"/when",parentData:data,parentDataProperty:"when",rootData}))){
vErrors = vErrors === null ? validate231.errors : vErrors.concat(validate231.errors);
errors = vErrors.length;
}
}
if(data.fail !== undefined){
if(!(validate233(data.fail, {instancePath:instancePath+"/fail",parentData:data,parentDataProperty:"fail",rootData}))){
vErrors = vErrors === null ? validate233.errors : vErrors.concat(validate233.errors);
errors = vErrors.length;
}
}
if(data.timeout !== undefined){
if(!(validate48(data.timeout, {instancePath:instancePath+"/timeout",parentData:data,parentDataProperty:"timeout",rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema95.type,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate512.errors = vErrors;
return errors === 0;
}


function validate511(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(!(validate512(data, {instancePath,parentData,parentDataProperty,rootData}))){
vErrors = vErrors === null ? validate512.errors : vErrors.concat(validate512.errors);
errors = vErrors.length;
}
validate511.errors = vErrors;
return errors === 0;
}

export const branch34 = validate518;
const schema162 = {"type":"string","format":"date-time","examples":["2026-01-10T08:00:00Z"]};

function validate518(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(typeof data === "string"){
if(!(formats6.validate(data))){
const err0 = {instancePath,schemaPath:"#/format",keyword:"format",params:{format: "date-time"},message:"must match format \""+"date-time"+"\"",schema:"date-time",parentSchema:schema162,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema162.type,parentSchema:schema162,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate518.errors = vErrors;
return errors === 0;
}

export const branch35 = validate519;
const schema163 = {"type":"null"};

function validate519(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data !== null){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "null"},message:"must be null",schema:schema163.type,parentSchema:schema163,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate519.errors = vErrors;
return errors === 0;
}

export const branches = {
  "{\"type\":\"string\",\"format\":\"date\",\"examples\":[\"2027-01-15\"]}": branch0,
  "{\"type\":\"string\",\"format\":\"date-time\",\"examples\":[\"2027-01-15T12:00:00Z\"]}": branch1,
  "{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000000}": branch2,
  "{\"const\":\"none\"}": branch3,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/ipLimit\"}": branch4,
  "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000}": branch5,
  "{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":1}": branch6,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/size\"}": branch7,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/signup\"}": branch8,
  "{\"const\":\"off\"}": branch9,
  "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\"}}": branch10,
  "{\"const\":\"all\"}": branch11,
  "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000000}": branch12,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/probeSettings\"}": branch13,
  "{\"type\":\"number\",\"minimum\":0,\"maximum\":1000000000}": branch14,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/imagePrice\"}": branch15,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/target\"}": branch16,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/balancedStep\"}": branch17,
  "{\"type\":\"string\",\"minLength\":1}": branch18,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/localStep\"}": branch19,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/builtInStep\"}": branch20,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/authStep\"}": branch21,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/planCheckStep\"}": branch22,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/quotaStep\"}": branch23,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/breakerStep\"}": branch24,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/transformStep\"}": branch25,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/promptPrefixStep\"}": branch26,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/guardWordsStep\"}": branch27,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/piiMaskStep\"}": branch28,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/answerCacheStep\"}": branch29,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/headerTagsStep\"}": branch30,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/budgetStep\"}": branch31,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/streamRelayStep\"}": branch32,
  "{\"$ref\":\"https://route-gateway.example/schemas/gateway.source.schema.json#/definitions/meterStep\"}": branch33,
  "{\"type\":\"string\",\"format\":\"date-time\",\"examples\":[\"2026-01-10T08:00:00Z\"]}": branch34,
  "{\"type\":\"null\"}": branch35,
};
