#!lua
-- Adds entries of several users to the list and the sums of a day. Each counts once, however often it comes: of each user
-- the number of the last one is kept, and they come in the order of their numbers.
-- KEYS of a day: list, numbers by user, sums, users. ARGV: milliseconds that sums are kept, that the rest is, then of each
-- entry: user, number, the entry as it was noted (reservations.lua), field of its sums, what is added there.
local LIST, NUMBERS, SUMS, USERS = unpack(KEYS)
for index = 3, #ARGV, 5 do
  local user, number, noted = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  if tonumber(number) > tonumber(redis.call("HGET", NUMBERS, user) or 0) then
    if string.sub(noted, 1, 1) == "-" then
      redis.call("LREM", LIST, -1, user .. " " .. string.sub(noted, 2))
    else
      redis.call("RPUSH", LIST, user .. " " .. noted)
      redis.call("ZADD", USERS, 0, user)
    end
    add(SUMS, ARGV[index + 3], ARGV[index + 4])
    redis.call("HSET", NUMBERS, user, number)
  end
end
redis.call("PEXPIRE", SUMS, ARGV[1])
for _, key in ipairs({ LIST, NUMBERS, USERS }) do redis.call("PEXPIRE", key, ARGV[2]) end
return 1
