import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Slots, type Waiter } from "../../../src/upstream/state/slots.ts";

const bounds = (requests: number, queue: number) => ({
  connections: null,
  http2: false,
  concurrency: { requests, queue, maxWait: 1_000 },
});

/** One request, from its wish for a slot to the end of what it did with it. */
class Client implements Waiter {
  readonly userId: string;
  state: "new" | "waiting" | "in_flight" | "done" | "refused" = "new";
  readonly #served: Client[];

  constructor(userId: string, served: Client[]) {
    this.userId = userId;
    this.#served = served;
  }

  arrive(slots: Slots): void {
    if (slots.takeNow()) this.granted();
    else this.state = slots.join(this) ? "waiting" : "refused";
  }

  granted(): void {
    this.state = "in_flight";
    this.#served.push(this);
  }

  displaced(): void {
    this.state = "refused";
  }
}

describe("slots", () => {
  it("serve users in turn, and each user's requests in order", () => {
    const slots = new Slots();
    slots.configure(bounds(1, 10));
    const served: Client[] = [];
    const clients = ["a", "a", "a", "a", "b", "b", "c"].map((user) => new Client(user, served));
    for (const client of clients) client.arrive(slots);
    for (let time = 0; time < clients.length; time += 1) slots.release(10);
    expect(served.map(({ userId }) => userId).join("")).toBe("aabcaba");
    const own = (user: string): readonly Client[] => served.filter(({ userId }) => userId === user);
    expect(own("a")).toEqual(clients.slice(0, 4));
    expect(slots).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it("a full queue gives a place to another user, at the cost of who has the most", () => {
    const slots = new Slots();
    slots.configure(bounds(1, 3));
    const served: Client[] = [];
    const flood = Array.from({ length: 5 }, () => new Client("a", served));
    for (const client of flood) client.arrive(slots);
    const other = new Client("b", served);
    other.arrive(slots);
    expect(flood.map(({ state }) => state)).toEqual(["in_flight", "waiting", "waiting", "refused", "refused"]);
    expect(other.state).toBe("waiting");
    // Two and one: nobody has so many more that a third user's first would be fairer than b's first.
    const third = new Client("c", served);
    third.arrive(slots);
    expect(flood.map(({ state }) => state)).toEqual(["in_flight", "waiting", "refused", "refused", "refused"]);
    const fourth = new Client("d", served);
    fourth.arrive(slots);
    expect(fourth.state).toBe("refused");
  });

  it("tell to come back after the time that the queue needs, within 1 s and 60 s", () => {
    const slots = new Slots();
    slots.configure(bounds(2, 10));
    expect(slots.retryAfter()).toBe(1_000);
    const served: Client[] = [];
    for (let time = 0; time < 3; time += 1) new Client("a", served).arrive(slots);
    slots.release(8_000);
    expect(slots.retryAfter()).toBe(4_000);
    for (let time = 0; time < 9; time += 1) new Client("a", served).arrive(slots);
    expect(slots.retryAfter()).toBe(40_000);
    slots.release(90_000);
    expect(slots.retryAfter()).toBe(60_000);
  });

  it("a bound that is raised or taken away lets those in who wait; a lower one lets nobody in", () => {
    const slots = new Slots();
    slots.configure(bounds(1, 10));
    const served: Client[] = [];
    const clients = Array.from({ length: 6 }, () => new Client("a", served));
    for (const client of clients) client.arrive(slots);
    slots.configure(bounds(3, 10));
    expect(served).toHaveLength(3);
    slots.configure(bounds(1, 10));
    slots.release(1);
    slots.release(1);
    expect(served).toHaveLength(3);
    slots.release(1);
    expect(served).toHaveLength(4);
    slots.configure({ connections: null, http2: false });
    expect(served).toHaveLength(6);
  });

  it("connections bound what HTTP/1 has in flight, and not what HTTP/2 has", () => {
    for (const [http2, room] of [
      [false, 2],
      [true, 9],
    ] as const) {
      const slots = new Slots();
      slots.configure({ connections: 2, http2 });
      let taken = 0;
      while (taken < 9 && slots.takeNow()) taken += 1;
      expect(taken).toBe(room);
      expect(slots.hasQueue).toBe(false);
    }
  });

  /** What happens to the slots, at random. */
  const act = fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant("arrive"), user: fc.constantFrom("a", "b", "c", "d") }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constant("end"), index: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("leave"), index: fc.nat() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant("configure"),
        requests: fc.integer({ min: 1, max: 4 }),
        queue: fc.nat(6),
      }),
    },
  );

  it("never have more in flight than the bound allows, lose nobody, and are fair, whatever happens", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80 }), (acts) => {
        const slots = new Slots();
        let bound = 2;
        slots.configure(bounds(bound, 4));
        const served: Client[] = [];
        const clients: Client[] = [];
        const all = (state: Client["state"]): Client[] => clients.filter((client) => client.state === state);
        for (const one of acts) {
          const before = all("in_flight").length;
          if (one.type === "arrive" && "user" in one) {
            const client = new Client(one.user, served);
            clients.push(client);
            client.arrive(slots);
          } else if (one.type === "configure" && "requests" in one) {
            bound = one.requests;
            slots.configure(bounds(bound, one.queue));
          } else if ("index" in one) {
            const from = one.type === "end" ? all("in_flight") : all("waiting");
            const client = from[one.index % Math.max(1, from.length)];
            if (client === undefined) continue;
            client.state = "done";
            if (one.type === "end") slots.release(5);
            else slots.leave(client);
          }
          const inFlight = all("in_flight").length;
          // A bound that was lowered holds as soon as enough have ended.
          expect(inFlight).toBeLessThanOrEqual(Math.max(bound, before));
          expect(slots).toMatchObject({ inFlight, waiting: all("waiting").length });
          // Nobody waits while there is room.
          expect(all("waiting").length === 0 || inFlight >= bound).toBe(true);
        }
        // Everybody who still waits is served, one user never twice while another one waits.
        let turn = new Set<string>();
        while (all("waiting").length > 0) {
          const users = new Set(all("waiting").map(({ userId }) => userId));
          const last = served.length;
          all("in_flight")[0]!.state = "done";
          slots.release(5);
          for (const { userId } of served.slice(last)) {
            const isEarly = turn.has(userId) && [...users].some((user) => !turn.has(user));
            expect(isEarly).toBe(false);
            turn = [...users].every((user) => turn.has(user) || user === userId) ? new Set() : turn.add(userId);
          }
          expect(served.length > last || all("in_flight").length >= bound).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
