#!lua
-- Adds entries of several users to the list and the sums of a day. Each counts once, however often it comes: of each user
-- the number of the last one is kept, and they come in the order of their numbers.
-- KEYS of a day: list, numbers by user, sums, users. ARGV: milliseconds that sums are kept, that the rest is, then of each
-- entry, of some hundreds: user, number, the entry as it was noted (reservations.lua), field of its sums, what is added there.
local LIST, NUMBERS, SUMS, USERS = unpack(KEYS)
local numbers, sums, listed = {}, {}, {}

local function list()
  if #listed > 0 then redis.call("RPUSH", LIST, unpack(listed)) end
  listed = {}
end

for index = 3, #ARGV, 5 do
  local user, number, noted, field = ARGV[index], tonumber(ARGV[index + 1]), ARGV[index + 2], ARGV[index + 3]
  local last = numbers[user] or tonumber(redis.call("HGET", NUMBERS, user) or 0)
  if number > last then
    last = number
    if string.sub(noted, 1, 1) == "-" then
      list()
      local place = redis.call("LPOS", LIST, user .. " " .. string.sub(noted, 2), "RANK", -1)
      -- Its place stays: pages know theirs by the number of entries below.
      if place then redis.call("LSET", LIST, place, "") end
    else
      listed[#listed + 1] = user .. " " .. noted
    end
    sums[field] = plus(sums[field] or {}, ARGV[index + 4])
  end
  numbers[user] = last
end
list()
for field, added in pairs(sums) do add(SUMS, field, added) end
for user, number in pairs(numbers) do
  redis.call("HSET", NUMBERS, user, number)
  redis.call("ZADD", USERS, 0, user)
end
redis.call("PEXPIRE", SUMS, ARGV[1])
for _, key in ipairs({ LIST, NUMBERS, USERS }) do redis.call("PEXPIRE", key, ARGV[2]) end
return 1
