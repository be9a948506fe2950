#!lua flags=allow-oom
-- KEYS: code. ARGV: now, then digests. Returns whether one of them is the code's, which it uses up; else one of its tries.
local code = redis.call("HMGET", KEYS[1], "digest", "expires", "tries")
local alive = code[1] and tonumber(code[2]) > now_of(ARGV[1])
local same = false
for index = 2, #ARGV do same = same or ARGV[index] == code[1] end
if alive and not same and tonumber(code[3]) > 1 then
  redis.call("HINCRBY", KEYS[1], "tries", -1)
else
  redis.call("DEL", KEYS[1])
end
return alive and same and 1 or 0
