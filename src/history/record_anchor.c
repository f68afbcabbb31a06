/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn record anchor`, `proof` and `key`: what a user keeps elsewhere, and what others can verify
 * with their own tools.  The key that signs is made at the first checkpoint and stays in the folder
 * of records: a checkpoint is as safe as the place where it is kept.
 */
#include "array.h"
#include "history_output.h"
#include "history_record.h"
#include "audit.h"

#include "encode.h"
#include "fd.h"
#include "json.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ANCHOR_FILE "anchor"
#define ANCHOR_KEY "verification"

enum { ANCHOR_BYTES_MAX = 64 << 10 };

/* --- out ------------------------------------------------------------------------------ */

/* Writes to the file of --to, which must be new, or to standard output. */
static int anchor_put(const struct invocation *i, const struct buf *b, struct error *e)
{
	const char *path = invocation_value(i, OPTION_TO);
	int r = buf_error(b) ? buf_error(b) : fd_write_all(history_output_fd(), b->ptr, b->len);

	if (r < 0)
		(void)error_sys(e, r, "writing %s", path ? path : "to standard output");
	return history_output_close(r, e);
}

static int anchor_need_records(const struct history *a, struct error *e)
{
	return a->store.dir < 0 ? error_set(e, -ENOENT, "nothing has been recorded yet") : 0;
}

/* --- the key that signs --------------------------------------------------------------- */

/* Makes bawn/USER@HOST, of plain characters. */
static void anchor_name(const struct history *a, char *ret, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-@/";
	struct utsname names;

	if (uname(&names) < 0)
		names.nodename[0] = '\0';
	(void)snprintf(ret, size, "bawn/%.64s@%.64s", a->host.user, names.nodename);
	for (char *c = ret; *c; c++)
		if (!strchr(plain, *c))
			*c = '_';
}

static int anchor_read_key(int dir, struct checkpoint_key *ret, struct error *e)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1024);
	int r = fd_read_file_at(dir, ANCHOR_FILE, &line);

	if (r == 0)
		r = checkpoint_key_parse(buf_span(&line), ret);
	if (line.ptr)
		explicit_bzero(line.ptr, line.cap);
	if (r == -EBADMSG)
		(void)error_set(e, r, "the key that signs checkpoints is not what bawn wrote");
	return r == 0 || r == -EBADMSG || r == -ENOENT
		       ? r
		       : error_sys(e, r, "reading the key that signs checkpoints");
}

/* Makes the key completely or not at all; if another process made one meanwhile, uses that. */
static int anchor_make_key(const struct history *a, struct checkpoint_key *ret, struct error *e)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1024);
	char name[CHECKPOINT_NAME_MAX + 1], making[64];
	int dir = a->store.dir;

	anchor_name(a, name, sizeof(name));
	(void)snprintf(making, sizeof(making), "." ANCHOR_FILE ".%d", (int)getpid());
	int r = checkpoint_key_make(name, ret);

	if (r == 0)
		checkpoint_key_format(&line, ret);
	(void)unlinkat(dir, making, 0);
	_cleanup_fd_ int fd =
		r < 0 ? r : openat(dir, making, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (r == 0)
		r = fd < 0 ? -errno : fd_write_all(fd, line.ptr, line.len);
	if (r == 0 && (fsync(fd) < 0 || linkat(dir, making, dir, ANCHOR_FILE, 0) < 0))
		r = -errno;
	(void)unlinkat(dir, making, 0);
	if (r == 0 && fsync(dir) < 0)
		r = -errno;
	if (line.ptr)
		explicit_bzero(line.ptr, line.cap);
	if (r == -EEXIST)
		return anchor_read_key(dir, ret, e);
	return r < 0 ? error_sys(e, r, "making the key that signs checkpoints") : 0;
}

static int anchor_key(const struct history *a, struct checkpoint_key *ret, struct error *e)
{
	int r = anchor_read_key(a->store.dir, ret, e);

	return r == -ENOENT ? anchor_make_key(a, ret, e) : r;
}

/* --- trees ---------------------------------------------------------------------------- */

/* The leaves of a tree, and its log's name. */
struct anchor_tree {
	char origin[CHECKPOINT_NAME_MAX + 1];
	struct hash *leaves; /* of a session, up to its last seal */
	uint64_t count;
	struct hash root;
};

static void anchor_tree_fini(struct anchor_tree *t)
{
	free(t->leaves);
}

/* Opens the ledger, and refuses one that is wrong: we sign nothing that is wrong. */
static int anchor_ledger(const struct history *a, struct audit *ret, struct error *e)
{
	int r = audit_ledger(a->store.dir, NULL, ret, e);

	if (r == 0 && ret->why[0]) {
		r = error_set(e, -EBADMSG, "the ledger is not what was written: %s", ret->why);
		error_next(e, "'bawn record verify' says more.");
	}
	if (r == 0 && !ret->is_there)
		r = error_set(e, -ENOENT, "nothing has been recorded yet");
	return r;
}

static int anchor_session_leaves(const struct history *a, const struct store_session *s,
				 struct anchor_tree *t, struct error *e)
{
	_cleanup_store_cursor_ struct store_cursor c = STORE_CURSOR_INIT;
	int r = store_cursor_open(&a->store, s, &c, e);
	struct merkle tree = {.size = 0};
	uint64_t count = 0;
	enum feed said = FEED_MORE;
	struct frame f;

	while (r == 0 && (said = store_next(&c, &f)) == FEED_DONE) {
		if (!ARRAY_GROW(t->leaves, count))
			return error_sys(e, -ENOMEM, "reading %s", s->folder);
		t->leaves[count++] = f.hash;
		merkle_add(&tree, &f.hash);
		if (!span_equal(f.kind, SPAN_LITERAL("seal")))
			continue;
		t->count = count;
		merkle_root(&tree, &t->root);
	}
	if (r == 0 && said == FEED_BAD)
		r = error_set(e, -EBADMSG, "%s is not what was written: %s", s->folder, c.why);
	return r;
}

/* Makes a session's tree, only if the record is what was written, as far as we can tell. */
static int anchor_session(const struct history *a, struct audit *audit,
			  const struct store_session *s, const struct checkpoint_key *k,
			  struct anchor_tree *ret, struct error *e)
{
	struct audit_finding f;
	int r = audit_check(audit, &a->store, s, NULL, 0, &f, e);

	if (r == 0 && f.state == AUDIT_WRONG)
		r = error_set(e, -EBADMSG, "%s is not what was written: %s", s->folder, f.why);
	if (r < 0)
		return r;
	(void)snprintf(ret->origin, sizeof(ret->origin), "%.180s/%.64s", k->name, s->folder);
	return anchor_session_leaves(a, s, ret, e);
}

/* --- anchor --------------------------------------------------------------------------- */

static int anchor_show(const struct invocation *i, const struct checkpoint_key *k,
		       const struct anchor_tree *t, struct error *e)
{
	_cleanup_buf_ struct buf note = BUF_INIT(ANCHOR_BYTES_MAX);
	_cleanup_buf_ struct buf verifier = BUF_INIT(1024);
	_cleanup_buf_ struct buf out = BUF_INIT(ANCHOR_BYTES_MAX);
	struct text err = text_open(STDERR_FILENO);
	struct json j = JSON_INIT(&out, true);
	int r = checkpoint_sign(&note, k, span_of_str(t->origin), t->count, &t->root);

	if (r < 0)
		return error_sys(e, r, "signing a checkpoint");
	checkpoint_key_public(&verifier, k);
	if (!invocation_has(i, OPTION_JSON)) {
		r = anchor_put(i, &note, e);
		if (r == 0 && (err.tty || invocation_has(i, OPTION_TO)))
			text_printf(
				&err,
				"Keep it on another machine. 'bawn record verify --anchor FILE' "
				"holds the records against it; other tools verify it with the "
				"key %s\n",
				buf_str(&verifier));
		return r;
	}
	json_open(&j, '{');
	json_key_str(&j, "origin", t->origin);
	json_key_u64(&j, "size", t->count);
	json_key_str(&j, "verifier", buf_str(&verifier));
	json_key_str(&j, "checkpoint", buf_str(&note));
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	return anchor_put(i, &out, e);
}

int record_anchor(const struct history *a, const struct invocation *i, struct error *e)
{
	_cleanup_checkpoint_key_ struct checkpoint_key key = {.name = ""};
	_cleanup_(anchor_tree_fini) struct anchor_tree t = {.count = 0};
	_cleanup_audit_ struct audit audit = {.count = 0};
	int r = anchor_need_records(a, e);

	if (r == 0)
		r = anchor_ledger(a, &audit, e);
	if (r == 0)
		r = anchor_key(a, &key, e);
	if (r == 0 && i->argument_count > 1) {
		const struct store_session *s = store_find(&a->store, i->arguments[1], e);

		r = s ? anchor_session(a, &audit, s, &key, &t, e) : e->code;
	} else if (r == 0) {
		(void)snprintf(t.origin, sizeof(t.origin), "%s", key.name);
		t.count = audit.entries;
		merkle_root_of(audit.leaves, audit.entries, &t.root);
	}
	return r < 0 ? r : anchor_show(i, &key, &t, e) < 0 ? e->code : EXIT_OK;
}

/* --- proof ---------------------------------------------------------------------------- */

static int anchor_put_proof(const struct invocation *i, const struct checkpoint_key *k,
			    const struct anchor_tree *t, const struct hash *leaves, uint64_t index,
			    struct error *e)
{
	_cleanup_buf_ struct buf out = BUF_INIT(ANCHOR_BYTES_MAX);
	struct hash proof[MERKLE_PROOF_MAX];
	size_t len = merkle_inclusion(leaves, t->count, index, proof);

	buf_putf(&out, "c2sp.org/tlog-proof@v1\nindex %llu\n", (unsigned long long)index);
	for (size_t n = 0; n < len; n++) {
		encode_base64(&out, (struct span){proof[n].bytes, HASH_SIZE});
		buf_put_char(&out, '\n');
	}
	buf_put_char(&out, '\n');
	int r = checkpoint_sign(&out, k, span_of_str(t->origin), t->count, &t->root);

	return r < 0 ? error_sys(e, r, "signing a checkpoint") : anchor_put(i, &out, e);
}

/* The proof of an event in its session's tree; without one, of the session's end in the ledger's
 * tree. */
int record_proof(const struct history *a, const struct invocation *i, struct error *e)
{
	_cleanup_checkpoint_key_ struct checkpoint_key key = {.name = ""};
	_cleanup_(anchor_tree_fini) struct anchor_tree t = {.count = 0};
	_cleanup_audit_ struct audit audit = {.count = 0};
	const struct store_session *s = NULL;
	uint64_t seq = 0;
	int r = anchor_need_records(a, e);

	if (r == 0 && !(s = store_find(&a->store, i->arguments[1], e)))
		return e->code;
	if (r == 0)
		r = anchor_ledger(a, &audit, e);
	if (r == 0)
		r = anchor_key(a, &key, e);
	if (r < 0)
		return r;
	if (i->argument_count > 2) {
		r = anchor_session(a, &audit, s, &key, &t, e);
		if (r == 0 &&
		    (str_parse_u64(i->arguments[2], &seq) < 0 || seq == 0 || seq > t.count))
			r = error_set(e, -EINVAL, "%s has events 1 to %llu, and no '%s'", s->folder,
				      (unsigned long long)t.count, i->arguments[2]);
		return r < 0 ? r : anchor_put_proof(i, &key, &t, t.leaves, seq - 1, e);
	}
	const struct audit_session *entered = audit_find(&audit, s->folder);

	if (!entered || !entered->ended)
		return error_set(e, -ENOENT, "the end of %s is not in the ledger", s->folder);
	(void)snprintf(t.origin, sizeof(t.origin), "%s", key.name);
	t.count = audit.entries;
	merkle_root_of(audit.leaves, audit.entries, &t.root);
	return anchor_put_proof(i, &key, &t, audit.leaves, entered->entry, e);
}

/* --- key ------------------------------------------------------------------------------ */

/* Whether the user types yes. */
static bool anchor_confirmed(const struct text *t)
{
	char line[16] = "";

	text_printf(t, "Type yes when you have kept it, and it is removed from this machine: ");
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);

	return n > 0 && (str_equal(line, "yes\n") || str_equal(line, "yes"));
}

int record_key(const struct history *a, const struct invocation *i, struct error *e)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1024);
	struct text err = text_open(STDERR_FILENO);
	bool ask = isatty(STDIN_FILENO) && !invocation_has(i, OPTION_YES);
	int r = anchor_need_records(a, e);

	if (r == 0)
		r = fd_read_file_at(a->store.dir, ANCHOR_KEY, &line);
	if (r == -ENOENT && e->code == 0)
		(void)error_set(e, r, "the verification key was removed before, and is not here");
	if (r < 0)
		return e->code ? r : error_sys(e, r, "reading the verification key");
	if (!ask && !invocation_has(i, OPTION_YES)) {
		r = error_set(e, -EPERM,
			      "there is no terminal on which to confirm that you kept the key");
		error_next(e, "With --yes it is printed, and removed from this machine.");
		return r;
	}
	r = anchor_put(i, &line, e);
	explicit_bzero(line.ptr, line.cap);
	if (r < 0)
		return r;
	if (ask && !anchor_confirmed(&err)) {
		text_printf(&err, "It stays here, and can be shown again.\n");
		return EXIT_FOUND;
	}
	if (unlinkat(a->store.dir, ANCHOR_KEY, 0) < 0 || fsync(a->store.dir) < 0)
		return error_sys(e, -errno, "removing the verification key");
	text_printf(&err,
		    "Removed here. 'bawn record verify --key FILE' proves every seal with it.\n");
	return EXIT_OK;
}
