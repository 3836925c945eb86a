"""A small client of Sluice's stream, with nothing but Python's standard library.

It speaks the protocol that docs/protocol.md describes: adds jobs, consumes them, and acks or nacks
each. It asks for no session that outlives its connection, so it need not count messages.
"""

import base64
import hashlib
import json
import os
import socket
import struct
from urllib.parse import urlsplit

HELLO, LEAVE, PING = 0x01, 0x02, 0x04
ADD, CONSUME, CREDITS, ACK, NACK, CALL = 0x10, 0x12, 0x13, 0x15, 0x16, 0x19
WELCOME, LEFT, ERROR = 0x81, 0x82, 0x83
DELIVER, DONE = 0x93, 0x95

MAGIC = b"SLUI"
VERSION = 1


class SluiceError(Exception):
    """What the server refuses: `code` is stable, the message is for people."""

    def __init__(self, code, message, retry_after_ms=None, details=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.retry_after_ms = retry_after_ms
        self.details = details


class Job:
    def __init__(self, **fields):
        self.__dict__.update(fields)


# Encodings: all numbers are little-endian.


def text(value):
    data = value.encode()
    return struct.pack("<H", len(data)) + data


def short(value):
    data = value.encode()
    if len(data) < 0xFF and value.isascii():
        return struct.pack("<B", len(data)) + data
    return b"\xff" + text(value)


def blob(data):
    return struct.pack("<I", len(data)) + data


def frame(kind, operation, body=b""):
    return struct.pack("<BII", kind, operation, len(body)) + body


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def raw(self, length):
        if self.at + length > len(self.data):
            raise SluiceError("INVALID", "a frame is cut off")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.raw(struct.calcsize("<" + form)))[0]

    def text(self):
        length = self.number("H")
        if length != 0xFFFF:
            return self.raw(length).decode()
        return self.raw(2 * self.number("H")).decode("utf-16-le", "surrogatepass")

    def short(self):
        length = self.number("B")
        return self.text() if length == 0xFF else self.raw(length).decode()

    def blob(self):
        return self.raw(self.number("I"))

    def texts(self):
        return [self.text() for _ in range(self.number("B"))]

    def error(self):
        flags = self.number("B")
        code, message = self.short(), self.text()
        retry_after_ms = self.number("d") if flags & 1 else None
        details = json.loads(self.blob()) if flags & 2 else None
        return SluiceError(code, message, retry_after_ms, details)

    def frames(self):
        while self.at < len(self.data):
            kind, operation, length = self.number("B"), self.number("I"), self.number("I")
            yield kind, operation, Reader(self.raw(length))


def read_job(reader, queue):
    flags = reader.number("B")
    job = Job(queue=queue, id=reader.short(), lease=reader.short())
    job.attempt, job.attempts = reader.number("H"), reader.number("H")
    job.deliveries = reader.number("I")
    job.tier = reader.number("B")
    job.added_at, job.expires_at, job.lease_ms = (reader.number("d") for _ in range(3))
    job.fairness_key = reader.texts() if flags & 1 else reader.text()
    count = reader.number("B") if flags & 2 else 0
    job.headers = {reader.text(): reader.text() for _ in range(count)}
    job.payload = reader.blob()
    return job


class WebSocket:
    """As much of RFC 6455 as a client needs."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port or 80))
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /v1/stream HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = self._until(b"\r\n\r\n").decode("latin-1")
        accept = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        if " 101 " not in head or base64.b64encode(accept).decode() not in head:
            raise SluiceError("DISCONNECTED", "the server at this address is not Sluice")

    def send(self, data, opcode=2):
        size = len(data)
        if size < 126:
            head = struct.pack(">BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack(">BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack(">BBQ", 0x80 | opcode, 0x80 | 127, size)
        # A mask of zeros: the bytes are sent as they are.
        self.socket.sendall(head + b"\0\0\0\0" + data)

    def receive(self):
        """The next whole message."""
        message = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            data = self._take(size)
            opcode = first & 0x0F
            if opcode == 8:
                raise SluiceError("DISCONNECTED", "the server closed the connection")
            if opcode == 9:
                self.send(data, 10)
            elif opcode in (0, 2):
                message += data
                if first & 0x80:
                    return message

    def _fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise SluiceError("DISCONNECTED", "the connection was lost")
        self.buffer += data

    def _take(self, count):
        while len(self.buffer) < count:
            self._fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def _until(self, end):
        while end not in self.buffer:
            self._fill()
        return self._take(self.buffer.index(end) + len(end))


class Client:
    def __init__(self, url, api_key=None, name="python"):
        self.web_socket = WebSocket(url)
        self.operation = 0
        self.ready = []
        self.queues = {}
        flags = 0 if api_key is None else 2
        body = MAGIC + struct.pack("<HB", VERSION, flags)
        body += b"" if api_key is None else text(api_key)
        self.web_socket.send(frame(HELLO, 0, body + text(name) + short("") + struct.pack("<d", 0)))
        kind, _, reader = next(Reader(self.web_socket.receive()).frames())
        if kind == ERROR:
            raise reader.error()
        if kind != WELCOME or reader.raw(4) != MAGIC:
            raise SluiceError("DISCONNECTED", "the server at this address is not Sluice")

    def add(self, queue, jobs, operation_id=""):
        """Adds jobs, each a dict with `payload` and any options; answers ids or errors."""
        body = text(queue) + text(operation_id) + b"\0" + struct.pack("<I", len(jobs))
        for job in jobs:
            rest = {name: value for name, value in job.items() if name != "payload"}
            body += struct.pack("<B", 64 if rest else 0) + blob(job["payload"])
            body += blob(json.dumps(rest).encode()) if rest else b""
        reader = self._ask(ADD, body)
        return [self._added(reader) for _ in range(reader.number("I"))]

    def consume(self, queue, credits, worker="python"):
        """Has jobs delivered; `next_job` answers them one by one."""
        body = text(queue) + b"\0" + text(worker) + struct.pack("<d", credits)
        consumer = self.operation + 1
        self.queues[consumer] = queue
        self._ask(CONSUME, body)
        return consumer

    def next_job(self):
        while not self.ready:
            self._receive(None)
        return self.ready.pop(0)

    def add_credits(self, consumer, count):
        self.web_socket.send(frame(CREDITS, consumer, struct.pack("<d", count)))

    def ack(self, leases):
        body = text("") + b"\0" + struct.pack("<I", len(leases))
        return self._outcomes(ACK, body + b"".join(short(lease) for lease in leases), len(leases))

    def nack(self, lease, error, delay_ms=None):
        flags = 1 | (0 if delay_ms is None else 2)
        body = text("") + struct.pack("<I", 1) + short(lease) + struct.pack("<B", flags)
        body += text(error) + (b"" if delay_ms is None else struct.pack("<d", delay_ms))
        return self._outcomes(NACK, body, 1)[0]

    def call(self, name, *args):
        """Any of the other calls, by its name."""
        reader = self._ask(CALL, short(name) + blob(json.dumps(args).encode()))
        return json.loads(reader.blob()).get("answer")

    def ping(self):
        """For a client that sends nothing else for ten seconds: silence ends the connection."""
        self.web_socket.send(frame(PING, 0))

    def close(self):
        """Leaves: what was delivered and not ended goes back at once."""
        self.web_socket.send(frame(LEAVE, 0))
        while self._receive(None) != LEFT:
            pass
        self.web_socket.socket.close()

    def _ask(self, kind, body):
        self.operation += 1
        operation = self.operation
        self.web_socket.send(frame(kind, operation, body))
        while True:
            answer = self._receive(operation)
            if isinstance(answer, SluiceError):
                raise answer
            if isinstance(answer, Reader):
                return answer

    def _receive(self, wanted):
        """Reads one message; answers the frame of the wanted operation when it was in it."""
        answer = None
        for kind, operation, reader in Reader(self.web_socket.receive()).frames():
            if kind == DELIVER:
                count = reader.number("I")
                self.ready += [read_job(reader, self.queues[operation]) for _ in range(count)]
            elif kind == ERROR and operation == 0:
                raise reader.error()
            elif kind == LEFT:
                answer = LEFT
            elif operation == wanted:
                reader.kind = kind
                answer = reader.error() if kind == ERROR else reader
        return answer

    def _added(self, reader):
        flags = reader.number("B")
        if flags == 0:
            return reader.error()
        reader.number("B")
        return reader.short()

    def _outcomes(self, kind, body, count):
        reader = self._ask(kind, body)
        if reader.kind == DONE:
            return [None] * count
        outcomes = []
        for _ in range(reader.number("I")):
            kind = reader.number("B")
            if kind == 3:  # To how many milliseconds a cooldown was cut.
                reader.number("d")
            outcomes.append(reader.error() if kind == 0 else None)
        return outcomes
