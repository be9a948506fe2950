#!lua
-- ARGV: digest, bytes a value takes beside itself.
drop_value(ARGV[1], tonumber(ARGV[2]))
return 1
