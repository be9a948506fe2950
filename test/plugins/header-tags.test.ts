import { describe, expect, test } from "vitest";
import headerTags from "../../plugins/header-tags.ts";
import { Bench } from "../support/bench.ts";
import { testExchange } from "../support/exchange.ts";
import { testSnapshot } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

type Tags = Parameters<typeof headerTags.setup>[0]["tags"];

const snapshot = testSnapshot();
const host = await pluginHost({ snapshot });

async function tagged(tags: Tags, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const hooks = await setUp(headerTags, { tags }, host);
  const header = (name: string): string | null => headers[name.toLowerCase()] ?? null;
  return (await hooks.admit!({ ...testExchange(snapshot), header }))?.tags;
}

describe("tags", () => {
  test.each<readonly [string, Tags, Readonly<Record<string, string>>, unknown]>([
    ["a value", { team: { header: "X-Team" } }, { "x-team": " blue " }, [{ name: "team", value: "blue" }]],
    ["no header", { team: { header: "X-Team" } }, {}, []],
    ["an empty one", { team: { header: "X-Team" } }, { "x-team": "  " }, []],
    ["none, with a default", { team: { header: "X-Team", default: "none" } }, {}, [{ name: "team", value: "none" }]],
    [
      "one of the values, measured",
      { team: { header: "X-Team", values: ["blue"], measured: true } },
      { "x-team": "blue" },
      [{ name: "team", value: "blue", measured: true }],
    ],
    [
      "another one",
      { team: { header: "X-Team", values: ["blue"], default: "none" } },
      { "x-team": "constructor" },
      [{ name: "team", value: "other" }],
    ],
    [
      "several",
      { team: { header: "X-Team" }, app: { header: "user-agent" } },
      { "x-team": "a", "user-agent": "b" },
      [
        { name: "team", value: "a" },
        { name: "app", value: "b" },
      ],
    ],
  ])("%s", async (_, tags, headers, expected) => {
    expect(await tagged(tags, headers)).toEqual(expected);
  });

  test("required: without the header, or with none of the values, the request is refused", async () => {
    await expect(tagged({ team: { header: "X-Team", required: true } }, {})).rejects.toThrow(
      "Invalid request: the header X-Team is missing",
    );
    const one: Tags = { team: { header: "X-Team", required: true, values: ["a", "b"] } };
    await expect(tagged(one, { "x-team": "c" })).rejects.toThrow("the header X-Team must be one of a, b");
    expect(await tagged(one, { "x-team": "b" })).toEqual([{ name: "team", value: "b" }]);
  });

  test("are in the ledger; a header of credentials is not there for it", async () => {
    const options = { tags: { team: { header: "X-Team" }, key: { header: "Authorization", default: "none" } } };
    const bench = await Bench.create({
      pipeline: ["auth", { use: "header-tags", options }, "quota", "breaker", "stream-relay", "meter"],
    });
    await bench.stream({ headers: { "x-team": "blue", authorization: "Bearer secret" } }).done;
    expect(await bench.store.ledger("ann")).toMatchObject([{ tags: { team: "blue", key: "none" } }]);
    await bench.audit();
  });
});
