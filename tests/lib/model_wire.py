# SPDX-License-Identifier: Apache-2.0
"""The protocols of models: what a request has, and how an answer is written, whole or as a stream.

    Messages      Anthropic:  POST /v1/messages
    Responses     OpenAI:     POST .../responses, or a WebSocket there (its events are the messages)
    Chat          OpenAI and many others: POST .../chat/completions
    Gemini        Google:     POST .../models/NAME:generateContent, :streamGenerateContent

Each class reads one request: `tools` (model_script.Tool), `results` (texts of what tools gave, in order), `streams`,
`schema` (of an answer that has to be JSON), `working` (there is something to answer); and writes a model_script.Turn:
events() for a stream, whole() for a plain answer, error().  Texts and arguments come in pieces, as from a model.
"""

import itertools
import json
import time

from model_script import Tool

numbers = itertools.count(1)
USAGE = {"input_tokens": 1, "output_tokens": 1}


def pieces(text, count=3):
    size = max(1, -(-len(text) // count))
    return [text[i:i + size] for i in range(0, len(text), size)] or [""]


def text_of(content):
    """What a tool gave, as text, however the protocol packs it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part.get("text", "") if isinstance(part, dict) else part) for part in content)
    return json.dumps(content)


def arguments(call):
    return call.arguments if call.tool.free else json.dumps(call.arguments)


class Wire:
    working = True
    previous = None              # the answer that this request goes on from, where it has only what is new
    ends = ""                    # what a stream ends with

    def __init__(self, body, target):
        self.body, self.target = body, target
        self.model = body.get("model", "a-model")
        self.streams = bool(body.get("stream"))
        self.number = next(numbers)

    @staticmethod
    def frame(event):
        return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


class Messages(Wire):
    ERRORS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
              429: "rate_limit_error", 529: "overloaded_error"}

    def __init__(self, body, target):
        super().__init__(body, target)
        self.tools = [Tool(t["name"], t["input_schema"]) for t in body.get("tools", []) if "input_schema" in t]
        self.results = [text_of(part.get("content", "")) for m in body.get("messages", []) if isinstance(m["content"], list)
                        for part in m["content"] if part.get("type") == "tool_result"]
        asked = body.get("output_format") or body.get("output_config", {}).get("format") or {}
        self.schema = asked.get("schema")

    def blocks(self, turn):
        """(block as it ends, block as it begins, its pieces)."""
        thinks = self.body.get("thinking", {}).get("type", "disabled") != "disabled"
        for text in turn.thoughts if thinks else []:
            whole = {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}
            yield whole, {**whole, "thinking": "", "signature": ""}, [{"type": "thinking_delta", "thinking": p} for p in pieces(text)] + [
                {"type": "signature_delta", "signature": whole["signature"]}]
        for text in turn.texts:
            yield {"type": "text", "text": text}, {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in pieces(text)]
        if turn.call:
            whole = {"type": "tool_use", "id": f"toolu_{self.number:06}", "name": turn.call.tool.name, "input": turn.call.arguments}
            yield whole, {**whole, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in pieces(arguments(turn.call))]

    def message(self, content, stop):
        return {"id": f"msg_{self.number:06}", "type": "message", "role": "assistant", "model": self.model, "content": content,
                "stop_reason": stop, "stop_sequence": None, "usage": USAGE}

    def whole(self, turn):
        return self.message([whole for whole, _, _ in self.blocks(turn)], "tool_use" if turn.call else "end_turn")

    def events(self, turn):
        yield {"type": "message_start", "message": self.message([], None)}
        for index, (_, begins, deltas) in enumerate(self.blocks(turn)):
            yield {"type": "content_block_start", "index": index, "content_block": begins}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if turn.call else "end_turn", "stop_sequence": None},
               "usage": {"output_tokens": 5}}
        yield {"type": "message_stop"}

    @classmethod
    def error(cls, status, text, seconds=None):
        return {"type": "error", "error": {"type": cls.ERRORS.get(status, "api_error"), "message": text}}


class OpenAI(Wire):
    """What both protocols of OpenAI share."""
    CODES = {401: ("invalid_request_error", "invalid_api_key"), 429: ("requests", "rate_limit_exceeded")}

    @classmethod
    def error(cls, status, text, seconds=None):
        kind, code = cls.CODES.get(status, ("server_error" if status >= 500 else "invalid_request_error", None))
        if seconds is not None:
            text += f" Please try again in {seconds}s."
        return {"error": {"message": text, "type": kind, "param": None, "code": code}}


class Responses(OpenAI):
    def __init__(self, body, target):
        super().__init__(body, target)
        items = body["input"] if isinstance(body.get("input"), list) else []
        self.tools = list(self.flat(body.get("tools", []) + [t for i in items if i.get("type") == "additional_tools" for t in i["tools"]]))
        self.results = [text_of(i.get("output", "")) for i in items if i.get("type", "").endswith("_output")]
        self.schema = body.get("text", {}).get("format", {}).get("schema")
        self.previous = body.get("previous_response_id")
        self.working = body.get("generate", True)     # codex asks once so that a server is ready
        self.id = f"resp_{self.number:06}"

    @classmethod
    def flat(cls, tools):
        """Tools, also of namespaces; codex has some of them among what is asked."""
        for t in tools:
            if t.get("type") == "namespace":
                yield from cls.flat(t["tools"])
            elif t.get("type") in ("function", "custom"):
                yield Tool(t["name"], t.get("parameters") or {}, t["type"] == "custom")

    def items(self, turn):
        """(item as it ends, item as it begins, the events between)."""
        if not self.working:
            return
        for n, text in enumerate(turn.thoughts):
            whole = {"type": "reasoning", "id": f"rs_{self.number:06}_{n}", "summary": [{"type": "summary_text", "text": text}]}
            part = {"item_id": whole["id"], "summary_index": 0}
            yield whole, {**whole, "summary": []}, [
                {"type": "response.reasoning_summary_part.added", **part, "part": {"type": "summary_text", "text": ""}},
                *({"type": "response.reasoning_summary_text.delta", **part, "delta": p} for p in pieces(text)),
                {"type": "response.reasoning_summary_text.done", **part, "text": text},
                {"type": "response.reasoning_summary_part.done", **part, "part": whole["summary"][0]}]
        for n, text in enumerate(turn.texts):
            said = {"type": "output_text", "text": text, "annotations": []}
            whole = {"type": "message", "id": f"msg_{self.number:06}_{n}", "role": "assistant", "status": "completed", "content": [said]}
            part = {"item_id": whole["id"], "content_index": 0}
            yield whole, {**whole, "status": "in_progress", "content": []}, [
                {"type": "response.content_part.added", **part, "part": {**said, "text": ""}},
                *({"type": "response.output_text.delta", **part, "delta": p} for p in pieces(text)),
                {"type": "response.output_text.done", **part, "text": text},
                {"type": "response.content_part.done", **part, "part": said}]
        if turn.call:
            key, event = ("input", "custom_tool_call_input") if turn.call.tool.free else ("arguments", "function_call_arguments")
            whole = {"type": "custom_tool_call" if turn.call.tool.free else "function_call", "id": f"fc_{self.number:06}",
                     "call_id": f"call_{self.number:06}", "name": turn.call.tool.name, key: arguments(turn.call), "status": "completed"}
            yield whole, {**whole, "status": "in_progress", key: ""}, [
                *({"type": f"response.{event}.delta", "item_id": whole["id"], "delta": p} for p in pieces(whole[key])),
                {"type": f"response.{event}.done", "item_id": whole["id"], key: whole[key]}]

    def whole(self, turn, status="completed"):
        return {"id": self.id, "object": "response", "created_at": int(time.time()), "status": status, "model": self.model,
                "output": [whole for whole, _, _ in self.items(turn)] if status == "completed" else [],
                "usage": {**USAGE, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
                          "output_tokens_details": {"reasoning_tokens": 0}}}

    def events(self, turn):
        order = itertools.count()
        for event in self.unnumbered(turn):
            yield {**event, "sequence_number": next(order)}

    def unnumbered(self, turn):
        yield {"type": "response.created", "response": self.whole(turn, "in_progress")}
        for index, (whole, begins, between) in enumerate(self.items(turn)):
            yield {"type": "response.output_item.added", "output_index": index, "item": begins}
            for event in between:
                yield {**event, "output_index": index}
            yield {"type": "response.output_item.done", "output_index": index, "item": whole}
        yield {"type": "response.completed", "response": self.whole(turn)}


class Chat(OpenAI):
    ends = "data: [DONE]\n\n"

    def __init__(self, body, target):
        super().__init__(body, target)
        self.tools = [Tool(t["function"]["name"], t["function"].get("parameters") or {}) for t in body.get("tools") or []
                      if "function" in t]
        self.results = [text_of(m.get("content", "")) for m in body.get("messages", []) if m.get("role") == "tool"]
        self.schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")

    @staticmethod
    def frame(event):
        return f"data: {json.dumps(event)}\n\n"

    def chunk(self, delta, finish=None, **more):
        return {"id": f"chatcmpl-{self.number:06}", "object": "chat.completion.chunk", "created": int(time.time()), "model": self.model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}

    def function(self, turn, text):
        return {"index": 0, "id": f"call_{self.number:06}", "type": "function", "function": {"name": turn.call.tool.name, "arguments": text}}

    def usage(self):
        return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

    def whole(self, turn):
        message = {"role": "assistant", "content": "\n".join(turn.texts) or None}
        if turn.call:
            message["tool_calls"] = [self.function(turn, arguments(turn.call))]
        made = self.chunk({}, usage=self.usage())
        return {**made, "object": "chat.completion",
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if turn.call else "stop"}]}

    def events(self, turn):
        yield self.chunk({"role": "assistant", "content": ""})
        for text in turn.thoughts:
            for p in pieces(text):
                yield self.chunk({"reasoning_content": p})
        for text in turn.texts:
            for p in pieces(text):
                yield self.chunk({"content": p})
        if turn.call:
            first, *rest = pieces(arguments(turn.call))
            yield self.chunk({"tool_calls": [self.function(turn, first)]})
            for p in rest:
                yield self.chunk({"tool_calls": [{"index": 0, "function": {"arguments": p}}]})
        yield self.chunk({}, "tool_calls" if turn.call else "stop", usage=self.usage())


class Gemini(Wire):
    STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
              503: "UNAVAILABLE"}

    def __init__(self, body, target):
        super().__init__(body, target)
        self.streams = ":streamGenerateContent" in target
        self.tools = [Tool(f["name"], f.get("parametersJsonSchema") or f.get("parameters") or {}) for t in body.get("tools", [])
                      for f in t.get("functionDeclarations", [])]
        self.results = [self.given(p["functionResponse"].get("response", {})) for c in body.get("contents", []) for p in c.get("parts", [])
                        if "functionResponse" in p]
        config = body.get("generationConfig", {})
        self.schema = config.get("responseJsonSchema") or config.get("responseSchema")

    @staticmethod
    def frame(event):
        return f"data: {json.dumps(event)}\r\n\r\n"

    def answer(self, parts, finish=None):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return {"candidates": [candidate], "modelVersion": "a-model", "responseId": f"r{self.number:06}",
                "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}

    @staticmethod
    def given(response):
        return text_of(response.get("output", response.get("error", response)))

    @staticmethod
    def called(turn):
        return [{"functionCall": {"name": turn.call.tool.name, "args": turn.call.arguments}}] if turn.call else []

    def whole(self, turn):
        return self.answer([{"text": t} for t in turn.texts] + self.called(turn), "STOP")

    def events(self, turn):
        for text in turn.thoughts:
            yield self.answer([{"text": text, "thought": True}])
        for text in turn.texts:
            for p in pieces(text):
                yield self.answer([{"text": p}])
        yield self.answer(self.called(turn) or [{"text": ""}], "STOP")

    @classmethod
    def error(cls, status, text, seconds=None):
        said = {"code": status, "message": text, "status": cls.STATUS.get(status, "INTERNAL")}
        if seconds is not None:
            said["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds}s"}]
        return {"error": said}
