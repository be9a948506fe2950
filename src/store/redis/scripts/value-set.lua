#!lua
-- ARGV: now, digest, value, milliseconds to live, bytes that are kept at most, bytes a value takes beside itself.
local now = now_of(ARGV[1])
put_value(ARGV[2], ARGV[3], now + tonumber(ARGV[4]), now, tonumber(ARGV[5]), tonumber(ARGV[6]))
return 1
