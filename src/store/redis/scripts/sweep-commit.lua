#!lua
-- Takes entries of a user away that are in the list and the sums of their days, and adds them to the user's own sums.
-- KEYS: user, unswept, then the user's sums by day. ARGV: how many had been swept before, how many these are, milliseconds
-- that sums are kept, then of each sum: the number of its key, its field, what is added there.
-- Returns 0 when somebody else was first.
if redis.call("HGET", KEYS[1], "swept") ~= ARGV[1] then return 0 end
for index = 4, #ARGV, 3 do add(KEYS[tonumber(ARGV[index])], ARGV[index + 1], plus({}, ARGV[index + 2])) end
for index = 3, #KEYS do redis.call("PEXPIRE", KEYS[index], ARGV[3]) end
redis.call("LTRIM", KEYS[2], ARGV[2], -1)
-- Entries give the list its time only when it is empty, and it need never be when a sweep looks.
redis.call("PEXPIRE", KEYS[2], ARGV[3])
redis.call("HINCRBY", KEYS[1], "swept", ARGV[2])
return 1
