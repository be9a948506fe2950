#!lua
-- ARGV: now, digest, amount, milliseconds that a new one lives, bytes that are kept at most, bytes a value takes beside
-- itself. Returns the sum as text; false for a value that is no whole number, or a sum beyond 64 bits.
local now = now_of(ARGV[1])
local value, expires = value_of(ARGV[2], now)
if value and not string.match(value, "^%-?%d+$") then return false end
-- Lua's numbers have 53 bits: the server adds, in a field that is gone again at once.
redis.call("HSET", KEYS[1], "sum", value or "0")
local sum = redis.pcall("HINCRBY", KEYS[1], "sum", ARGV[3])
local text = redis.call("HGET", KEYS[1], "sum")
redis.call("HDEL", KEYS[1], "sum")
if type(sum) == "table" and sum.err then return false end
put_value(ARGV[2], text, expires or now + tonumber(ARGV[4]), now, tonumber(ARGV[5]), tonumber(ARGV[6]))
return text
