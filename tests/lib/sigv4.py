# SPDX-License-Identifier: Apache-2.0
"""AWS Signature Version 4, for a client inside a box and for the origin that checks it."""

import hashlib
import hmac
import re
from urllib.parse import quote, unquote


def sha(data):
    return hashlib.sha256(data).hexdigest()


def canonical(method, target, fields, names, payload, s3):
    path, _, query = target.partition("?")
    pairs = sorted((quote(unquote(k), safe="-_.~"), quote(unquote(v), safe="-_.~"))
                   for k, _, v in (p.partition("=") for p in query.split("&") if p) if k != "X-Amz-Signature")
    path = path if s3 else quote(path, safe="/-_.~")
    return "\n".join([method, path, "&".join(f"{k}={v}" for k, v in pairs),
                      "".join(f"{n}:{' '.join(fields[n].split())}\n" for n in names), ";".join(names), payload])


def signature(key, time, region, service, text):
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{sha(text.encode())}"
    k = ("AWS4" + key).encode()
    for word in scope.split("/"):
        k = hmac.new(k, word.encode(), hashlib.sha256).digest()
    return hmac.new(k, to_sign.encode(), hashlib.sha256).hexdigest()


def sign(method, host, target, body, fields, key_id, key, service, time, region="eu-west-3"):
    """The fields to send."""
    fields = {"host": host, "x-amz-date": time, **fields}
    names = sorted(fields)
    payload = fields.get("x-amz-content-sha256", sha(body))
    sig = signature(key, time, region, service, canonical(method, target, fields, names, payload, service == "s3"))
    fields["authorization"] = (f"AWS4-HMAC-SHA256 Credential={key_id}/{time[:8]}/{region}/{service}/aws4_request, "
                               f"SignedHeaders={';'.join(names)}, Signature={sig}")
    return "".join(f"{k}: {v}\r\n" for k, v in fields.items() if k != "host")


def presign(host, target, key_id, key, time, region="eu-west-3", token=""):
    credential = quote(f"{key_id}/{time[:8]}/{region}/s3/aws4_request", safe="")
    target += (f"?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}&X-Amz-Date={time}"
               f"&X-Amz-Expires=60&X-Amz-SignedHeaders=host")
    target += f"&X-Amz-Security-Token={quote(token, safe='')}" if token else ""
    text = canonical("GET", target, {"host": host}, ["host"], "UNSIGNED-PAYLOAD", True)
    return target + "&X-Amz-Signature=" + signature(key, time, region, "s3", text)


def check(method, target, fields, body, key_id, key):
    """What is wrong with the signature; "" when it is good."""
    query = dict(p.partition("=")[::2] for p in target.partition("?")[2].split("&") if p)
    if "X-Amz-Signature" in query:
        credential, names = unquote(query["X-Amz-Credential"]), unquote(query["X-Amz-SignedHeaders"])
        given, time, payload = query["X-Amz-Signature"], query["X-Amz-Date"], "UNSIGNED-PAYLOAD"
    else:
        m = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\w+)",
                         fields.get("authorization", ""))
        if not m:
            return "no signature"
        credential, names, given = m.groups()
        time, payload = fields["x-amz-date"], fields.get("x-amz-content-sha256") or sha(body)
        if re.fullmatch("[0-9a-f]{64}", payload) and payload != sha(body):
            return "another body"
    got_id, _, region, service, _ = credential.split("/")
    if got_id != key_id:
        return "another id: " + got_id
    text = canonical(method, target, fields, names.split(";"), payload, service == "s3")
    return "" if signature(key, time, region, service, text) == given else "another signature, of:\n" + text
