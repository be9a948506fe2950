#!lua
-- Adds to what a user owns. An account holds -2^61 to 2^61 - 1 nano-units, which leaves room for sums.
-- KEYS: user and, of a grant that is kept, the user's grants and idempotency keys. ARGV: amount, of 62 bits and a sign, the
-- latest time of execution or 0 (a grant may have no name of its own, and whoever was told that it failed grants again),
-- and, of one that is kept, now, the grant and its idempotency key or ''.
-- Returns the user's fields, or the grant as kept, of a repeated key the first one; 0 without such a user, 1 when it is too much, 2 when it is too late.
if ARGV[2] ~= "0" and now_of("0") > tonumber(ARGV[2]) then return 2 end
if redis.call("HEXISTS", KEYS[1], "email") == 0 then return 0 end
local key = ARGV[5] or ""
local before = key ~= "" and redis.call("HGET", KEYS[3], key)
if before then return before end

local function fits(amount)
  local sign, digits = string.match(amount, "^(-?)(%d+)$")
  local most = sign == "-" and "2305843009213693952" or "2305843009213693951"
  return #digits < #most or (#digits == #most and digits <= most)
end

local function add(field, amount)
  local reply = redis.pcall("HINCRBY", KEYS[1], field, amount)
  return type(reply) == "number"
end

-- Added first and looked at then: a number of Lua is too coarse to tell what it would be.
local back = string.sub(ARGV[1], 1, 1) == "-" and string.sub(ARGV[1], 2) or "-" .. ARGV[1]
local done = {}
for _, field in ipairs({ "available", "balance", "granted" }) do
  local added = add(field, ARGV[1])
  if added then done[#done + 1] = field end
  if not added or (field ~= "available" and not fits(redis.call("HGET", KEYS[1], field))) then
    for _, changed in ipairs(done) do redis.call("HINCRBY", KEYS[1], changed, back) end
    return 1
  end
end
if ARGV[4] then
  local kept = string.format("%.0f %s %s", now_of(ARGV[3]), redis.call("HGET", KEYS[1], "balance"), ARGV[4])
  redis.call("RPUSH", KEYS[2], kept)
  if key ~= "" then redis.call("HSET", KEYS[3], key, kept) end
  return kept
end
return redis.call("HMGET", KEYS[1], "email", "tier", "balance", "available", "granted", "created", "charged", "disabled",
  "sessions")
