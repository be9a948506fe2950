import { isLoopback, type ServerSettings } from "../kit/index.ts";
import { EXIT, ExitError } from "./options.ts";

/** The port that the command line or the environment asks for in place of the configured one. */
export interface WantedPort {
  readonly port: number;
  /** How messages name it. */
  readonly source: "--port" | "PORT";
}

/**
 * `--port`, else the variable `PORT` of the process; an empty variable counts as none.
 * @throws ExitError for a value that is not a port.
 */
export function wantedPort(option: string | undefined, env: Readonly<Record<string, string | undefined>>) {
  const found = [
    ["--port", option],
    ["PORT", env["PORT"] || undefined],
  ] as const;
  for (const [source, value] of found) {
    if (value === undefined) continue;
    if (/^\d+$/.test(value) && isPort(Number(value))) return { source, port: Number(value) };
    throw new ExitError(EXIT.usage, `${source}: '${value}' is not a port (write a number from 0 to 65535)`);
  }
  return null;
}

type Listening = Pick<ServerSettings, "listen" | "admin">;

/**
 * Puts the wanted port in place of the first listener's. For `dev`, the other listeners and the admin listener move by the
 * same difference, so that two gateways of one configuration run side by side. A port 0, which picks a free one, stays 0.
 */
export function movePorts<Server extends Listening>(
  server: Server,
  { port: wanted }: WantedPort,
  mode: "dev" | "serve",
): Server {
  const [first, ...others] = server.listen;
  if (first === undefined) return server;
  const move = <Place extends { readonly port: number }>(place: Place): Place => {
    if (mode === "serve" || first.port === 0 || place.port === 0) return place;
    return { ...place, port: wanted === 0 ? 0 : place.port + wanted - first.port };
  };
  return {
    ...server,
    listen: [{ ...first, port: wanted }, ...others.map(move)],
    admin: server.admin && move(server.admin),
  };
}

/** @throws ExitError for listeners that cannot have the ports that they moved to, or that share one. */
export function refuseClashes({ listen, admin }: Listening, wanted: WantedPort): void {
  const places = [
    ...listen.map((place, index) => ({ ...place, setting: `server.listen[${index}]` })),
    ...(admin ? [{ host: admin.host, port: admin.port, setting: "server.admin" }] : []),
  ];
  const said = wanted.source === "--port" ? `--port ${wanted.port}` : `PORT=${wanted.port}`;
  const refuse = (what: string): never => {
    throw new ExitError(EXIT.usage, `${said}: ${what} (choose another port)`);
  };
  for (const { setting, port } of places)
    if (!isPort(port)) refuse(`${setting} would move to port ${port}, which does not exist`);
  for (const [index, one] of places.entries()) {
    const other = places.slice(0, index).find((place) => one.port !== 0 && place.port === one.port && meet(place, one));
    if (other) refuse(`${other.setting} and ${one.setting} would both listen on port ${one.port}`);
  }
}

function isPort(number: number): boolean {
  return number >= 0 && number <= 65_535;
}

/** Whether two hosts may be one address: a name or a wildcard may be any. */
function meet(one: { readonly host: string }, other: { readonly host: string }): boolean {
  const isWild = ({ host }: { readonly host: string }) => host === "0.0.0.0" || host === "::" || host === "[::]";
  return one.host === other.host || isWild(one) || isWild(other) || (isLoopback(one.host) && one.host === "localhost");
}
