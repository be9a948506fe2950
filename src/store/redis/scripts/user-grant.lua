#!lua
-- Adds to what a user owns. An account holds -2^61 to 2^61 - 1 nano-units, which leaves room for sums.
-- KEYS: user. ARGV: amount, of 62 bits and a sign, and the latest time of execution or 0: a grant has no name of its
-- own, and whoever was told that it failed grants again.
-- Returns the user's fields; 0 without such a user, 1 when it is too much, 2 when it is too late.
if ARGV[2] ~= "0" and now_of("0") > tonumber(ARGV[2]) then return 2 end
if redis.call("EXISTS", KEYS[1]) == 0 then return 0 end

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
return redis.call("HMGET", KEYS[1], "email", "tier", "balance", "available", "granted", "created", "charged")
