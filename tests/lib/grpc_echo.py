# SPDX-License-Identifier: Apache-2.0
"""gRPC, by Google's own library: a server that echoes, and a client that tries every kind of call.

    grpc_echo.py serve ADDRESS PORT CERTIFICATE KEY
    grpc_echo.py call HOST PORT [BUNDLE]      prints what came as JSON

Messages are plain bytes: what is between a message's own format and HTTP/2 is what counts.
"""

import json
import sys
import threading
import time
from concurrent import futures

import grpc

NAME = "bawn.test.Echo"


class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        kinds = {"Unary": grpc.unary_unary_rpc_method_handler(self.unary),
                 "Down": grpc.unary_stream_rpc_method_handler(self.down),
                 "Up": grpc.stream_unary_rpc_method_handler(self.up),
                 "Both": grpc.stream_stream_rpc_method_handler(self.both),
                 "Fail": grpc.unary_unary_rpc_method_handler(self.fail)}
        service, _, method = details.method.lstrip("/").partition("/")
        return kinds.get(method) if service == NAME else None

    def unary(self, request, context):
        context.set_trailing_metadata((("x-behind", "yes"),))
        return request[::-1]

    def down(self, request, context):
        for n in range(5):
            yield request + b" %d" % n
            time.sleep(0.1)

    def up(self, requests, context):
        return b"%d" % sum(len(r) for r in requests)

    def both(self, requests, context):
        for r in requests:
            yield r.upper()

    def fail(self, request, context):
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "not you")


def serve(address, port, cert, key):
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((Echo(),))
    with open(cert, "rb") as c, open(key, "rb") as k:
        server.add_secure_port(f"{address}:{port}", grpc.ssl_server_credentials([(k.read(), c.read())]))
    server.start()
    print("serving", flush=True)
    server.wait_for_termination()


def both_ways(channel):
    """Each message is sent when the answer to the one before has come."""
    came, got = threading.Semaphore(1), []

    def requests():
        for n in range(5):
            came.acquire()
            yield b"message %d" % n

    for answer in channel.stream_stream(f"/{NAME}/Both")(requests(), timeout=20):
        got.append(answer.decode())
        came.release()
    return got


def call(host, port, bundle=None):
    roots = open(bundle, "rb").read() if bundle else None
    out = {}
    with grpc.secure_channel(f"{host}:{port}", grpc.ssl_channel_credentials(roots)) as channel:
        answer, done = channel.unary_unary(f"/{NAME}/Unary").with_call(b"abc", timeout=20)
        out["unary"] = [answer.decode(), dict(done.trailing_metadata()).get("x-behind")]
        times, out["down"] = [], []
        for piece in channel.unary_stream(f"/{NAME}/Down")(b"n", timeout=20):
            times.append(time.monotonic())
            out["down"].append(piece.decode())
        out["spread"] = times[-1] - times[0]
        out["up"] = channel.stream_unary(f"/{NAME}/Up")(iter([b"x" * 100000] * 20), timeout=20).decode()
        out["both"] = both_ways(channel)
        try:
            channel.unary_unary(f"/{NAME}/Fail")(b"", timeout=20)
        except grpc.RpcError as e:
            out["fail"] = [e.code().name, e.details()]
        try:
            channel.unary_unary("/bawn.test.Other/Unary")(b"", timeout=20)
        except grpc.RpcError as e:
            out["refused"] = [e.code().name, e.details()]
    print(json.dumps(out))


if __name__ == "__main__":
    {"serve": serve, "call": call}[sys.argv[1]](*sys.argv[2:])
