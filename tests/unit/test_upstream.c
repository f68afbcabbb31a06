/* SPDX-License-Identifier: Apache-2.0 */
/* The login of the user's proxy: what holds it in the gate stays where it is, and is wiped. */
#include "cmocka_lead.h"

#include "flow_state.h"
#include "upstream.h"

/* Whether any letter of the login is in these bytes. */
static bool is_in(const void *bytes, size_t len, char letter)
{
	return memchr(bytes, letter, len) != NULL;
}

static void the_login_is_never_moved(void **state)
{
	static const unsigned int kinds[] = {PLAN_PROXY_CONNECT, PLAN_PROXY_SOCKS5};
	static struct upstream_link l;
	static struct flow f;

	(void)state;
	f.port = 443;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++) {
		const struct plan_proxy proxy = {.kind = kinds[i], .host = "p.test", .login = true};

		l = (struct upstream_link){.proxy = &proxy, .known = true};
		/* The longest there is. */
		memset(l.login, '~', sizeof(l.login));
		l.login[TUNNEL_PART_MAX] = ':';
		l.login_len = sizeof(l.login);
		struct upstream *u = upstream_new(&l, &f);
		size_t used;

		assert_non_null(u);
		if (kinds[i] == PLAN_PROXY_SOCKS5) {
			static const uint8_t wants[] = {5, 2};

			assert_int_equal(
				tunnel_feed(&u->tunnel, (struct span){wants, 2}, &used, &u->out),
				FEED_MORE);
			assert_true(is_in(u->out.ptr, u->out.len, '~'));
		} else {
			assert_non_null(strstr(u->out.ptr, "Basic fn5+"));
		}
		assert_int_equal(buf_error(&u->out), 0);
		assert_true(u->out.len > UPSTREAM_LOGIN_MAX);
		assert_ptr_equal(u->out.ptr, u->room);
		upstream_free(u);
		upstream_forget(&l);
		assert_false(is_in(l.login, sizeof(l.login), '~'));
	}
}

/* Whatever is too much for its room ends it, and does not move it. */
static void what_is_too_much_moves_nothing(void **state)
{
	struct upstream u;
	char byte = 'x';

	(void)state;
	u.out = (struct buf){u.room, 0, sizeof(u.room), TUNNEL_ASK_MAX, 0};
	for (int i = 0; i < 2 * TUNNEL_ASK_MAX; i++)
		buf_put(&u.out, &byte, 1);
	assert_int_equal(u.out.len, TUNNEL_ASK_MAX);
	assert_true(buf_error(&u.out) < 0);
	assert_ptr_equal(u.out.ptr, u.room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_login_is_never_moved),
		cmocka_unit_test(what_is_too_much_moves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
