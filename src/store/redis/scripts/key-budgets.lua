-- KEYS: user, the user's keys. Forgets what was spent under the id of a key that no key spends under any more: rolled keys
-- spend under the id of the first. What running requests hold they release.
local function forget_spent()
  local accounts = {}
  local all = redis.call("HGETALL", KEYS[2])
  for index = 1, #all, 2 do
    accounts[all[index]] = true
    local limits = cjson.decode(string.match(all[index + 1], "{.*$")).limits
    local account = limits and limits.budget and limits.budget.account
    if account then accounts[account] = true end
  end
  for _, field in ipairs(redis.call("HKEYS", KEYS[1])) do
    local account = string.match(field, "^spent:(.*):%d+$")
    if account and not accounts[account] then redis.call("HDEL", KEYS[1], field) end
  end
end
