#!lua flags=allow-oom
-- The last step of a deletion. KEYS: user, the user's keys, their last uses, their identities. ARGV: now, user, channel.
-- Without an address a user is none; balance and ledger stay.
redis.call("DEL", KEYS[2], KEYS[3], KEYS[4])
for _, field in ipairs(redis.call("HKEYS", KEYS[1])) do
  if string.sub(field, 1, 6) == "spent:" then redis.call("HDEL", KEYS[1], field) end
end
redis.call("HDEL", KEYS[1], "email")
redis.call("HSET", KEYS[1], "deleted", string.format("%.0f", now_of(ARGV[1])))
redis.call("HINCRBY", KEYS[1], "version", 1)
redis.pcall("PUBLISH", ARGV[3], ARGV[2])
return 1
