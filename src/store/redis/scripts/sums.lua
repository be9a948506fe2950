-- What entries add up to, by field of a hash: "requests failed prompt completion cached reasoning high low", where the
-- charge is high * 10^12 + low, for a number of Lua is too coarse for it.
local function add(key, field, text)
  local sums, index = {}, 0
  for number in string.gmatch(text, "%S+") do sums[#sums + 1] = tonumber(number) end
  for number in string.gmatch(redis.call("HGET", key, field) or "", "%S+") do
    index = index + 1
    sums[index] = sums[index] + tonumber(number)
  end
  local carry = math.floor(sums[8] / 1e12)
  sums[7], sums[8] = sums[7] + carry, sums[8] - carry * 1e12
  redis.call("HSET", key, field, string.format("%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f", unpack(sums)))
end
