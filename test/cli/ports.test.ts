import { describe, expect, test } from "vitest";
import { ExitError } from "../../src/cli/options.ts";
import { movePorts, refuseClashes, wantedPort } from "../../src/cli/ports.ts";

type Listeners = Parameters<typeof refuseClashes>[0];

/** Listeners as `host:port`, the last of them the admin's. */
function server(...places: readonly string[]): Listeners {
  const all = places.map((place) => {
    const at = place.lastIndexOf(":");
    return { host: place.slice(0, at), port: Number(place.slice(at + 1)) };
  });
  return { listen: all.slice(0, -1), admin: { ...all.at(-1)!, tokens: [] } };
}

const HERE = "127.0.0.1";
const SHIPPED = [`${HERE}:8080`, `${HERE}:8081`, `${HERE}:9090`];

function moved(port: number, mode: "dev" | "serve", places: readonly string[]): number[] {
  const { listen, admin } = movePorts(server(...places), { port, source: "--port" }, mode);
  return [...listen.map((place) => place.port), admin!.port];
}

describe("the wanted port", () => {
  test.each<[option: string | undefined, variable: string | undefined, found: unknown]>([
    [undefined, undefined, null],
    [undefined, "", null],
    [undefined, "3000", { source: "PORT", port: 3000 }],
    ["4000", "3000", { source: "--port", port: 4000 }],
    ["4000", "nonsense", { source: "--port", port: 4000 }],
    ["0", undefined, { source: "--port", port: 0 }],
    ["65535", undefined, { source: "--port", port: 65_535 }],
    ["00080", undefined, { source: "--port", port: 80 }],
  ])("--port %s, PORT %s", (option, variable, found) => {
    expect(wantedPort(option, { PORT: variable })).toEqual(found);
  });

  test.each(["", "x", "80x", "-1", "1.5", "1e3", "0x50", " 80", "65536", "99999999999999999999", "8080:80"])(
    "'%s' is none",
    (value) => {
      const wrong = (run: () => unknown, source: string) =>
        expect(run).toThrow(
          expect.objectContaining({ exitCode: 2, message: expect.stringContaining(`${source}: '${value}'`) }) as Error,
        );
      wrong(() => wantedPort(value, {}), "--port");
      if (value !== "") wrong(() => wantedPort(undefined, { PORT: value }), "PORT");
    },
  );
});

describe("the other listeners", () => {
  test.each<[port: number, dev: number[], serve: number[]]>([
    [3000, [3000, 3001, 4010], [3000, 8081, 9090]],
    [9000, [9000, 9001, 10_010], [9000, 8081, 9090]],
    [0, [0, 0, 0], [0, 8081, 9090]],
  ])("move along in dev, and stay in serve: --port %i", (port, dev, serve) => {
    expect(moved(port, "dev", SHIPPED)).toEqual(dev);
    expect(moved(port, "serve", SHIPPED)).toEqual(serve);
  });

  test("a free one stays a free one, and a first one that is free moves nobody", () => {
    expect(moved(3000, "dev", [`${HERE}:8080`, `${HERE}:0`, `${HERE}:9090`])).toEqual([3000, 0, 4010]);
    expect(moved(3000, "dev", [`${HERE}:0`, `${HERE}:8081`, `${HERE}:9090`])).toEqual([3000, 8081, 9090]);
  });

  test("there may be no admin listener", () => {
    const { listen } = server(...SHIPPED);
    const alone = { listen, admin: null };
    expect(movePorts(alone, { port: 1, source: "PORT" }, "dev")).toMatchObject({
      admin: null,
      listen: [{ port: 1 }, {}],
    });
  });
});

describe("ports that cannot be", () => {
  test.each<[what: string, places: readonly string[], message: string | null]>([
    ["distinct ones", SHIPPED, null],
    ["several free ones", [`${HERE}:0`, `${HERE}:0`, `${HERE}:0`], null],
    ["one port of two addresses", [`${HERE}:80`, "127.0.0.2:80", `${HERE}:90`], null],
    [
      "the admin's",
      [`${HERE}:9090`, `${HERE}:9090`],
      "server.listen[0] and server.admin would both listen on port 9090",
    ],
    ["one behind a wildcard", ["0.0.0.0:9090", `${HERE}:9090`], "would both listen on port 9090"],
    ["the second listener's", [`${HERE}:1`, `${HERE}:1`, `${HERE}:2`], "server.listen[0] and server.listen[1]"],
    [
      "beyond the last one",
      [`${HERE}:65535`, `${HERE}:65536`, `${HERE}:1`],
      "server.listen[1] would move to port 65536",
    ],
    ["below the first one", [`${HERE}:1`, `${HERE}:-3`], "server.admin would move to port -3"],
  ])("%s", (_, places, message) => {
    const run = () => refuseClashes(server(...places), { port: 7, source: "PORT" });
    if (message === null) return run();
    const error = thrownBy(run);
    if (error.exitCode !== 2 || !error.message.startsWith("PORT=7: ") || !error.message.includes(message)) throw error;
  });
});

function thrownBy(run: () => void): ExitError {
  try {
    run();
  } catch (error) {
    if (error instanceof ExitError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
