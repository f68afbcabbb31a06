# SPDX-License-Identifier: Apache-2.0
"""A model that answers by a script, under the names of the real providers, in the little internet.

    with Models(KEYS) as w:              an Origins (origin.py) with these besides
        w.play(Script(Run("make"), Say("All is done.")))
        ...                              an agent in a box asks api.anthropic.com, or another of NAMES
        w.asked                          each request: host, header, body, what tools gave, what was answered

Nothing about an agent is special in a test: it asks its provider's own host, and its requests come through the gate,
which opens them.  KEYS says for each host which key is the real one; a request without it gets 401, as from the
provider.  Answers are streams in the provider's protocol (model_wire.py), a few events at a time.

No packet leaves the machine: the names lead to an address for documentation in the test's own network namespace.
"""

import base64
import hashlib
import json
import struct
import subprocess
import time
import urllib.parse
import zlib

import model_wire
import world
from model_script import Script, aside, can_work
from origin import Origins

ADDRESS = "203.0.113.30"
world.OWN += [ADDRESS]
ANTHROPIC, OPENAI, CHATGPT = "api.anthropic.com", "api.openai.com", "chatgpt.com"
GOOGLE, OPENROUTER = "generativelanguage.googleapis.com", "openrouter.ai"
COPILOT, GITHUB_API = "api.githubcopilot.com", "api.github.com"
PAGES = "docs.example.org"       # no provider: a page for Fetch
NAMES = (ANTHROPIC, OPENAI, CHATGPT, GOOGLE, OPENROUTER, COPILOT, GITHUB_API, PAGES)
PAGE = "The manual says: greet with hi.\n"

# What GitHub says of who may use Copilot, and of one model there.
COPILOT_USER = {"login": "person", "access_type_sku": "plus_monthly_subscriber_quota", "copilot_plan": "individual", "chat_enabled": True,
                "endpoints": {"api": f"https://{COPILOT}", "telemetry": "https://telemetry.individual.githubcopilot.com"},
                "organization_list": [], "organization_login_list": [], "quota_snapshots": {}}
COPILOT_MODEL = {"id": "claude-sonnet-4.6", "name": "A model", "object": "model", "vendor": "Anthropic", "version": "1", "preview": False,
                 "model_picker_enabled": True, "is_chat_default": True, "policy": {"state": "enabled", "terms": ""},
                 "billing": {"is_premium": False, "multiplier": 0}, "supported_endpoints": ["/chat/completions"],
                 "capabilities": {"type": "chat", "family": "claude-sonnet-4.6", "object": "model_capabilities", "tokenizer": "o200k_base",
                                  "limits": {"max_context_window_tokens": 128000, "max_output_tokens": 16000, "max_prompt_tokens": 128000},
                                  "supports": {"streaming": True, "tool_calls": True, "parallel_tool_calls": True}}}

REASONS = {101: "Switching Protocols", 200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
           429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable", 529: "Overloaded"}
WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Asked:
    """One request, and what was answered."""

    def __init__(self, host, method, target, header, body, via="http"):
        self.host, self.method, self.target, self.header, self.body, self.via = host, method, target, header, body, via
        self.when = time.monotonic()
        self.status = None
        self.tools = []          # their names
        self.results = []        # what they gave, as far as this request says it
        self.at_work = False     # the script was asked, and not for a title or the like
        self.call = None         # the name of the tool that was answered with

    def __str__(self):
        return f"{self.via} {self.method} {self.host}{self.target} -> {self.status}{' ' + self.call if self.call else ''}"


def keys_in(header, target):
    """Every key that a request brings, wherever providers take one."""
    scheme, _, value = header.get("authorization", "").partition(" ")
    found = [header.get("x-api-key"), header.get("x-goog-api-key"), header.get("api-key"), value if scheme else None]
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query)
    return [k for k in found + query.get("key", []) if k]


class Models(Origins):
    def __init__(self, keys):
        super().__init__()
        self.names.update({name: [ADDRESS] for name in NAMES})
        self.keys = keys
        self.play(Script())

    def play(self, script):
        """From now on this is what the model answers; what was asked before is forgotten."""
        self.script, self.began = script, time.monotonic()
        self.asked, self.given, self.had = [], set(), {}

    # -- what was asked --------------------------------------------------------------

    def at_work(self):
        return [a for a in self.asked if a.at_work]

    def results(self):
        """What tools gave, over the whole conversation, in order and once."""
        texts = []
        for a in self.at_work():
            texts += [t for t in a.results if t not in texts]
        return texts

    def story(self):
        return "\n".join([*(f"{a.when - self.began:.1f} s {a}" for a in self.asked), *(t[-400:] for t in self.results())])

    # -- the servers -----------------------------------------------------------------

    def certificates(self):
        super().certificates()
        names = ",".join("DNS:" + name for name in NAMES)
        script = f"""
            set -e; cd {self.dir}
            openssl req -newkey rsa:2048 -nodes -keyout models.key -out models.csr -subj /CN=models
            printf 'basicConstraints=critical,CA:FALSE\\nextendedKeyUsage=serverAuth\\nsubjectAltName={names}' >models.ext
            openssl x509 -req -in models.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile models.ext -out models.pem
            """
        subprocess.run(["sh", "-c", script], check=True, timeout=60 * world.SLOW, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    async def open_all(self):
        await super().open_all()
        await self.listen(self.serve_model, ADDRESS, 443, ssl=self.context("models"))

    async def serve_model(self, reader, writer, c):
        while head := await self.read_head(reader, c):
            line, *fields = head.decode("latin1").rstrip("\r\n").split("\r\n")
            method, target, _ = line.split(" ", 2)
            header = {k.strip().lower(): v.strip() for k, _, v in (f.partition(":") for f in fields)}
            if header.get("expect") == "100-continue":
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = await self.read_body(reader, c, header)
            if header.get("content-encoding") == "gzip":
                body = zlib.decompress(body, 31)
            asked = Asked(header.get("host", "").split(":")[0], method, target, header, body)
            self.asked.append(asked)
            if await self.on_request(asked, reader, writer):
                return
            await writer.drain()

    async def on_request(self, asked, reader, writer):
        """Answers one request; says whether the connection is at its end."""
        path = asked.target.split("?")[0]
        wire = wire_of(path)
        if asked.host == PAGES:
            self.say(asked, writer, PAGE, kind="text/plain")
        elif not set(keys_in(asked.header, asked.target)) & {self.keys.get(asked.host)}:
            self.say(asked, writer, (wire or model_wire.OpenAI).error(401, "this is not a key of ours"), 401)
        elif wire and asked.header.get("upgrade", "").lower() == "websocket":
            await self.on_websocket(asked, reader, writer)
            return True
        elif wire and asked.method == "POST":
            await self.on_model(asked, wire(json.loads(asked.body), asked.target), writer)
        elif path.endswith("/count_tokens"):
            self.say(asked, writer, {"input_tokens": 1})
        elif path.endswith(":countTokens"):
            self.say(asked, writer, {"totalTokens": 1})
        else:
            self.say(asked, writer, *other(asked.host, path))
        return False

    @staticmethod
    def say(asked, writer, body, status=200, kind="application/json", seconds=None):
        asked.status = status
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
        more = f"Retry-After: {seconds}\r\n" if seconds is not None else ""
        writer.write(f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\nContent-Type: {kind}\r\n{more}"
                     f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    # -- the script -------------------------------------------------------------------

    def answer(self, asked, wire):
        """The turn that answers this request, or the Error."""
        before, tools = self.had.get(wire.previous, (0, []))
        tools = wire.tools or tools
        asked.results, asked.tools = wire.results, [t.name for t in tools]
        reached = before + len(wire.results)
        if hasattr(wire, "id"):
            self.had[wire.id] = reached, tools
        if not wire.working or not can_work(tools):
            return aside(wire.schema)
        asked.at_work = True
        turns = self.script.turns(tools)
        turn = turns[min(reached, len(turns) - 1)]
        for number, error in turn.errors:
            if number not in self.given:
                self.given.add(number)
                return error
        asked.call = turn.call.tool.name if turn.call else None
        return turn

    async def on_model(self, asked, wire, writer):
        turn = self.answer(asked, wire)
        if hasattr(turn, "status"):
            self.say(asked, writer, wire.error(turn.status, turn.text, turn.seconds), turn.status, seconds=turn.seconds)
        elif not wire.streams:
            self.say(asked, writer, wire.whole(turn))
        else:
            asked.status = 200
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for text in [*(wire.frame(e) for e in wire.events(turn)), wire.ends]:
                if text:
                    writer.write(b"%x\r\n%s\r\n" % (len(text.encode()), text.encode()))
                    await writer.drain()
            writer.write(b"0\r\n\r\n")

    # -- a WebSocket of OpenAI's Responses -----------------------------------------------

    async def on_websocket(self, asked, reader, writer):
        """Each message is a request; its answer is a message for each event."""
        asked.status = 101
        accept = base64.b64encode(hashlib.sha1((asked.header["sec-websocket-key"] + WEBSOCKET).encode()).digest()).decode()
        writer.write(f"HTTP/1.1 101 {REASONS[101]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        while (text := await read_message(reader, writer)) is not None:
            one = Asked(asked.host, "MESSAGE", asked.target, asked.header, text, "websocket")
            self.asked.append(one)
            wire = model_wire.Responses(json.loads(text), asked.target)
            turn = self.answer(one, wire)
            one.status = getattr(turn, "status", 200)
            events = wire.events(turn)
            if one.status != 200:
                headers = {} if turn.seconds is None else {"retry-after": str(turn.seconds)}
                events = [{"type": "error", "status": turn.status, "headers": headers, **wire.error(turn.status, turn.text, turn.seconds)}]
            for event in events:
                write_frame(writer, 1, json.dumps(event).encode())
                await writer.drain()


def wire_of(path):
    """The protocol of a request to this path, or None."""
    if path.endswith("/v1/messages"):
        return model_wire.Messages
    if path.endswith("/responses"):
        return model_wire.Responses
    if path.endswith("/chat/completions"):
        return model_wire.Chat
    return model_wire.Gemini if path.endswith((":generateContent", ":streamGenerateContent")) else None


def other(host, path):
    """(body, status) of what providers answer beside their models."""
    if (host, path) == (COPILOT, "/models"):
        return {"object": "list", "data": [COPILOT_MODEL]}, 200
    if path.endswith("/models"):
        return {"object": "list", "data": [], "models": []}, 200
    if (host, path) == (GITHUB_API, "/copilot_internal/user"):
        return COPILOT_USER, 200
    if (host, path) == (GITHUB_API, "/user"):
        return {"login": "person", "id": 1}, 200
    return {"error": {"message": "there is nothing here"}}, 404


def write_frame(writer, opcode, data):
    if len(data) < 126:
        head = struct.pack(">BB", 0x80 | opcode, len(data))
    elif len(data) < 1 << 16:
        head = struct.pack(">BBH", 0x80 | opcode, 126, len(data))
    else:
        head = struct.pack(">BBQ", 0x80 | opcode, 127, len(data))
    writer.write(head + data)


async def read_message(reader, writer):
    """The next text of the client, or None at its end; answers pings."""
    message = b""
    while True:
        first, second = await reader.readexactly(2)
        length = second & 0x7f
        if length > 125:
            length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
        mask = await reader.readexactly(4) if second & 0x80 else bytes(4)
        data = await reader.readexactly(length)
        key = (mask * (length // 4 + 1))[:length]
        data = (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(length, "big")
        if first & 0xf == 8:
            write_frame(writer, 8, data[:2])
            return None
        if first & 0xf == 9:
            write_frame(writer, 10, data)
        elif first & 0xf < 3:
            message += data
            if first & 0x80:
                return message
