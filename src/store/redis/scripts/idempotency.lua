-- The idempotency keys of one user. KEYS: a hash of entries by digest, "<kind> <until> <id> <fingerprint> <request id>
-- <outcome>" with blanks between; a sorted set of all digests by the end of their entries; a sorted set of the digests with
-- an answer, by the running total of the bytes of answers; and the answer of one key, a string.
-- The kind is "r" while the request runs, then "k".
local ENTRIES, ENDS, ANSWERED, ANSWER = unpack(KEYS)

local function entry_of(digest, now)
  local packed = redis.call("HGET", ENTRIES, digest)
  if not packed then return nil end
  local kind, ends, id, fingerprint, request, outcome =
    string.match(packed, "^(%a) (%d+) (%S+) (%S+) (%S+) (%S*)$")
  if tonumber(ends) <= now then return nil end
  return { running = kind == "r", id = id, fingerprint = fingerprint, request = request, outcome = outcome }
end

local function drop_entry(digest)
  redis.call("HDEL", ENTRIES, digest)
  redis.call("ZREM", ENDS, digest)
  redis.call("ZREM", ANSWERED, digest)
end

-- Takes away `most` that have expired. Answers expire by themselves.
local function put_entry(digest, kind, ends, id, fingerprint, request, outcome, now, most)
  for _, old in ipairs(redis.call("ZRANGEBYSCORE", ENDS, "-inf", now, "LIMIT", 0, most)) do drop_entry(old) end
  redis.call("HSET", ENTRIES, digest,
    string.format("%s %.0f %s %s %s %s", kind, ends, id, fingerprint, request, outcome))
  redis.call("ZADD", ENDS, string.format("%.0f", ends), digest)
  local last = redis.call("ZRANGE", ENDS, -1, -1, "WITHSCORES")
  for _, key in ipairs({ ENTRIES, ENDS, ANSWERED }) do redis.call("PEXPIRE", key, lifetime(last[2], now)) end
end
