-- What entries add up to, by field of a hash: "requests failed prompt completion cached reasoning high low", where the
-- charge is high * 10^12 + low, for a number of Lua is too coarse for it.
local function plus(sums, text)
  local index = 0
  for number in string.gmatch(text, "%S+") do
    index = index + 1
    sums[index] = (sums[index] or 0) + number
  end
  return sums
end

local function add(key, field, sums)
  plus(sums, redis.call("HGET", key, field) or "")
  local carry = math.floor(sums[8] / 1e12)
  sums[7], sums[8] = sums[7] + carry, sums[8] - carry * 1e12
  redis.call("HSET", key, field, string.format("%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f", unpack(sums)))
end
