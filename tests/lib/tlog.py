# SPDX-License-Identifier: Apache-2.0
"""Records, trees and checkpoints, read and written from their specifications alone (docs/RECORD.md,
RFC 6962, c2sp.org/signed-note, tlog-checkpoint and tlog-proof): a second opinion on what bawn
says, with hashlib and openssl.  It can also write a record anew, as somebody would who has the disk.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import tempfile


def leaf(data):
    return hashlib.sha256(b"\0" + data).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def root(leaves):
    """RFC 6962, 2.1."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return node(root(leaves[:k]), root(leaves[k:]))


def is_included(index, size, entry, proof, wanted):
    """RFC 9162, 2.1.3.2."""
    if index >= size:
        return False
    fn, sn, r = index, size - 1, entry
    for p in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == wanted


# -- frames ----------------------------------------------------------------

def events(data):
    """The events of a file of frames, as bytes; raises where it is none."""
    found, at = [], 0
    while at < len(data):
        head = re.fullmatch(rb"([0-9a-f]{8}) ([0-9a-f]{64}) ", data[at:at + 74])
        length = int(head[1], 16)
        event = data[at + 74:at + 74 + length]
        assert len(event) == length and data[at + 74 + length:at + 75 + length] == b"\n"
        assert leaf(event).hex().encode() == head[2]
        found.append(event)
        at += 75 + length
    return found


def frame(event):
    return b"%08x %s %s\n" % (len(event), leaf(event).hex().encode(), event)


def rewritten(all_events, change=None):
    """The same events as a new chain, each as change(number, event) has it: numbers, the hash of the
    one before and the roots of seals are right again.  Only the macs cannot be."""
    prev, leaves, out = "0" * 64, [], []
    for n, event in enumerate(all_events, 1):
        e = json.loads(event, object_pairs_hook=dict)
        e = change(n, e) if change else e
        e["seq"], e["prev"] = n, prev
        if e["kind"] == "seal":
            e["root"] = root(leaves).hex()
        text = json.dumps(e, separators=(",", ":"), ensure_ascii=False).encode()
        prev = leaf(text).hex()
        leaves.append(leaf(text))
        out.append(text)
    return out


# -- checkpoints -----------------------------------------------------------

def check_signature(public, signature, text):
    """By openssl."""
    with tempfile.TemporaryDirectory() as d:
        names = {}
        # SubjectPublicKeyInfo of Ed25519 (RFC 8410) in front of the key.
        der = bytes.fromhex("302a300506032b6570032100") + public
        for name, data in (("key", der), ("sig", signature), ("text", text)):
            names[name] = os.path.join(d, name)
            with open(names[name], "wb") as f:
                f.write(data)
        r = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", names["key"],
                            "-rawin", "-in", names["text"], "-sigfile", names["sig"]], capture_output=True, check=False)
        return r.returncode == 0


def open_note(note, verifier):
    """The text of a note that this verifier's key has signed; None when it has not."""
    name, key_id, key = verifier.split("+", 2)
    key = base64.b64decode(key, validate=True)
    if key[0] != 1 or hashlib.sha256(name.encode() + b"\n" + key).digest()[:4].hex() != key_id:
        return None
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    for line in signatures.splitlines():
        dash, signer, data = line.split(" ")
        data = base64.b64decode(data, validate=True)
        if dash == "\u2014" and signer == name and data[:4].hex() == key_id:
            return text if check_signature(key[1:], data[4:], text.encode()) else None
    return None


def open_checkpoint(note, verifier):
    """(origin, size, root), or None."""
    text = open_note(note, verifier)
    if text is None:
        return None
    origin, size, head = text.splitlines()
    return origin, int(size), base64.b64decode(head, validate=True)


def open_proof(proof, verifier, entry):
    """The checkpoint that a proof shows this entry to be part of; None when it does not."""
    head, _, note = proof.partition("\n\n")
    lines = head.splitlines()
    assert lines[0] == "c2sp.org/tlog-proof@v1" and lines[1].startswith("index ")
    checkpoint = open_checkpoint(note, verifier)
    hashes = [base64.b64decode(line, validate=True) for line in lines[2:]]
    if checkpoint and is_included(int(lines[1].split()[1]), checkpoint[1], leaf(entry), hashes, checkpoint[2]):
        return checkpoint
    return None
