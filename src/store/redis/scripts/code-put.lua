#!lua
-- KEYS: the codes of an address, client to "<digest> <expires> <tries> <tries of others>".
-- ARGV: now, client, Unix milliseconds of the code's expiry, code.
local now, last = now_of(ARGV[1]), tonumber(ARGV[3])
local codes = redis.call("HGETALL", KEYS[1])
redis.call("HSET", KEYS[1], ARGV[2], ARGV[4])
for index = 1, #codes, 2 do
  local ends = tonumber(string.match(codes[index + 1], "^%S* (%d+)"))
  if codes[index] ~= ARGV[2] then
    if ends <= now then redis.call("HDEL", KEYS[1], codes[index]) else last = math.max(last, ends) end
  end
end
redis.call("PEXPIRE", KEYS[1], lifetime(last, now))
return 1
