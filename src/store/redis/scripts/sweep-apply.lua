#!lua
-- Adds entries of several users to the list and the sums of a day. Each counts once, however often it comes: of each user
-- the number of the last one is kept, and they come in the order of their numbers.
-- KEYS of a day: list, numbers by user, sums, users. ARGV: milliseconds that sums are kept, that the rest is, how many users,
-- then of each: user, numbers of the first and the last of the entries, how many sums, of each its field and what is added
-- there; then the entries in their order, some hundreds: of those that follow one another of one user the place of the user
-- among these, how many, and they as they were noted (reservations.lua).
-- Returns users of whom some are there and some are not, each with the number of the last that is: nothing of these was added.
local LIST, NUMBERS, SUMS, USERS = unpack(KEYS)
local index, users, sums, listed, partly = 4, {}, {}, {}, {}

for place = 1, ARGV[3] do
  local user, first, last, count = ARGV[index], tonumber(ARGV[index + 1]), tonumber(ARGV[index + 2]), ARGV[index + 3]
  local known = tonumber(redis.call("HGET", NUMBERS, user) or 0)
  if known < first then
    users[place] = user
    redis.call("HSET", NUMBERS, user, last)
    redis.call("ZADD", USERS, 0, user)
    for at = index + 4, index + 2 + 2 * count, 2 do
      sums[ARGV[at]] = plus(sums[ARGV[at]] or {}, ARGV[at + 1])
    end
  elseif known < last then
    partly[#partly + 1] = user
    partly[#partly + 1] = known
  end
  index = index + 4 + 2 * count
end

local function list()
  if #listed > 0 then redis.call("RPUSH", LIST, unpack(listed)) end
  listed = {}
end

while index < #ARGV do
  local user, count = users[tonumber(ARGV[index])], tonumber(ARGV[index + 1])
  for at = index + 2, user and index + 1 + count or 0 do
    local noted = ARGV[at]
    if string.sub(noted, 1, 1) == "-" then
      list()
      local place = redis.call("LPOS", LIST, user .. " " .. string.sub(noted, 2), "RANK", -1)
      -- Its place stays: pages know theirs by the number of entries below.
      if place then redis.call("LSET", LIST, place, "") end
    else
      listed[#listed + 1] = user .. " " .. noted
    end
  end
  index = index + 2 + count
end
list()
for field, added in pairs(sums) do add(SUMS, field, added) end
redis.call("PEXPIRE", SUMS, ARGV[1])
for _, key in ipairs({ LIST, NUMBERS, USERS }) do redis.call("PEXPIRE", key, ARGV[2]) end
return partly
