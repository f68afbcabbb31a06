/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between ssh and its agent (RFC 9987 and OpenSSH's PROTOCOL.agent), as far as a
 * program in the box may speak it: list keys, sign for a login, and say which host the login
 * is for (session-bind@openssh.com).  Everything else is OTHER, and answered with a failure.
 *
 *	message		u32 length, big endian, then that many bytes: a type and its fields
 *	string		u32 length, big endian, then that many bytes
 *
 * What is signed in a login (RFC 4252, 7, and publickey-hostbound-v00@openssh.com):
 *
 *	string session, byte 50, string user, string "ssh-connection", string method,
 *	bool true, string algorithm, string key [, string host key]
 *
 * Nothing is copied: spans point into the message.
 */
#ifndef BAWN_SSH_AGENT_H
#define BAWN_SSH_AGENT_H

#include "buf.h"
#include "feed.h"

enum {
	SSH_AGENT_MESSAGE_MAX = 64 << 10, /* bytes behind the length */
	SSH_AGENT_SESSION_MAX = 64,       /* bytes of a session's identifier: a hash */
	SSH_AGENT_KEYS_MAX = 256,         /* of a list */
	SSH_AGENT_FINGERPRINT_LEN = 43,   /* letters behind SHA256: */
};

#define SSH_AGENT_FINGERPRINT_LETTERS \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* The types we make ourselves. */
enum { SSH_AGENT_FAILURE = 5, SSH_AGENT_SUCCESS = 6 };

enum ssh_agent_kind {
	SSH_AGENT_OTHER,
	SSH_AGENT_LIST,
	SSH_AGENT_SIGN,
	SSH_AGENT_BIND,
};

struct ssh_agent_request {
	enum ssh_agent_kind kind;
	/* SIGN */
	struct span key;  /* which to sign with */
	struct span data; /* what */
	/* BIND */
	struct span host_key, session, signature;
	bool forwarding; /* the connection is for another agent's user, not for a login */
};

/* A login, out of what is to be signed. */
struct ssh_login {
	struct span session, user, algorithm, key;
	struct span host_key; /* empty: the login is not bound to a host (plain publickey) */
};

/*
 * *ret_len: how long the first message in these bytes is, with its length field.  FEED_MORE:
 * not all of it is there (*ret_len is 0 until the length is there).  FEED_BAD: too long.
 */
enum feed ssh_agent_frame(struct span bytes, size_t *ret_len);

/* message: without its length.  -EBADMSG when one of the three kinds is malformed. */
int ssh_agent_parse(struct span message, struct ssh_agent_request *ret) BAWN_MUST_USE;

/* -EBADMSG when it is anything but a login by key. */
int ssh_login_parse(struct span data, struct ssh_login *ret) BAWN_MUST_USE;

/* Whether it is the key with this fingerprint, written as ssh-add -l does: SHA256:... */
bool ssh_key_is(struct span key, const char *fingerprint);

/*
 * Copies the agent's list of keys for the box: the keys for which `keep` is true (NULL: all),
 * without the comments, which often name people and machines.  Neither message nor `into` has
 * the length field.
 */
int ssh_agent_copy_list(struct span message, bool (*keep)(const void *context, struct span key),
			const void *context, struct buf *into) BAWN_MUST_USE;

/* A string, its length and its bytes, which is also how a message is framed; and the next
 * string of a reader. */
void ssh_put_string(struct buf *b, struct span s);
struct span ssh_take_string(struct reader *r);

#endif
