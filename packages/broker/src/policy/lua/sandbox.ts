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
local error, load, next, pcall, rawget, tonumber, type =
  error, load, next, pcall, rawget, tonumber, type
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
  for key in next, env do env[key] = nil end
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
  for i = 1, count do
    -- It is long, but it is not stuck.
    if i % 100 == 0 then mark() end
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

-- What goes out is gathered in pieces, which are put together once for a batch. Lengths and numbers
-- come again and again: they are packed once.
local TEXT_MAX = 4096
local lengths = {}
for length = 0, 255 do lengths[length] = pack("<I2", length) end
local function length(text) return lengths[#text] or pack("<I2", #text) end

local numbers, numbers_left = {}, 1000
local function number(value)
  local packed = numbers[value]
  if packed == nil then
    packed = pack("<d", value)
    if numbers_left > 0 and value == value then
      numbers[value], numbers_left = packed, numbers_left - 1
    end
  end
  return packed
end

local function is_text(value) return type(value) == "string" and #value <= TEXT_MAX end

-- A text, or a list of up to max of them; when something else is among them, nothing.
local function put_texts(out, at, tag, value, max)
  if is_text(value) then
    out[at + 1] = tag .. "\\1" .. length(value) .. value
    return at + 1
  end
  if type(value) ~= "table" or getmetatable(value) ~= nil then return at end
  local count = #value
  if count == 0 or count > max then return at end
  for i = 1, count do
    if not is_text(value[i]) then return at end
  end
  out[at + 1] = pack("<c1B", tag, count)
  for i = 1, count do out[at + 1 + i] = length(value[i]) .. value[i] end
  return at + 1 + count
end

local function put_number(out, at, tag, value)
  if type(value) ~= "number" then return at end
  out[at + 1] = tag .. number(value)
  return at + 1
end

local function put_text(out, at, tag, value)
  if not is_text(value) then return at end
  out[at + 1] = tag .. length(value) .. value
  return at + 1
end

local FIELDS =
  { "fairness_key", "weight", "throttle_keys", "gates", "priority", "delay_ms", "action" }

-- What was said, without anything that could answer for it.
local function plain(said)
  if type(said) ~= "table" then return {} end
  if getmetatable(said) == nil then return said end
  local fields = {}
  for _, name in next, FIELDS do fields[name] = rawget(said, name) end
  return fields
end

local function put_proposal(out, at, said)
  local priority = said.priority
  at = put_texts(out, at, "k", said.fairness_key, 4)
  at = put_number(out, at, "w", said.weight)
  at = put_texts(out, at, "g", said.throttle_keys, 16)
  at = put_texts(out, at, "g", said.gates, 16)
  at = put_number(out, at, "p", priority)
  at = put_text(out, at, "n", priority)
  return put_number(out, at, "d", said.delay_ms)
end

local function put_verdict(out, at, said)
  at = put_text(out, at, "a", said.action)
  return put_number(out, at, "d", said.delay_ms)
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
  local put = is_failure and put_verdict or put_proposal
  local out, at = {}, 0
  for i = 1, count do
    local msg
    msg, pos = message(data, pos, is_failure)
    if mark() and i > 1 then break end
    local ok, said = pcall(hook, msg)
    if next(env) ~= nil then clear() end
    if ok then
      failures = 0
      at = put(out, at, plain(said)) + 1
      out[at] = ";"
    else
      failures = failures + 1
      at = put_text(out, at, "!", text(said)) + 1
      out[at] = ";"
      if failures >= FAILURES_MAX then break end
    end
  end
  return concat(out)
end

function set_config(data)
  mark()
  config = data == "" and {} or read(data, 1)
end
`;
