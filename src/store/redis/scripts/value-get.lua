#!lua flags=no-writes
-- ARGV: now, digest. Returns the value, false for none.
return (value_of(ARGV[2], now_of(ARGV[1]))) or false
