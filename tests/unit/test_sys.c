/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/sys promises of the kernel's calls: what is given up is gone, a switch that stands
 * read-only is set all the same, and answers of the kernel are read as they are written.
 */
#include "cmocka_lead.h"

#include "box_lead.h"

#include "channel.h"
#include "fd.h"
#include "mounts.h"
#include "netlink.h"
#include "open.h"
#include "str.h"
#include "unix_bound.h"

#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

/* --- what is given up ------------------------------------------------------------------ */

static uint64_t capabilities(const char *which)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 << 10);
	const char *at;

	CHECK(fd_read_file_at(AT_FDCWD, "/proc/self/status", &text) == 0);
	at = strstr(buf_str(&text), which);
	CHECK(at);
	return strtoull(at + strlen(which), NULL, 16);
}

static void act_lose(void *context)
{
	(void)context;
	CHECK(capabilities("\nCapEff:") != 0 && capabilities("\nCapPrm:") != 0);
	CHECK_NUMBER(process_lose_capabilities(), 0);
	CHECK_NUMBER((long long)capabilities("\nCapEff:"), 0);
	CHECK_NUMBER((long long)capabilities("\nCapPrm:"), 0);
	CHECK_NUMBER((long long)capabilities("\nCapInh:"), 0);
}

static void act_keep(void *context)
{
	const uint64_t kept = 1ull << CAP_KILL | 1ull << CAP_CHECKPOINT_RESTORE;

	(void)context;
	CHECK_NUMBER(process_keep_capabilities(kept), 0);
	CHECK_NUMBER((long long)capabilities("\nCapEff:"), (long long)kept);
	CHECK_NUMBER((long long)capabilities("\nCapPrm:"), (long long)kept);
	CHECK_NUMBER((long long)capabilities("\nCapInh:"), 0);
}

static void act_drop(void *context)
{
	static const char *const sets[] = {
		"\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapBnd:", "\nCapAmb:"};

	(void)context;
	CHECK_NUMBER(process_drop_capabilities(), 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sets); i++)
		CHECK_NUMBER((long long)capabilities(sets[i]), 0);
}

static void test_capabilities(void **state)
{
	(void)state;
	in_box(act_lose, NULL);
	in_box(act_keep, NULL);
	in_box(act_drop, NULL);
}

static void act_files(void *context)
{
	struct rlimit files = {16, 48};

	(void)context;
	CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
	CHECK_NUMBER((long long)process_raise_files(), 48);
	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
	CHECK_NUMBER((long long)files.rlim_cur, 48);
}

static void test_files(void **state)
{
	(void)state;
	in_box(act_files, NULL);
}

/* --- switches -------------------------------------------------------------------------- */

static void act_switch(void *context)
{
	bool covered = *(bool *)context;
	_cleanup_fd_ int place = open_no_links("/proc/sys", O_PATH | O_DIRECTORY);

	CHECK(place >= 0);
	if (covered) {
		_cleanup_fd_ int again = mounts_clone(place, MOUNT_ATTR_RDONLY);

		CHECK(again >= 0 && mounts_attach(again, place) == 0);
		CHECK(open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC) < 0);
		CHECK_NUMBER(errno, EROFS);
	}
	CHECK_NUMBER(mounts_set_switch("user/none-such", "0"), -ENOENT);
	CHECK_NUMBER(mounts_set_switch("user/max_user_namespaces", "0"), 0);
	CHECK(unshare(CLONE_NEWUSER) < 0);
}

static void test_switch(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		bool covered = i;

		in_box(act_switch, &covered);
	}
}

/* --- netlink --------------------------------------------------------------------------- */

static void test_no_netlink(void **state)
{
	struct netlink n;

	(void)state;
	/* There are 32 of them. */
	assert_int_equal(netlink_open(&n, 99), -EPROTONOSUPPORT);
	netlink_close(&n);
	assert_int_equal(netlink_open(&n, NETLINK_ROUTE), 0);
	netlink_close(&n);
}

/* Sockets that are bound to files, as this kernel tells of them. */
static void test_bound(void **state)
{
	char dir[] = "/var/tmp/bawn-sys-XXXXXX";
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct stat st, other;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", dir);
	_cleanup_fd_ int netlink = unix_bound_open();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(netlink >= 0 && fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(stat(at.sun_path, &st), 0);
	assert_int_equal(stat(dir, &other), 0);
	uint32_t dev = unix_bound_dev(major(st.st_dev), minor(st.st_dev));

	/* Often: the socket has no old answers. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(unix_bound_has(netlink, dev, (uint32_t)st.st_ino), 1);
		assert_int_equal(unix_bound_has(netlink, dev, (uint32_t)other.st_ino), 0);
		assert_int_equal(unix_bound_has(netlink, dev + 1, (uint32_t)st.st_ino), 0);
	}
	(void)close(fd);
	assert_int_equal(unix_bound_has(netlink, dev, (uint32_t)st.st_ino), 0);
	assert_int_equal(unlink(at.sun_path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* --- answers that a kernel could give -------------------------------------------------- */

enum { DEV = 7, INODE = 9, ANSWER_MAX = 32 << 10 };

struct answer {
	_Alignas(struct nlmsghdr) uint8_t bytes[ANSWER_MAX];
	size_t len;
};

struct answer_socket {
	struct unix_diag_msg lead;
	struct nlattr other;
	uint32_t peer;
	struct nlattr vfs_head;
	struct unix_diag_vfs vfs;
};

static void put_message(struct answer *a, uint16_t type, const void *body, size_t len)
{
	struct nlmsghdr h = {.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + len), .nlmsg_type = type};

	memcpy(a->bytes + a->len, &h, sizeof(h));
	memcpy(a->bytes + a->len + NLMSG_HDRLEN, body, len);
	a->len += NLMSG_ALIGN(h.nlmsg_len);
}

/* A socket and the file that it is bound to; cut: so many bytes are missing at the end. */
static void put_socket(struct answer *a, uint32_t dev, uint32_t inode, size_t cut)
{
	struct answer_socket m;

	memset(&m, 0, sizeof(m));
	m.other = (struct nlattr){NLA_HDRLEN + sizeof(m.peer), UNIX_DIAG_PEER};
	m.vfs_head = (struct nlattr){NLA_HDRLEN + sizeof(m.vfs), UNIX_DIAG_VFS};
	m.vfs = (struct unix_diag_vfs){.udiag_vfs_ino = inode, .udiag_vfs_dev = dev};
	put_message(a, SOCK_DIAG_BY_FAMILY, &m, sizeof(m) - cut);
}

/* What is made of answers, each one packet; the other end is gone after the last. */
static int ask(const struct answer *answers, size_t count)
{
	int ends[2];

	assert_int_equal(channel_pair(ends), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(send(ends[1], answers[i].bytes, answers[i].len, MSG_NOSIGNAL),
				 (ssize_t)answers[i].len);
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	int r = unix_bound_has(ends[0], DEV, INODE);

	(void)close(ends[0]);
	(void)close(ends[1]);
	return r;
}

static void test_answers(void **state)
{
	static struct answer a[3];
	const struct nlmsgerr refused = {.error = -EPERM}, nonsense = {.error = 0};
	const int none = 0;

	(void)state;
	put_socket(&a[0], DEV + 1, INODE, 0);
	put_socket(&a[0], DEV, INODE + 1, 0);
	put_socket(&a[1], DEV, INODE, 0);
	put_message(&a[2], NLMSG_DONE, &none, sizeof(none));
	assert_int_equal(ask(a, 3), 1);
	a[1] = a[0];
	assert_int_equal(ask(a, 3), 0);
	/* No end, and an end too early. */
	assert_int_equal(ask(a, 2), -EBADMSG);
	assert_int_equal(ask(a, 0), -EBADMSG);
	/* Cut off at every byte: then it is not said which file. */
	for (size_t cut = 1; cut <= sizeof(struct answer_socket); cut++) {
		a[0].len = 0;
		put_socket(&a[0], DEV, INODE, cut);
		put_message(&a[0], NLMSG_DONE, &none, sizeof(none));
		assert_int_equal(ask(a, 1), 0);
	}
	a[0].len = 0;
	put_message(&a[0], NLMSG_ERROR, &refused, sizeof(refused));
	assert_int_equal(ask(a, 1), -EPERM);
	a[0].len = 0;
	put_message(&a[0], NLMSG_ERROR, &nonsense, sizeof(nonsense));
	assert_int_equal(ask(a, 1), -EBADMSG);
	/* More than there is room for: what was cut off may be the one. */
	a[0].len = 0;
	put_message(&a[0], NLMSG_DONE, &none, sizeof(none));
	a[0].len = ANSWER_MAX;
	assert_int_equal(ask(a, 1), -EBADMSG);
}

/* What a longer packet before left in memory is no part of the next one. */
static void test_old_bytes(void **state)
{
	static struct answer a[3];
	const struct nlmsgerr refused = {.error = -EPERM};
	const int none = 0;
	static struct answer inner;
	uint8_t body[256];

	(void)state;
	put_socket(&a[1], DEV, INODE + 1, 0);
	put_message(&inner, NLMSG_ERROR, &refused, sizeof(refused));
	memset(body, 0, sizeof(body));
	memcpy(body + a[1].len - NLMSG_HDRLEN, inner.bytes, inner.len);
	put_message(&a[0], SOCK_DIAG_BY_FAMILY, body, sizeof(body));
	put_socket(&a[2], DEV, INODE, 0);
	put_message(&a[2], NLMSG_DONE, &none, sizeof(none));
	assert_int_equal(ask(a, 3), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities), cmocka_unit_test(test_files),
		cmocka_unit_test(test_switch),       cmocka_unit_test(test_no_netlink),
		cmocka_unit_test(test_bound),        cmocka_unit_test(test_answers),
		cmocka_unit_test(test_old_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
