import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UpstreamControls } from "../../src/gateway/upstream-controls.ts";
import { type InstanceStore, Secret, type Store, storeUnavailable } from "../../src/kit/index.ts";
import { openConfigured } from "../../src/store/open.ts";
import { ManualControls } from "../../src/upstream/state/manual.ts";
import { eventually } from "../e2e/support/http.ts";
import { TestLog } from "../support/host.ts";

const away = (): never => {
  throw storeUnavailable(new Error("away"));
};
const ORDER = { upstream: "alpha", mode: "drain", expiresInSeconds: 60, reason: "new disks", by: "ada" } as const;

describe("settings of upstreams over one store", () => {
  let store: Store;
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const running: UpstreamControls[] = [];

  beforeEach(async () => {
    store = await openConfigured(
      { url: new Secret("memory:"), nodes: [], prefix: "", timeout: 1_000 },
      { serving: true, now, clock: now },
    );
  });
  afterEach(async () => {
    for (const one of running.splice(0)) one.close();
    await store.close();
  });

  async function instance({ with: over = {}, upstreams = ["alpha", "beta"], pollIntervalMs = 60_000 } = {}) {
    const controls = new ManualControls(now);
    const names = [...upstreams];
    const own = { ...store, ...(over as Partial<Store>) };
    const of = new UpstreamControls({
      store: own,
      controls,
      upstreams: () => names,
      cooldowns: () => 0,
      now,
      log: new TestLog(),
      pollIntervalMs,
    });
    running.push(of);
    await of.start();
    const cleared: string[] = [];
    controls.onChange((upstream, { type }) => type === "cleared" && cleared.push(upstream));
    return { of, names, cleared, mode: (upstream = "alpha") => controls.of(upstream).setting?.mode ?? null };
  }

  /** As a connection whose messages do not arrive. */
  const DEAF: Partial<InstanceStore> = { onBroadcast: () => () => undefined };

  it("are pushed to those that run, and found by those that start", async () => {
    const [one, other] = [await instance(), await instance()];
    const set = await one.of.set(ORDER);
    expect(set).toEqual({
      mode: "drain",
      since: new Date(clock.now).toISOString(),
      until: new Date(clock.now + 60_000).toISOString(),
      by: "ada",
      reason: "new disks",
    });
    expect(one.mode()).toBe("drain");
    await eventually(() => other.mode() === "drain");
    expect((await instance()).mode()).toBe("drain");
    await other.of.set({ ...ORDER, mode: "close" });
    await eventually(() => one.mode() === "close");
    expect(await other.of.lift("alpha")).toEqual({});
    expect(await other.of.lift("alpha")).toBe(null);
    await eventually(() => one.mode() === null);
    expect((await instance()).mode()).toBe(null);
  });

  it("clearing where nothing is set ends cooldowns on every instance", async () => {
    const [one, other] = [await instance(), await instance()];
    expect(await one.of.lift("beta")).toBe(null);
    await vi.waitFor(() => expect(other.cleared).toEqual(["beta"]));
    expect(one.cleared).toContain("beta");
    expect(await instance().then(({ mode }) => mode("beta"))).toBe(null);
  });

  it("are found within a poll where a push is lost", async () => {
    const one = await instance();
    const deaf = await instance({ with: DEAF, pollIntervalMs: 10 });
    await one.of.set(ORDER);
    await eventually(() => deaf.mode() === "drain");
    expect(await one.of.lift("alpha")).toEqual({});
    await eventually(() => deaf.mode() === null);
  });

  it("hold while the store is away, until they end", async () => {
    const one = await instance();
    let isAway = false;
    const getValue: Store["getValue"] = (...of) => (isAway ? away() : store.getValue(...of));
    const cut = await instance({ with: { getValue }, pollIntervalMs: 10 });
    await one.of.set({ ...ORDER, expiresInSeconds: 5 });
    await eventually(() => cut.mode() === "drain");
    isAway = true;
    await one.of.lift("alpha");
    clock.now += 4_999;
    expect(cut.mode()).toBe("drain");
    clock.now += 1;
    expect(cut.mode()).toBe(null);
  });

  it("of an upstream that a reload brings are in force with it", async () => {
    const one = await instance();
    await one.of.set({ ...ORDER, upstream: "beta" });
    const other = await instance({ upstreams: ["alpha"], pollIntervalMs: 10 });
    expect(other.mode("beta")).toBe(null);
    other.names.push("beta");
    await eventually(() => other.mode("beta") === "drain");
  });

  it("are refused for upstreams that there are not, and in a store that is away", async () => {
    const one = await instance();
    await expect(one.of.set({ ...ORDER, upstream: "gamma" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(one.of.lift("gamma")).rejects.toMatchObject({ code: "NOT_FOUND" });
    const cut = await instance({ with: { setValue: away } });
    await expect(cut.of.set(ORDER)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(cut.mode()).toBe(null);
  });

  it("that nobody understands set nothing", async () => {
    const one = await instance();
    await one.of.set(ORDER);
    for (const text of ["", "{", "[]", "null", '{"mode":"burn"}', '{"mode":"open","since":1,"until":"x"}']) {
      await store.setValue("gateway:upstreams", "upstream:alpha", text, 60_000);
      expect((await instance()).mode()).toBe(null);
    }
  });
});
