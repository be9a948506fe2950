#!lua flags=allow-oom
-- KEYS: the codes of an address, as in code-put. ARGV: now, client, then digests. Returns whether one of them is that of
-- a code, which it uses up; else it is a try of each code that the client may still try.
local now, client = now_of(ARGV[1]), ARGV[2]
local codes = redis.call("HGETALL", KEYS[1])
local good, missed, dead = {}, {}, {}
for index = 1, #codes, 2 do
  local asker = codes[index]
  local digest, ends, tries, others = string.match(codes[index + 1], "^(%S*) (%d+) (%d+) (%d+)$")
  if tonumber(ends) <= now then
    dead[#dead + 1] = asker
  elseif asker == client or tonumber(others) > 0 then
    for at = 3, #ARGV do
      if ARGV[at] == digest then good[#good + 1] = asker end
    end
    if tonumber(tries) <= 1 then
      dead[#dead + 1] = asker
    else
      local left = asker == client and others or others - 1
      missed[#missed + 1] = asker
      missed[#missed + 1] = string.format("%s %s %d %d", digest, ends, tries - 1, left)
    end
  end
end
-- All of them: six digits that were drawn twice are good once.
for _, asker in ipairs(#good > 0 and good or dead) do redis.call("HDEL", KEYS[1], asker) end
if #good > 0 then return 1 end
for index = 1, #missed, 2 do redis.call("HSET", KEYS[1], missed[index], missed[index + 1]) end
return 0
