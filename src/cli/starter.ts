import type { EditorSchemas } from "./editor-schemas.ts";
import { AGGREGATORS } from "../config/link/upstreams.ts";
import type { ProviderEntry } from "../config/providers.ts";
import type { Kind } from "../kit/index.ts";

/** A model that a new configuration publishes. */
export interface StarterModel {
  /** The provider's name for it. */
  readonly id: string;
  readonly kind: Kind;
  /** In US dollars per million tokens, as the provider lists it or the operator says it. */
  readonly price?: { readonly input: number; readonly output: number };
  /** Who said the price. */
  readonly pricedBy?: "provider" | "operator";
}

/** What `gateway init` was told, or found out. */
export interface Starter {
  readonly entry: ProviderEntry;
  readonly baseUrl: string;
  /** The variable of the key; null: the server takes none. */
  readonly keyVariable: string | null;
  /** Null: it is set elsewhere, or not known yet. */
  readonly key: string | null;
  /** True: the environment has the variable, or will have it. */
  readonly fromEnvironment: boolean;
  /** Its models cost nothing: a server of the operator's own. */
  readonly free: boolean;
  readonly models: readonly StarterModel[];
  /** Where an editor finds the two schemas, relative to the configuration; null: nowhere that lasts. */
  readonly schemas: EditorSchemas | null;
  /** Name of the configuration file, without its folder. */
  readonly fileName: string;
  /** The gateway's own port, where the provider has its default. */
  readonly port: number | null;
  /** As in 2026-01-31. */
  readonly today: string;
  /** The gateway runs in the image: loopback is the container's own. */
  readonly inContainer: boolean;
}

/** Stands for a model where nothing is known of the provider's. */
export const UNKNOWN_MODEL = "MODEL";

/** The units of price that each kind needs at least. */
const UNITS: Readonly<Record<Kind, readonly string[]>> = {
  chat: ["input_per_million", "output_per_million"],
  embedding: ["input_per_million"],
  rerank: ["per_request"],
  speech: ["per_million_characters"],
  transcription: ["per_second"],
  image: ["per_image"],
};

/** True if the model would be served for nothing because nobody knows its price. */
export function lacksPrice({ free }: Pick<Starter, "free">, model: StarterModel): boolean {
  return !free && (model.price === undefined || UNITS[model.kind][0] !== "input_per_million");
}

/** The shortest configuration that serves these models, with comments for somebody who has never seen one. */
export function gatewayYaml(starter: Starter): string {
  const { schemas } = starter;
  const head = lines(
    schemas && `# yaml-language-server: $schema=${schemas.gateway}`,
    "# Saving this file reloads a running gateway. Try a change first: npx gateway check",
    "version: 1",
    ...serverLines(starter),
    "",
  );
  const isUsual = serverLines(starter).length === 0;
  return head + providerYaml(starter) + lines(...(isUsual ? CONSOLE : []));
}

/** The sections about the provider and its models. */
export function providerYaml(starter: Starter): string {
  const { entry, baseUrl, keyVariable, models } = starter;
  const { name, dialect } = entry;
  const vendor = vendorOf(starter);
  return lines(
    "upstreams: # providers",
    `  ${name}:`,
    `    dialect: ${dialect}`,
    vendor !== null && `    vendor: ${vendor}`,
    `    base_url: ${yamlText(baseUrl)}`,
    keyVariable !== null && `    api_keys: ["\${env:${keyVariable}}"] # from .env beside this file, or the environment`,
    AGGREGATORS.has(name) &&
      models.length > 1 &&
      "    breaker: { scope: target } # one model may fail while others serve",
    "",
    "models: # by the name that clients send",
    ...routesOf(models).flatMap(([route, model]) => modelLines(starter, route, model)),
  );
}

/** Off until somebody wants it: many machines have something else on this port. */
const CONSOLE = [
  "",
  "# The console for operators. gateway dev makes a token; gateway serve takes it from .env.",
  '# server: { admin: { host: 127.0.0.1, port: 9090, token: "${env:GATEWAY_ADMIN_TOKEN:-}" } }',
];

/** Only where the defaults do not serve: a port that is taken, or a container. */
function serverLines({ entry, baseUrl, port, inContainer }: Starter): readonly string[] {
  if (inContainer) {
    return [
      "",
      "server: # docker run -p 127.0.0.1:8080:8080 publishes the port",
      "  listen: [{ host: 0.0.0.0, port: 8080 }]",
      "  admin: { host: 127.0.0.1, port: 9090 } # for the health check of the image",
      "auth: { signup: off } # you add users: gateway users add",
    ];
  }
  if (port === null) return [];
  return [
    "",
    `server: # ${new URL(baseUrl).host} is taken by ${entry.displayName}`,
    `  listen: [{ host: 127.0.0.1, port: ${port} }]`,
  ];
}

function modelLines(starter: Starter, route: string, model: StarterModel): readonly (string | false | null)[] {
  const { entry, free } = starter;
  return [
    `  ${yamlText(route)}:`,
    `    kind: ${model.kind}`,
    ...(free ? [] : priceLines(starter, model)),
    `    chain: [{ upstream: ${entry.name}, model: ${yamlText(model.id)} }]${model.id === UNKNOWN_MODEL ? " # put the provider's name of a model here" : ""}`,
  ];
}

function priceLines(starter: Starter, model: StarterModel): readonly string[] {
  const units = UNITS[model.kind];
  if (lacksPrice(starter, model)) {
    const prices = units.map((unit) => `${unit}: 0`).join(", ");
    return [
      "    # Write the provider's price here. While it is 0, requests cost your users nothing.",
      `    price: { ${prices} }`,
    ];
  }
  const { input, output } = model.price!;
  const amounts = [input, output];
  const prices = units.map((unit, index) => `${unit}: ${plainNumber(amounts[index]!)}`);
  if (model.pricedBy === "provider") prices.push(`verified_at: ${starter.today}`);
  return [
    `    price: { ${prices.join(", ")} } # USD${model.pricedBy === "provider" ? ", as the provider lists it" : ""}`,
  ];
}

/** Only where the address does not tell. */
function vendorOf({ entry, baseUrl }: Starter): string | null {
  const { vendor, local } = entry;
  if (vendor === undefined) return null;
  const sameHost = URL.parse(baseUrl)?.hostname === URL.parse(entry.baseUrl)?.hostname;
  return local || !sameHost ? vendor : null;
}

/** The variables of the configuration. A value that `.env` cannot hold has been refused before. */
export function envFile({ keyVariable, key, fromEnvironment, entry, fileName }: Starter): string {
  const head = `# Variables of ${fileName}, read at every start and reload. Keep this file out of version control.`;
  if (keyVariable === null) return lines(head, `# ${entry.displayName} needs no key here.`);
  if (key !== null) return lines(head, `${keyVariable}=${envValue(key) ?? ""}`);
  if (fromEnvironment)
    return lines(head, `# ${keyVariable} is in the environment. It could be here instead:`, `# ${keyVariable}=`);
  return lines(head, "# Write the key behind the equals sign.", `${keyVariable}=`);
}

/** A value as `.env` has it: quoted where it must be. Null: it cannot be written there. */
export function envValue(value: string): string | null {
  if (/^[\w.:/+=@~,%-]*$/.test(value)) return value;
  if (/[\0\r\n]/.test(value)) return null;
  const quote = ["'", "`"].find((mark) => !value.includes(mark)) ?? (/["\\]/.test(value) ? undefined : '"');
  return quote === undefined ? null : `${quote}${value}${quote}`;
}

/** Tests that the configuration passes, and that go on to hold when models are added. */
export function testsYaml({ schemas, fileName, models }: Starter): string {
  const [first] = routesOf(models).map(([route]) => route);
  return lines(
    schemas && `# yaml-language-server: $schema=${schemas.tests}`,
    "# Run by: npx gateway test. It asks no provider and costs nothing.",
    fileName !== "gateway.yaml" && `config: ${yamlText(`./${fileName}`)}`,
    "tests:",
    "  - name: $model is served",
    '    each: { model: "*" }',
    "    expect: { status: 200, outcome: served }",
    "  - name: a request without a key is refused",
    `    given: { model: ${yamlText(first ?? "*")}, credentials: false }`,
    "    expect: { status: 401 }",
  );
}

const MAX_ROUTE_CHARACTERS = 128;

/** The identifiers that clients send, with their models: two models of one name get a number. */
export function routesOf(models: readonly StarterModel[]): readonly (readonly [route: string, model: StarterModel])[] {
  const taken = new Set<string>();
  return models.map((model) => {
    const name = model.id === UNKNOWN_MODEL ? "my-model" : model.id;
    const plain = name.replaceAll(/[^\w.:@-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
    const short = (plain === "" ? "model" : plain).slice(0, MAX_ROUTE_CHARACTERS);
    let route = `route/${short}`;
    for (let number = 2; taken.has(route); number += 1) {
      const suffix = `-${number}`;
      route = `route/${short.slice(0, MAX_ROUTE_CHARACTERS - suffix.length)}${suffix}`;
    }
    taken.add(route);
    return [route, model] as const;
  });
}

/** YAML reads these as something other than text. */
const NOT_TEXT = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** Text as YAML: plain where nobody could read it in another way. A `$` begins no reference. */
function yamlText(text: string): string {
  const escaped = text.replaceAll("$", "$$$$");
  const isPlain = /^[A-Za-z.][\w./-]*$/.test(escaped) || /^https?:\/\/[\w.:/-]*\w$/.test(escaped);
  return isPlain && !NOT_TEXT.test(escaped) ? escaped : JSON.stringify(escaped);
}

/** Without an exponent. */
function plainNumber(value: number): string {
  return value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 9 });
}

function lines(...written: readonly (string | false | null)[]): string {
  return written
    .filter((line) => line !== false && line !== null)
    .map((line) => `${line}\n`)
    .join("");
}
