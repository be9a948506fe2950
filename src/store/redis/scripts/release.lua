#!lua flags=allow-oom
-- Frees slot and hold of a request whose charge is still to come; it stays until it is settled. ARGV: request, retention.
-- Returns 1, or 0 when it is not running.
local id = ARGV[1]
local packed = redis.call("HGET", RESERVATIONS, id)
if not packed then return 0 end
local reservation = read(packed)
release_hold(reservation)
if reservation.stream then redis.call("ZREM", STREAMS, id) end
redis.call("HSET", RESERVATIONS, id, (string.gsub(packed, "^(%d+) [01] %d+ ", "%1 0 0 ", 1)))
return 1
