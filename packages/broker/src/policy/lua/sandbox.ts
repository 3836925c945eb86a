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
local pack, unpack, sub, gsub = string.pack, string.unpack, string.sub, string.gsub
local char, format, concat, list = string.char, string.format, table.concat, table.unpack

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

local config_readers = {
  d = function(data, pos) return unpack("<d", data, pos) end,
  s = function(data, pos) return unpack("<s4", data, pos) end,
  b = function(data, pos) return sub(data, pos, pos) == "1", pos + 1 end,
}

local function read_config(data, pos)
  local kind = sub(data, pos, pos)
  if kind ~= "t" then return config_readers[kind](data, pos + 1) end
  local count, key, value
  count, pos = unpack("<I4", data, pos + 1)
  local list = {}
  for i = 1, count do
    -- It is long, but it is not stuck.
    if i % 100 == 0 then mark() end
    key, pos = read_config(data, pos)
    value, pos = read_config(data, pos)
    list[key] = value
  end
  return list, pos
end

local NAMES_MAX, NAMES_BYTES_MAX, READERS_MAX = 16, 1024, 64

-- A function that reads jobs whose headers have these names. It is a program made for them: one
-- call of unpack and tables of the right size take half the time of a loop.
local READER = [[
  local unpack, queue = ...
  return function(data, pos)
    local size, renamed$values
    size$values, renamed, pos = unpack("$format", data, pos)
    return { headers = { $fields }, payload_size = size, queue = queue$failure }, pos, renamed
  end]]

local function reader_of(names, is_failure)
  local values, fields = "", {}
  for i = 1, #names do
    values = values .. ", h" .. i
    fields[i] = format("[%q] = h%d", names[i], i)
  end
  local parts = {
    values = values .. (is_failure and ", id, attempts, attempts_max, err" or ""),
    format = "<J" .. rep("s2", #names) .. (is_failure and "s2I4I4s4" or "") .. "B",
    fields = concat(fields, ", "),
    failure = is_failure
        and ", id = id, attempts = attempts, attempts_max = attempts_max, error = err"
      or "",
  }
  return load(gsub(READER, "$(%w+)", parts), "=reader", "t", {})(unpack, queue)
end

-- The same for any number of names.
local function slow_reader(names, is_failure)
  return function(data, pos)
    local size, renamed
    size, pos = unpack("<J", data, pos)
    local headers = {}
    for i = 1, #names do headers[names[i]], pos = unpack("<s2", data, pos) end
    local msg = { headers = headers, payload_size = size, queue = queue }
    if is_failure then
      msg.id, msg.attempts, msg.attempts_max, msg.error, pos = unpack("<s2I4I4s4", data, pos)
    end
    renamed, pos = unpack("B", data, pos)
    return msg, pos, renamed
  end
end

-- Readers are kept for the kinds of jobs that come first, while their names are short: what they
-- take is the script's memory.
local readers, readers_left = {}, READERS_MAX
local function reader(data, pos, is_failure)
  local names, kind = {}
  kind, pos = unpack("<s4", data, pos)
  if is_failure then kind = kind .. "!" end
  local known = readers[kind]
  if known ~= nil then return known, pos end
  local count, at = unpack("<I2", kind)
  for i = 1, count do names[i], at = unpack("<s2", kind, at) end
  if count > NAMES_MAX or #kind > NAMES_BYTES_MAX or readers_left == 0 then
    return slow_reader(names, is_failure), pos
  end
  readers[kind], readers_left = reader_of(names, is_failure), readers_left - 1
  return readers[kind], pos
end

-- What goes out is gathered in two lists, which are put together once for a batch: small numbers
-- (tags, lengths) and texts. The list of numbers is used again.
local TEXT_MAX = 4096

local codes, codes_at, parts, texts, texts_at = {}, 0, {}, {}, 0
local function code(value)
  if value < 128 then
    codes_at = codes_at + 1
    codes[codes_at] = value
  else
    codes[codes_at + 1] = value & 127 | 128
    codes_at = codes_at + 2
    codes[codes_at] = value >> 7
  end
end

local function is_text(value) return type(value) == "string" and #value <= TEXT_MAX end

local function add_text(value)
  texts_at = texts_at + 1
  texts[texts_at] = value
  return code(#value)
end

-- A text, or a list of up to max of them; when something else is among them, nothing.
local function put_texts(tag, value, max)
  if is_text(value) then
    codes_at = codes_at + 1
    codes[codes_at] = tag + 1
    return add_text(value)
  end
  if type(value) ~= "table" or getmetatable(value) ~= nil then return end
  local count = #value
  if count == 0 or count > max then return end
  for i = 1, count do
    if not is_text(value[i]) then return end
  end
  codes_at = codes_at + 1
  codes[codes_at] = tag + count
  for i = 1, count do add_text(value[i]) end
end

local function put_number(tag, value)
  if type(value) ~= "number" then return end
  codes_at = codes_at + 1
  if value >= 0 and value < 16384 and value % 1 == 0 then
    codes[codes_at] = tag
    return code(value // 1 | 0)
  end
  codes[codes_at] = tag + 1
  texts_at = texts_at + 1
  texts[texts_at] = pack("<d", value)
end

local function put_text(tag, value)
  if not is_text(value) then return end
  codes_at = codes_at + 1
  codes[codes_at] = tag
  return add_text(value)
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

local END, KEY, GATES, WEIGHT, PRIORITY, TIER, DELAY, ACTION, PROBLEM =
  0, 0, 4, 21, 23, 25, 26, 28, 29

local function put_proposal(said)
  local key, weight, throttle, gates, priority, delay =
    said.fairness_key, said.weight, said.throttle_keys, said.gates, said.priority, said.delay_ms
  if key ~= nil then put_texts(KEY, key, 4) end
  if weight ~= nil then put_number(WEIGHT, weight) end
  if throttle ~= nil then put_texts(GATES, throttle, 16) end
  if gates ~= nil then put_texts(GATES, gates, 16) end
  if priority ~= nil then
    put_number(PRIORITY, priority)
    put_text(TIER, priority)
  end
  if delay ~= nil then put_number(DELAY, delay) end
end

local function put_verdict(said)
  put_text(ACTION, said.action)
  put_number(DELAY, said.delay_ms)
end

-- The numbers so far, as a text.
local function pack_codes()
  for from = 1, codes_at, 200 do
    local to = from + 199
    parts[#parts + 1] = char(list(codes, from, to < codes_at and to or codes_at))
  end
  codes_at = 0
end

local function end_answer()
  codes_at = codes_at + 1
  codes[codes_at] = END
  if codes_at >= 1000 then pack_codes() end
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

-- Where the loop of a batch is. One pcall is enough until a call fails: each costs a microsecond.
local data, pos, at, count, read, hook, put, is_failure, in_hook, failures, is_over

local function calls()
  local data, count, hook, put, msg, renamed, said = data, count, hook, put
  while at < count do
    msg, pos, renamed = read(data, pos)
    if renamed == 1 then read, pos = reader(data, pos, is_failure) end
    if mark() and at > 0 then
      is_over = true
      return
    end
    in_hook = true
    said = hook(msg)
    in_hook = false
    at = at + 1
    if next(env) ~= nil then clear() end
    failures = 0
    put(plain(said))
    end_answer()
  end
end

function run(batch)
  local kind
  kind, count, failures, pos = unpack("<BI4I4", batch)
  data, at, is_failure, is_over = batch, 0, kind == 1, false
  codes_at, parts, texts, texts_at = 0, {}, {}, 0
  hook = rawget(globals, is_failure and "on_failure" or "on_enqueue")
  put = is_failure and put_verdict or put_proposal
  read, pos = reader(data, pos, is_failure)
  while at < count and not is_over and failures < FAILURES_MAX do
    in_hook = false
    local ok, problem = pcall(calls)
    if not ok then
      if not in_hook then error(problem, 0) end
      at = at + 1
      if next(env) ~= nil then clear() end
      failures = failures + 1
      put_text(PROBLEM, text(problem))
      end_answer()
    end
  end
  pack_codes()
  local packed = concat(parts)
  local answers = pack("<s4", packed) .. concat(texts)
  data, parts, texts = nil, nil, nil
  return answers
end

function set_config(data)
  mark()
  config = data == "" and {} or read_config(data, 1)
end
`;
