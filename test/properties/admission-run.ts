import assert from "node:assert/strict";
import type { Admission, Principal, Refusal, Settlement, Store } from "../../src/kit/index.ts";
import { RECORD, unique } from "../store/support.ts";
import { AdmissionModel, type Answer } from "./admission-model.ts";
import type { Client, Program, Step } from "./admission-program.ts";
import { digestOf } from "./instances.ts";
import type { Wire } from "./wire.ts";

/** The two sides of a run: instances at the ends of the wire, and `direct`, which sees the store as it is. */
export interface Stage {
  readonly instances: readonly Store[];
  readonly direct: Store;
  readonly versions: boolean;
}

interface Request {
  readonly admission: Admission;
  readonly settlement: Settlement;
  /** Whether somebody has begun to settle it. */
  isAsked: boolean;
  /** Repetitions of its admission under way. */
  repeating: number;
}

export class Run {
  readonly #stage: Stage;
  readonly #wire: Wire;
  readonly #clock: { now: number };
  readonly #program: Program;
  readonly #userId = unique("user");
  readonly #keys = [unique("key"), unique("key")];
  readonly #model: AdmissionModel;
  /** Everything that was asked for, admitted or not, with the one way in which it will end. */
  readonly #requests: Request[] = [];
  #left = 0;

  constructor(stage: Stage, wire: Wire, clock: { now: number }, program: Program) {
    this.#stage = stage;
    this.#wire = wire;
    this.#clock = clock;
    this.#program = program;
    this.#model = new AdmissionModel({
      granted: program.credits,
      tier: "Free",
      keys: this.#keys,
      budgets: new Map(program.budget === null ? [] : [[this.#keys[0]!, program.budget]]),
      version: stage.versions ? 1 : null,
    });
  }

  async play(): Promise<void> {
    const { direct } = this.#stage;
    const id = this.#userId;
    const { credits } = this.#program;
    await direct.addUser({ id, email: `${id}@example.com`, tier: "Free", credits });
    for (const key of this.#keys) {
      const budget = this.#model.budgets.get(key);
      const limits = budget && { limits: { budget } };
      await direct.addKey({ id: key, userId: id, name: key, prefix: "rk_", digest: digestOf(key), ...limits }, 5);
    }
    await this.#together(this.#program.clients.map((client) => () => this.#client(client)));
    await this.#compare();
    await this.#together(
      this.#requests.map(
        ({ settlement }, index) =>
          () =>
            this.#settle(index, settlement),
      ),
    );
    await this.#compare();
    assert.deepEqual([this.#model.held, this.#model.streams], [0n, 0]);
    const entries = await direct.ledger(id);
    const charges = entries.map(({ id, charge }) => [id, charge] as const);
    assert.deepEqual(new Map(charges), this.#model.charges);
    assert.equal(charges.length, this.#model.charges.size, "each once");
  }

  /** All at the same time, until the last one has ended; what can be seen is compared after everything that changed it. */
  async #together(works: readonly (() => Promise<void>)[]): Promise<void> {
    this.#left = works.length;
    const all = Promise.all(works.map((work) => work().finally(() => this.#left--)));
    // Seen to below; a failure before that is no failure of nobody's.
    all.catch(() => {});
    for (let seen = 0; this.#left > 0;) {
      await this.#wire.step();
      if (!this.#wire.isIdle || this.#wire.effects === seen) continue;
      seen = this.#wire.effects;
      await this.#compare();
    }
    await all;
  }

  async #client({ at, steps }: Client): Promise<void> {
    const instance = this.#stage.instances[at % this.#stage.instances.length]!;
    let principal: Principal | null = null;
    for (const step of steps) {
      principal ??= await this.#identify(instance, 0);
      switch (step.do) {
        case "identify":
          principal = await this.#identify(instance, step.key);
          break;
        case "admit":
          // Stale ones are told so, and ask again: as the pipeline does.
          if (principal && (await this.#admit(instance, step, principal)) === "principal") principal = null;
          break;
        default:
          await this.#other(instance, at, step);
      }
    }
  }

  async #other(instance: Store, at: number, step: Exclude<Step, { do: "identify" | "admit" }>): Promise<void> {
    const userId = this.#userId;
    switch (step.do) {
      case "repeat": {
        const request = this.#requests[step.which];
        // After its settlement it would be admitted, and charged, afresh: whoever repeats has to know that.
        if (!request || request.isAsked) break;
        const { version: _, ...admission } = request.admission;
        request.repeating++;
        await this.#ask(instance, admission);
        request.repeating--;
        break;
      }
      case "release": {
        const request = this.#requests[step.which];
        // Its admission has been answered: nobody leaves before that.
        if (!request || request.repeating > 0) break;
        await this.#call(
          ["release"],
          () => this.#model.release(request.admission.id),
          () => instance.release(request.admission),
        );
        break;
      }
      case "settle": {
        const request = this.#requests[step.which];
        if (!request || request.repeating > 0) break;
        request.isAsked = true;
        await this.#settle(at, request.settlement);
        break;
      }
      case "grant": {
        const { amount } = step;
        await this.#call(
          ["user-grant", "grant"],
          () => (this.#model.granted += amount),
          () => instance.grant(userId, amount),
        );
        break;
      }
      case "setTier":
        await this.#call(
          ["user-tier", "setTier"],
          () => this.#model.setTier(step.tier),
          () => instance.setTier(userId, step.tier),
        );
        break;
      case "revoke": {
        const key = this.#keys[step.key]!;
        const [revoked, expected = false] = await this.#call(
          ["key-revoke", "revokeKey"],
          () => this.#model.revoke(key),
          () => instance.revokeKey(key),
        );
        assert.equal(revoked, expected);
        break;
      }
      case "kill": {
        const [told, expected] = await this.#call(
          ["stop-raise", "stopStreams"],
          () => this.#model.stop(),
          () => instance.stopStreams(userId),
        );
        assert.deepEqual(told, expected);
        break;
      }
      case "pass":
        await this.#wire.act("the clock", () => {
          this.#clock.now += step.time;
        });
        break;
    }
  }

  async #identify(instance: Store, key: number): Promise<Principal | null> {
    const id = this.#keys[key]!;
    const [principal, expected = null] = await this.#call(
      ["principal", "principalByDigest"],
      () => this.#model.principal(this.#userId, id),
      () => instance.principalByDigest(digestOf(id)),
    );
    assert.deepEqual(principal, expected);
    return principal;
  }

  async #admit(instance: Store, step: Step & { do: "admit" }, principal: Principal): Promise<Refusal | null> {
    const { units, stream, hold, longest, enforce } = step;
    const { tiers, fates } = this.#program;
    const id = unique("ex");
    const userId = this.#userId;
    const { version, tier, keyId, keyLimits } = principal;
    const limits = tiers[tier as "Free" | "Max"];
    const asked = { id, userId, limits, units, stream, hold, enforceCredits: enforce, model: "route/swift" };
    const budget = keyLimits?.budget && { keyId: keyId!, ...keyLimits.budget };
    const common = { ...asked, ...(longest !== null && { fullHold: longest }), ...(budget && { budget }) };
    const admission: Admission = version === undefined ? common : { ...common, version };
    const charge = fates[this.#requests.length % fates.length]!;
    const giveBack = charge === null;
    const settlement = { id, userId, giveBack, charge: charge ?? 0n, record: giveBack ? null : RECORD };
    this.#requests.push({ admission, settlement, isAsked: false, repeating: 0 });
    return this.#ask(instance, admission);
  }

  async #ask(instance: Store, admission: Admission): Promise<Refusal | null> {
    const { limits, enforceCredits, hold } = admission;
    const [result, expected] = await this.#call(
      ["admit"],
      () => {
        const isRunning = this.#model.running.has(admission.id);
        const answer = this.#model.admit(admission, this.#clock.now);
        if (answer.refusal !== null || isRunning) return answer;
        // What the model is for: with these said of it, its answers are right whatever the store's are.
        const most = [limits.day, limits.hour, limits.minute].map((limit) => limit ?? Infinity);
        assert.ok(answer.used.every((used, index) => used <= most[index]!));
        assert.ok(!admission.stream || this.#model.streams <= (limits.streams ?? Infinity));
        assert.ok(!enforceCredits || hold === 0n || this.#model.balance >= this.#model.held);
        return answer;
      },
      () => instance.admit(admission),
    );
    const { windows } = result;
    const refusal = result.ok ? null : result.refusal;
    const used = [windows.day.used, windows.hour.used, windows.minute.used];
    const answer: Answer = { refusal, used, stopToken: result.ok ? result.stopToken : 0 };
    assert.deepEqual(answer, expected);
    return refusal;
  }

  async #settle(at: number, settlement: Settlement): Promise<void> {
    const instance = this.#stage.instances[at % this.#stage.instances.length]!;
    await this.#call(
      ["settle"],
      () => this.#model.settle(settlement),
      () => instance.settle(settlement),
    );
  }

  /** @returns the store's answer, and the model's at the moment at which the store gave its own. */
  async #call<A, E>(commands: readonly string[], effect: () => E, call: () => A): Promise<[Awaited<A>, E | undefined]> {
    const expected: E[] = [];
    const answer = await this.#wire.during(commands, () => void expected.push(effect()), call);
    return [answer, expected[0]];
  }

  async #compare(): Promise<void> {
    const { direct } = this.#stage;
    const [user, running, keys] = await Promise.all([
      direct.findUser(this.#userId),
      direct.running(this.#userId),
      direct.listKeys(this.#userId),
    ]);
    const { balance, held, granted } = user!;
    const model = this.#model;
    assert.deepEqual([balance, held, granted], [model.balance, model.held, model.granted]);
    assert.deepEqual(running, { requests: model.running.size, streams: model.streams, held: model.held });
    for (const { id, budget } of keys) {
      const { spent, held } = budget ?? {};
      assert.deepEqual(budget === undefined ? null : { spent, held }, model.budget(id, this.#clock.now));
    }
  }
}
