import { describe, expect, test } from "vitest";
import { credentialsOf } from "../../src/server/credentials.ts";

const none = { kind: "none" };
const key = (value: string) => ({ kind: "key", value });
const token = (value: string) => ({ kind: "token", value });

describe("credentials", () => {
  test.each([
    [{}, none],
    [{ authorization: "" }, none],
    [{ authorization: "Bearer" }, none],
    [{ authorization: "Bearer " }, none],
    [{ authorization: "Basic dTpw" }, none],
    [{ authorization: "Bearerrk_x" }, none],
    [{ authorization: "rk_x" }, none],
    [{ authorization: "Bearer rk_x" }, key("rk_x")],
    [{ authorization: "bearer rk_x" }, key("rk_x")],
    [{ authorization: "BEARER   rk_x" }, key("rk_x")],
    [{ authorization: "Bearer abc.def.ghi" }, token("abc.def.ghi")],
    [{ authorization: "Bearer RK_x" }, token("RK_x")],
    [{ "x-api-key": "rk_x" }, key("rk_x")],
    [{ "x-api-key": "anything" }, key("anything")],
    [{ "x-api-key": "" }, none],
    [{ "x-api-key": "rk_a", authorization: "Bearer rk_b" }, key("rk_a")],
    [{ "x-api-key": "bad", authorization: "Bearer rk_b" }, key("bad")],
    [{ "x-api-key": "", authorization: "Bearer rk_b" }, none],
    [{ "x-api-key": "rk_a", authorization: "Basic dTpw" }, key("rk_a")],
  ])("%j", (headers, expected) => {
    expect(credentialsOf(headers)).toEqual(expected);
  });
});
