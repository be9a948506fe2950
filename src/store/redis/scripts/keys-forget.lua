#!lua flags=allow-oom
-- Returns the digests of keys with an answer, which have to be deleted.
local answered = redis.call("ZRANGE", ANSWERED, 0, -1)
redis.call("DEL", ENTRIES, ENDS, ANSWERED)
return answered
