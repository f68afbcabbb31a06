/* SPDX-License-Identifier: Apache-2.0 */
#include "ssh_agent.h"

#include "encode.h"
#include "sha256.h"

/* Numbers of the protocol. */
enum {
	SSH_AGENT_TYPE_LIST = 11,
	SSH_AGENT_TYPE_LISTED = 12,
	SSH_AGENT_TYPE_SIGN = 13,
	SSH_AGENT_TYPE_EXTENSION = 27,
	SSH_LOGIN_TYPE = 50,
};

/* Flags of a signature: which hash with an RSA key. */
enum { SSH_AGENT_FLAGS = 2 | 4 };

static uint32_t ssh_u32(struct reader *r)
{
	struct span b = reader_take(r, 4);

	if (b.len != 4)
		return 0;
	return (uint32_t)b.ptr[0] << 24 | (uint32_t)b.ptr[1] << 16 | (uint32_t)b.ptr[2] << 8 |
	       b.ptr[3];
}

static uint8_t ssh_byte(struct reader *r)
{
	struct span b = reader_take(r, 1);

	return b.len == 1 ? b.ptr[0] : 0;
}

struct span ssh_take_string(struct reader *r)
{
	uint32_t len = ssh_u32(r);

	return reader_take(r, len);
}

static void ssh_put_u32(struct buf *b, uint32_t v)
{
	const uint8_t bytes[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
				  (uint8_t)v};

	buf_put(b, bytes, sizeof(bytes));
}

void ssh_put_string(struct buf *b, struct span s)
{
	ssh_put_u32(b, (uint32_t)s.len);
	buf_put(b, s.ptr, s.len);
}

enum feed ssh_agent_frame(struct span bytes, size_t *ret_len)
{
	struct reader r = reader_of(bytes);
	uint32_t len = ssh_u32(&r);

	*ret_len = 0;
	if (r.bad)
		return FEED_MORE;
	if (len == 0 || len > SSH_AGENT_MESSAGE_MAX)
		return FEED_BAD;
	*ret_len = 4 + (size_t)len;
	return bytes.len < *ret_len ? FEED_MORE : FEED_DONE;
}

static bool ssh_at_end(const struct reader *r)
{
	return !r->bad && reader_left(r) == 0;
}

static int ssh_parse_sign(struct reader *r, struct ssh_agent_request *q)
{
	q->kind = SSH_AGENT_SIGN;
	q->key = ssh_take_string(r);
	q->data = ssh_take_string(r);
	uint32_t flags = ssh_u32(r);

	return ssh_at_end(r) && (flags & ~(uint32_t)SSH_AGENT_FLAGS) == 0 ? 0 : -EBADMSG;
}

static int ssh_parse_extension(struct reader *r, struct ssh_agent_request *q)
{
	struct span name = ssh_take_string(r);

	if (r->bad)
		return -EBADMSG;
	if (!span_equal(name, SPAN_LITERAL("session-bind@openssh.com")))
		return 0;
	q->kind = SSH_AGENT_BIND;
	q->host_key = ssh_take_string(r);
	q->session = ssh_take_string(r);
	q->signature = ssh_take_string(r);
	uint8_t forwarding = ssh_byte(r);

	q->forwarding = forwarding != 0;
	return ssh_at_end(r) && forwarding <= 1 && q->session.len > 0 &&
			       q->session.len <= SSH_AGENT_SESSION_MAX
		       ? 0
		       : -EBADMSG;
}

int ssh_agent_parse(struct span message, struct ssh_agent_request *ret)
{
	struct ssh_agent_request q;
	struct reader r = reader_of(message);
	int ret_code = 0;

	memset(&q, 0, sizeof(q));
	switch (ssh_byte(&r)) {
	case SSH_AGENT_TYPE_LIST:
		q.kind = SSH_AGENT_LIST;
		ret_code = ssh_at_end(&r) ? 0 : -EBADMSG;
		break;
	case SSH_AGENT_TYPE_SIGN:
		ret_code = ssh_parse_sign(&r, &q);
		break;
	case SSH_AGENT_TYPE_EXTENSION:
		ret_code = ssh_parse_extension(&r, &q);
		break;
	default:
		break;
	}
	if (ret_code == 0)
		*ret = q;
	return ret_code;
}

int ssh_login_parse(struct span data, struct ssh_login *ret)
{
	struct ssh_login l;
	struct reader r = reader_of(data);

	memset(&l, 0, sizeof(l));
	l.session = ssh_take_string(&r);
	bool login = ssh_byte(&r) == SSH_LOGIN_TYPE;

	l.user = ssh_take_string(&r);
	login = login && span_equal(ssh_take_string(&r), SPAN_LITERAL("ssh-connection"));
	struct span method = ssh_take_string(&r);
	bool bound = span_equal(method, SPAN_LITERAL("publickey-hostbound-v00@openssh.com"));

	login = login && (bound || span_equal(method, SPAN_LITERAL("publickey")));
	login = ssh_byte(&r) == 1 && login;
	l.algorithm = ssh_take_string(&r);
	l.key = ssh_take_string(&r);
	if (bound)
		l.host_key = ssh_take_string(&r);
	if (!login || !ssh_at_end(&r) || l.session.len == 0 || l.key.len == 0 ||
	    (bound && l.host_key.len == 0))
		return -EBADMSG;
	*ret = l;
	return 0;
}

bool ssh_key_is(struct span key, const char *fingerprint)
{
	uint8_t hash[SHA256_SIZE];
	struct sha256 s;
	_cleanup_buf_ struct buf text = BUF_INIT(64);

	sha256_begin(&s);
	sha256_add(&s, key);
	sha256_end(&s, hash);
	buf_put_str(&text, "SHA256:");
	encode_base64(&text, (struct span){hash, sizeof(hash)});
	/* ssh leaves out the padding, which is one letter here. */
	return buf_error(&text) == 0 && span_equal((struct span){(uint8_t *)text.ptr, text.len - 1},
						   span_of_str(fingerprint));
}

int ssh_agent_copy_list(struct span message, bool (*keep)(const void *context, struct span key),
			const void *context, struct buf *into)
{
	_cleanup_buf_ struct buf keys = BUF_INIT(SSH_AGENT_MESSAGE_MAX);
	uint32_t kept = 0;
	struct reader r = reader_of(message);
	const uint8_t listed = SSH_AGENT_TYPE_LISTED;

	if (ssh_byte(&r) != SSH_AGENT_TYPE_LISTED)
		return -EBADMSG;
	uint32_t count = ssh_u32(&r);

	if (r.bad || count > SSH_AGENT_KEYS_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++) {
		struct span key = ssh_take_string(&r);

		(void)ssh_take_string(&r);
		if (r.bad)
			return -EBADMSG;
		if (keep && !keep(context, key))
			continue;
		ssh_put_string(&keys, key);
		ssh_put_string(&keys, (struct span){NULL, 0});
		kept++;
	}
	if (!ssh_at_end(&r) || buf_error(&keys))
		return -EBADMSG;
	buf_put(into, &listed, 1);
	ssh_put_u32(into, kept);
	buf_put(into, keys.ptr, keys.len);
	return buf_error(into);
}
