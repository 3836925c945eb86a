/**
 * The Lua side of a script: what it can reach, and the loop that calls it for each job of a batch.
 *
 * A batch comes in as one string and goes out as one, fields with their lengths before them. The
 * host gives one function, `mark`, which notes that a call begins and answers whether the batch has
 * had its time. What a script assigns to globals while it is called is gone after the call; its
 * libraries are views that it cannot change. What a call answers is read without metamethods.
 */
export const SANDBOX = `
local mark, queue, FAILURES_MAX = ...
local error, load, next, pcall, rawget, rawlen, select, tonumber, type =
  error, load, next, pcall, rawget, rawlen, select, tonumber, type
local getmetatable, setmetatable = getmetatable, setmetatable
local pack, unpack, sub, concat = string.pack, string.unpack, string.sub, table.concat

local function view(library)
  return setmetatable({}, {
    __index = library,
    __newindex = function() error("a library cannot be changed", 2) end,
    __metatable = false,
  })
end

-- Counted in C, where no limit of time reaches.
local COUNT_MAX = 1 << 20
local rep, move = string.rep, table.move
string.rep = function(text, count, between)
  if (tonumber(count) or 0) > COUNT_MAX then error("string.rep: too many", 2) end
  return rep(text, count, between or "")
end
table.move = function(from, first, last, to, into)
  if (tonumber(last) or 0) - (tonumber(first) or 0) > COUNT_MAX then
    error("table.move: too many", 2)
  end
  return move(from, first, last, to, into or from)
end
string.dump = nil
getmetatable("").__metatable = false

local config = {}
local function copy(value)
  if type(value) ~= "table" then return value end
  local copied = {}
  for key, inner in next, value do copied[key] = copy(inner) end
  return copied
end

local base = {
  assert = assert, error = error, ipairs = ipairs, next = next, pairs = pairs, pcall = pcall,
  rawequal = rawequal, rawget = rawget, rawlen = rawlen, select = select, tonumber = tonumber,
  tostring = tostring, type = type, xpcall = xpcall, _VERSION = _VERSION,
  getmetatable = getmetatable,
  setmetatable = function(of, with)
    -- A finalizer runs when it pleases, beyond any limit.
    if type(with) == "table" and rawget(with, "__gc") ~= nil then error("no __gc here", 2) end
    return setmetatable(of, with)
  end,
  math = view(math), string = view(string), table = view(table), utf8 = view(utf8),
  sluice = view({ get = function(key) return copy(config[key]) end }),
}

local globals = setmetatable({}, { __index = base })
local behind = { __index = base, __metatable = false }
local env = setmetatable({}, behind)

local function clear()
  local key = next(env)
  while key ~= nil do
    env[key] = nil
    key = next(env)
  end
end

local function text(err)
  if type(err) == "string" then return sub(err, 1, 500) end
  return "an error that is a " .. type(err)
end

local readers = {
  d = function(data, pos) return unpack("<d", data, pos) end,
  s = function(data, pos) return unpack("<s4", data, pos) end,
  b = function(data, pos) return sub(data, pos, pos) == "1", pos + 1 end,
}

local function read(data, pos)
  local kind = sub(data, pos, pos)
  if kind ~= "t" then return readers[kind](data, pos + 1) end
  local count, key, value
  count, pos = unpack("<I4", data, pos + 1)
  local list = {}
  for _ = 1, count do
    key, pos = read(data, pos)
    value, pos = read(data, pos)
    list[key] = value
  end
  return list, pos
end

local function message(data, pos, is_failure)
  local size, count, name, value
  size, count, pos = unpack("<dI2", data, pos)
  local headers = {}
  for _ = 1, count do
    name, value, pos = unpack("<s2s2", data, pos)
    headers[name] = value
  end
  local msg = { headers = headers, payload_size = size // 1 | 0, queue = queue }
  if is_failure then
    msg.id, msg.attempts, msg.attempts_max, msg.error, pos = unpack("<s2I4I4s4", data, pos)
  end
  return msg, pos
end

local TEXT_MAX = 4096
local function short(value) return type(value) == "string" and #value <= TEXT_MAX end

-- The texts of a list, or of one text; nil when something else is among them.
local function texts(value, max)
  if short(value) then return pack("<Bs2", 1, value) end
  if type(value) ~= "table" then return nil end
  local count = rawlen(value)
  if count == 0 or count > max then return nil end
  local parts = { pack("B", count) }
  for i = 1, count do
    local item = rawget(value, i)
    if not short(item) then return nil end
    parts[i + 1] = pack("<s2", item)
  end
  return concat(parts)
end

local function field(tag, body) return body and (tag .. body) or "" end
local function number(tag, value)
  return type(value) == "number" and (tag .. pack("<d", value)) or ""
end

local function proposal(said)
  if type(said) ~= "table" then return ";" end
  local tier = rawget(said, "priority")
  return field("k", texts(rawget(said, "fairness_key"), 4))
    .. number("w", rawget(said, "weight"))
    .. field("g", texts(rawget(said, "throttle_keys"), 16))
    .. field("g", texts(rawget(said, "gates"), 16))
    .. (short(tier) and pack("<c1s2", "n", tier) or number("p", tier))
    .. number("d", rawget(said, "delay_ms")) .. ";"
end

local function verdict(said)
  if type(said) ~= "table" then return ";" end
  local action = rawget(said, "action")
  return (short(action) and pack("<c1s2", "a", action) or "")
    .. number("d", rawget(said, "delay_ms")) .. ";"
end

function load_script(source)
  local chunk, problem = load(source, "=policy", "t", env)
  if not chunk then return text(problem) end
  mark()
  local ok, err = pcall(chunk)
  if not ok then return text(err) end
  for key, value in next, env do globals[key] = value end
  behind.__index = globals
  clear()
  local hooks = ""
  if type(rawget(globals, "on_enqueue")) == "function" then hooks = hooks .. "e" end
  if type(rawget(globals, "on_failure")) == "function" then hooks = hooks .. "f" end
  return hooks, true
end

function run(data)
  local kind, count, failures, pos = unpack("<BI4I4", data)
  local is_failure = kind == 1
  local hook = rawget(globals, is_failure and "on_failure" or "on_enqueue")
  local encode = is_failure and verdict or proposal
  local answers = {}
  for i = 1, count do
    local msg
    msg, pos = message(data, pos, is_failure)
    if mark() and i > 1 then break end
    local ok, said = pcall(hook, msg)
    if next(env) ~= nil then clear() end
    if ok then
      failures = 0
      answers[i] = encode(said)
    else
      failures = failures + 1
      answers[i] = pack("<c1s2c1", "!", text(said), ";")
      if failures >= FAILURES_MAX then break end
    end
  end
  return concat(answers)
end

function set_config(data)
  config = data == "" and {} or read(data, 1)
end
`;
