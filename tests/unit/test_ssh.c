/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program in the box may ask an ssh agent for is told from everything else, and a
 * host's signature from a forged one.  The signatures are ssh-keygen's own (-Y sign), one of
 * each kind of key.
 */
#include "cmocka_lead.h"

#include "host_key.h"
#include "ssh_agent.h"

/* Hex of a key, of what was signed and of the signature. */
static const struct {
	const char *kind, *key, *data, *signature;
} signed_by[] = {
	/* clang-format off */
	{
		"ed25519",
		"0000000b7373682d6564323535313900000020b9a8ecbdf4e0d8853ac0531d9632bf4bb8cbcb6aa0"
		"12d2d6d7205ab8a1ce1db2",
		"535348534947000000046261776e000000000000000673686135313200000040fc71df16f592ef5c"
		"c28bdfad56c2d92230f1ceb62a09a01220346f6579b2c0b1db7425d5997262fa527634cb7dfbcb0f"
		"f6921fabe6c7092de137dc8bb41d7efa",
		"0000000b7373682d6564323535313900000040f1482139e4cd67cf0be12f2b9442bdfbfae79b7493"
		"3589ceabd5b76a1d10669a9598baa707d29df3444d179c774c1bafc08fbee7d33076748d1f9dfad5"
		"074802",
	},
	{
		"ecdsab256",
		"0000001365636473612d736861322d6e69737470323536000000086e697374703235360000004104"
		"5ac9bf413db10cf767ad6c301f97e0f043a868825cac523315c3d5ff76c650a33c3b15642de570b8"
		"f34fb10c9c674d1e265ab76c9d3b405424c7c784b61f1ff6",
		"535348534947000000046261776e000000000000000673686135313200000040fc71df16f592ef5c"
		"c28bdfad56c2d92230f1ceb62a09a01220346f6579b2c0b1db7425d5997262fa527634cb7dfbcb0f"
		"f6921fabe6c7092de137dc8bb41d7efa",
		"0000001365636473612d736861322d6e69737470323536000000490000002034874b35073eb4e34e"
		"cd4f96054dadb494a1b62653849065ba943602e76dc9ce0000002100ff8afceeaf8776d4173f8952"
		"aca28af14aafb139e631fa85b1721f85b2c66335",
	},
	{
		"ecdsab384",
		"0000001365636473612d736861322d6e69737470333834000000086e697374703338340000006104"
		"81832587a8a1990fabe2a7494bcec14e5c7f330dfcb4a9242cec789f32803927c8d4bfaa32a743ab"
		"8725e7fe7aeca8fab87cb551030ac5d41fc0db102b72f35ad97c675444ba35f8ed8f397fe754dd85"
		"591d3eaf8c24d9bed4742a83f6d0b1f0",
		"535348534947000000046261776e000000000000000673686135313200000040fc71df16f592ef5c"
		"c28bdfad56c2d92230f1ceb62a09a01220346f6579b2c0b1db7425d5997262fa527634cb7dfbcb0f"
		"f6921fabe6c7092de137dc8bb41d7efa",
		"0000001365636473612d736861322d6e6973747033383400000068000000300a9d182a263087ef3c"
		"78e6189651c9f9976a617eaaf65a153244475b62b3a11e5868f5147bee5f9e733b60f98934966700"
		"00003066f7535a5d1fbaf18773b937a78f10d0faf92817b0c4707d7938245d1b14cd7378f81f9165"
		"bbd949284cf06cb6dbf735",
	},
	{
		"ecdsab521",
		"0000001365636473612d736861322d6e69737470353231000000086e697374703532310000008504"
		"009b35a79f7a92b8f246dd3e82cae05eb95f32fb7850446cace932d6bd260063d9db702768235e30"
		"05dd4ddae609b1e202120b614363bed2f95e0a71280ec060b607001da979564d6067153fae2733c9"
		"50c006c320147498c0a2abd55af613f7dcd49e906ef79e9afaa6ca308df05e2a09ded33e847fd12a"
		"b030a44ef14dd321c2cfb728",
		"535348534947000000046261776e000000000000000673686135313200000040fc71df16f592ef5c"
		"c28bdfad56c2d92230f1ceb62a09a01220346f6579b2c0b1db7425d5997262fa527634cb7dfbcb0f"
		"f6921fabe6c7092de137dc8bb41d7efa",
		"0000001365636473612d736861322d6e697374703532310000008a0000004153ec58d9853aaa0e09"
		"c5f926ea502568c1f051d332db05aea5ce5d259f47119fd515429667c7daca6ce8f7d2582be421ca"
		"da2d30e9f223870de7e5f04d11557398000000417e388bd99a847d26f5672441473fb375eb295c7e"
		"6b9c278f2ff8a114e7f90cfa3b6e492fcbd1d70e2386d5e568cfe42c9ce82050984fbd95dc44ffca"
		"486074301b",
	},
	{
		"rsab2048",
		"000000077373682d727361000000030100010000010100a20dddd9fe80daaf6d6864a7afe57fabb9"
		"4f10b6598e19403da715f0b1264296306a4a6d49070ac3269e734c4759d899fb9fa059703babca8d"
		"0157f2fe10761f6acb0958112a8faed419ddb9694731349b48408824ea6dbecc02a6e561f0281caf"
		"cb4b6cd2a6c99d6bc50b12257268bdd1dd00f85caa41855758a7f8d91259b0941c22420491d676a8"
		"bcc287b7b91f3983763a3e9cb28d28cc1ccfcfe379784bce8e54b4c09ca1a8b7162baaf40cd7b9ae"
		"7d443ee3b2860341f956180b912bf31b6b01323cbc6c4b7a2942e0f70ea3f2bb48e800ae5ea11b8a"
		"b6227c96c4f18f825ddd6471040c81a3517c722224a14e8d70ab2dedc713d82bdc754d2239e875",
		"535348534947000000046261776e000000000000000673686135313200000040fc71df16f592ef5c"
		"c28bdfad56c2d92230f1ceb62a09a01220346f6579b2c0b1db7425d5997262fa527634cb7dfbcb0f"
		"f6921fabe6c7092de137dc8bb41d7efa",
		"0000000c7273612d736861322d35313200000100767ca2127b686935d9d89893446f62f77729c2ea"
		"0caf6db815c87fee36fb1316a0edbcc4f1a16e5e57633d02cedfce15917efab1419271bf88e23881"
		"1d6722ad838c30aa33b542859e82e546c5de3727772e5216f202f15678c3a9a74a3e17d305b94194"
		"7f006ee85d18e617ed95e7a0035f835734c6333a932b36954734ba4fb6e4e5e26005af9fc9ef11c1"
		"1f6674efdbc776f302ed52c4d88024849aa1a537ffd9bfdc65c3969be865e20f35a674b29809b35f"
		"c80301da17aaaf7a9ff2f27ac28db0a0be3d97afa6a75a18104c211780f1f9a8248ab3b08549adaf"
		"daa984e32014f4309821c9a02ead7b750a5b32f694c2853df943ddb64b90ea1291601b07",
	},
	/* clang-format on */
};

enum { BYTES_MAX = 2048 };

static struct span from_hex(const char *hex, uint8_t into[BYTES_MAX])
{
	size_t len = strlen(hex) / 2;

	assert_true(len <= BYTES_MAX);
	for (size_t i = 0; i < len; i++) {
		const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};

		into[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (struct span){into, len};
}

static void test_signatures(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(signed_by); i++) {
		uint8_t bytes[3][BYTES_MAX];
		struct span key = from_hex(signed_by[i].key, bytes[0]);
		struct span data = from_hex(signed_by[i].data, bytes[1]);
		struct span signature = from_hex(signed_by[i].signature, bytes[2]);

		assert_int_equal(host_key_verify(key, data, signature), 0);
		/* Any one bit of what was signed, or of the signature's last bytes, differs. */
		bytes[1][0] ^= 1;
		assert_int_equal(host_key_verify(key, data, signature), -EKEYREJECTED);
		bytes[1][0] ^= 1;
		bytes[2][signature.len - 1] ^= 1;
		assert_int_equal(host_key_verify(key, data, signature), -EKEYREJECTED);
		bytes[2][signature.len - 1] ^= 1;
		assert_int_equal(
			host_key_verify(key, (struct span){data.ptr, data.len - 1}, signature),
			-EKEYREJECTED);
		/* Cut anywhere it is none. */
		for (size_t cut = 0; cut < signature.len; cut++)
			assert_true(host_key_verify(key, data, (struct span){signature.ptr, cut}) <
				    0);
		for (size_t cut = 0; cut < key.len; cut++)
			assert_true(host_key_verify((struct span){key.ptr, cut}, data, signature) <
				    0);
	}
}

/* The same numbers, written longer than any key of use is: a verifier's time is not the box's to
 * take. */
static void test_keys_of_excess(void **state)
{
	static const size_t zeros[][2] = {{0, 0}, {6, 0}, {0, 2000}, {6, 2000}};
	const size_t rsa = BAWN_ARRAY_SIZE(signed_by) - 1;
	uint8_t bytes[3][BYTES_MAX];
	struct span key = from_hex(signed_by[rsa].key, bytes[0]);
	struct span data = from_hex(signed_by[rsa].data, bytes[1]);
	struct span signature = from_hex(signed_by[rsa].signature, bytes[2]);
	const size_t head = 4 + strlen("ssh-rsa") + 4, e = 3;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(zeros); i++) {
		static const uint8_t nothing[2000];
		_cleanup_buf_ struct buf b = BUF_INIT(8192), part = BUF_INIT(8192);

		ssh_put_string(&b, SPAN_LITERAL("ssh-rsa"));
		buf_put(&part, nothing, zeros[i][0]);
		buf_put(&part, key.ptr + head, e);
		ssh_put_string(&b, buf_span(&part));
		buf_clear(&part);
		buf_put(&part, nothing, zeros[i][1]);
		buf_put(&part, key.ptr + head + e + 4, key.len - head - e - 4);
		ssh_put_string(&b, buf_span(&part));
		assert_int_equal(host_key_verify(buf_span(&b), data, signature) == 0, i == 0);
	}
}

/* A signature of one kind is none of another, whoever's key it is. */
static void test_signatures_of_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(signed_by); i++)
		for (size_t k = 0; k < BAWN_ARRAY_SIZE(signed_by); k++) {
			uint8_t bytes[3][BYTES_MAX];
			struct span key = from_hex(signed_by[k].key, bytes[0]);
			struct span data = from_hex(signed_by[i].data, bytes[1]);
			struct span signature = from_hex(signed_by[i].signature, bytes[2]);

			if (i != k)
				assert_true(host_key_verify(key, data, signature) < 0);
		}
}

static void put_byte(struct buf *b, uint8_t byte)
{
	buf_put(b, &byte, 1);
}

static void put_text(struct buf *b, const char *text)
{
	ssh_put_string(b, span_of_str(text));
}

/* A login of "git" in session "S" with key "K"; what is NULL is left out. */
static void put_login(struct buf *b, const char *service, const char *method, const char *host_key)
{
	put_text(b, "S");
	put_byte(b, 50);
	put_text(b, "git");
	put_text(b, service);
	put_text(b, method);
	put_byte(b, 1);
	put_text(b, "ssh-ed25519");
	put_text(b, "K");
	if (host_key)
		put_text(b, host_key);
}

static void test_logins(void **state)
{
	static const char bound[] = "publickey-hostbound-v00@openssh.com";
	static const struct {
		const char *service, *method, *host_key;
		int expect;
	} rows[] = {
		{"ssh-connection", "publickey", NULL, 0},
		{"ssh-connection", bound, "H", 0},
		{"ssh-connection", bound, NULL, -EBADMSG},
		{"ssh-connection", bound, "", -EBADMSG},
		{"ssh-connection", "publickey", "H", -EBADMSG},
		{"ssh-connection", "hostbased", NULL, -EBADMSG},
		{"ssh-userauth", "publickey", NULL, -EBADMSG},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1024);
		struct ssh_login login;

		put_login(&b, rows[i].service, rows[i].method, rows[i].host_key);
		assert_int_equal(ssh_login_parse(buf_span(&b), &login), rows[i].expect);
		for (size_t cut = 0; cut < b.len; cut++)
			if (rows[i].expect == 0)
				assert_int_equal(
					ssh_login_parse((struct span){(uint8_t *)b.ptr, cut},
							&login),
					-EBADMSG);
	}
	/* Of no session, or with no key: one that holds anywhere. */
	for (int without = 0; without < 2; without++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1024);
		struct ssh_login login;

		put_text(&b, without == 0 ? "" : "S");
		put_byte(&b, 50);
		put_text(&b, "git");
		put_text(&b, "ssh-connection");
		put_text(&b, "publickey");
		put_byte(&b, 1);
		put_text(&b, "ssh-ed25519");
		put_text(&b, without == 1 ? "" : "K");
		assert_int_equal(ssh_login_parse(buf_span(&b), &login), -EBADMSG);
	}
	/* A commit or a file (ssh-keygen -Y sign) begins with its own word. */
	struct ssh_login login;

	assert_int_equal(ssh_login_parse(SPAN_LITERAL("SSHSIG\0\0\0\3git\0\0\0\0"), &login),
			 -EBADMSG);
}

static void test_requests(void **state)
{
	_cleanup_buf_ struct buf sign = BUF_INIT(1024), bind = BUF_INIT(1024);
	struct ssh_agent_request q;

	(void)state;
	put_byte(&sign, 13);
	put_text(&sign, "K");
	put_text(&sign, "data");
	buf_put(&sign, "\0\0\0\4", 4);
	assert_int_equal(ssh_agent_parse(buf_span(&sign), &q), 0);
	assert_int_equal(q.kind, SSH_AGENT_SIGN);
	assert_true(span_equal(q.key, SPAN_LITERAL("K")));
	assert_true(span_equal(q.data, SPAN_LITERAL("data")));
	put_byte(&bind, 27);
	put_text(&bind, "session-bind@openssh.com");
	put_text(&bind, "H");
	put_text(&bind, "S");
	put_text(&bind, "G");
	put_byte(&bind, 1);
	assert_int_equal(ssh_agent_parse(buf_span(&bind), &q), 0);
	assert_int_equal(q.kind, SSH_AGENT_BIND);
	assert_true(q.forwarding && span_equal(q.session, SPAN_LITERAL("S")));
	/* Cut short, or with something behind it. */
	for (size_t cut = 1; cut < sign.len; cut++)
		assert_int_equal(ssh_agent_parse((struct span){(uint8_t *)sign.ptr, cut}, &q),
				 -EBADMSG);
	put_byte(&sign, 0);
	put_byte(&bind, 0);
	assert_int_equal(ssh_agent_parse(buf_span(&sign), &q), -EBADMSG);
	assert_int_equal(ssh_agent_parse(buf_span(&bind), &q), -EBADMSG);
	/* Adding and removing keys, locking, other extensions: nobody's business in the box. */
	for (unsigned int type = 0; type < 256; type++) {
		uint8_t byte = (uint8_t)type;

		if (type == 11 || type == 13 || type == 27)
			continue;
		assert_int_equal(ssh_agent_parse((struct span){&byte, 1}, &q), 0);
		assert_int_equal(q.kind, SSH_AGENT_OTHER);
	}
}

static void test_list_has_no_comments(void **state)
{
	_cleanup_buf_ struct buf list = BUF_INIT(1024), copy = BUF_INIT(1024),
				 want = BUF_INIT(1024);

	(void)state;
	buf_put(&list, "\14\0\0\0\1", 5);
	put_text(&list, "K");
	put_text(&list, "somebody@laptop");
	buf_put(&want, "\14\0\0\0\1", 5);
	put_text(&want, "K");
	put_text(&want, "");
	assert_int_equal(ssh_agent_copy_list(buf_span(&list), NULL, NULL, &copy), 0);
	assert_true(span_equal(buf_span(&copy), buf_span(&want)));
	buf_clear(&copy);
	list.ptr[4] = 2; /* says two */
	assert_int_equal(ssh_agent_copy_list(buf_span(&list), NULL, NULL, &copy), -EBADMSG);
}

static bool keep_other(const void *context, struct span key)
{
	return !span_equal(key, span_of_str(context));
}

static void test_list_of_some(void **state)
{
	_cleanup_buf_ struct buf list = BUF_INIT(1024), copy = BUF_INIT(1024),
				 want = BUF_INIT(1024);

	(void)state;
	buf_put(&list, "\14\0\0\0\2", 5);
	put_text(&list, "K");
	put_text(&list, "one");
	put_text(&list, "L");
	put_text(&list, "two");
	buf_put(&want, "\14\0\0\0\1", 5);
	put_text(&want, "L");
	put_text(&want, "");
	assert_int_equal(ssh_agent_copy_list(buf_span(&list), keep_other, "K", &copy), 0);
	assert_true(span_equal(buf_span(&copy), buf_span(&want)));
}

/* The first key above, as ssh-keygen -l shows it. */
static void test_fingerprint(void **state)
{
	static const char shown[] = "SHA256:1AZbI/bjRuLsr/Xl9/5NX1cYHG0qclq9ZAP65bZ/B0Q";
	uint8_t bytes[BYTES_MAX];
	struct span key = from_hex(signed_by[0].key, bytes);

	(void)state;
	assert_true(ssh_key_is(key, shown));
	assert_false(ssh_key_is(key, "SHA256:"));
	assert_false(ssh_key_is(key, shown + 7));
	bytes[key.len - 1] ^= 1;
	assert_false(ssh_key_is(key, shown));
}

static void test_frames(void **state)
{
	size_t len = 1;

	(void)state;
	assert_int_equal(ssh_agent_frame(SPAN_LITERAL("\0\0\0"), &len), FEED_MORE);
	assert_int_equal(len, 0);
	assert_int_equal(ssh_agent_frame(SPAN_LITERAL("\0\0\0\2x"), &len), FEED_MORE);
	assert_int_equal(ssh_agent_frame(SPAN_LITERAL("\0\0\0\2xyz"), &len), FEED_DONE);
	assert_int_equal(len, 6);
	assert_int_equal(ssh_agent_frame(SPAN_LITERAL("\0\0\0\0"), &len), FEED_BAD);
	assert_int_equal(ssh_agent_frame(SPAN_LITERAL("\0\1\0\1"), &len), FEED_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_keys_of_excess),
		cmocka_unit_test(test_signatures_of_others),
		cmocka_unit_test(test_logins),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_list_has_no_comments),
		cmocka_unit_test(test_list_of_some),
		cmocka_unit_test(test_fingerprint),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
