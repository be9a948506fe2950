#!lua flags=allow-oom
-- Makes a user of one that was written aside. KEYS: user, new user. Returns whether there is such a user now.
if redis.call("EXISTS", KEYS[1]) == 1 then return 1 end
if redis.call("PERSIST", KEYS[2]) == 0 and redis.call("EXISTS", KEYS[2]) == 0 then return 0 end
redis.call("RENAME", KEYS[2], KEYS[1])
return 1
