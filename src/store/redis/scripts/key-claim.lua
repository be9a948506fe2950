#!lua
-- ARGV: now, digest, fingerprint, id, request id, milliseconds of the lease, expired keys to take away.
-- Returns claimed; or running or mismatch and the request id; or answered, request id, outcome and answer.
local now = now_of(ARGV[1])
local digest, fingerprint, id = ARGV[2], ARGV[3], ARGV[4]
local entry = entry_of(digest, now)
if entry and not (entry.running and entry.id == id) then
  if entry.fingerprint ~= fingerprint then return { "mismatch", entry.request } end
  if entry.running then return { "running", entry.request } end
  return { "answered", entry.request, entry.outcome, redis.call("GET", ANSWER) }
end
if not entry then
  redis.call("ZREM", ANSWERED, digest)
  redis.call("DEL", ANSWER)
end
put_entry(digest, "r", now + tonumber(ARGV[6]), id, fingerprint, ARGV[5], "", now, tonumber(ARGV[7]))
return { "claimed" }
