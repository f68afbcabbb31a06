/* SPDX-License-Identifier: Apache-2.0 */
#include "git_store.h"

#include "clock.h"
#include "fd.h"
#include "open.h"
#include "sha1.h"
#include "sha256.h"
#include "str.h"
#include "view.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
	STORE_SOURCES_MAX = 8,
	STORE_ALTERNATES_MAX = 64 << 10,
	STORE_PIECE = 64 << 10,
	STORE_ENTRY_HEAD = 64,
	STORE_LOOSE_HEAD = 64,
	STORE_KEPT = 256,
	STORE_KEPT_MAX = 256 << 10, /* most bytes of one of them */
	STORE_NAMES_MAX = 1 << 22,  /* most objects of a pack that we verify */
	STORE_SELDOM = 1024,
};

/* A folder of objects. */
struct store_source {
	struct view view;
	int own;    /* the descriptor of an alternate; -1: the view is borrowed */
	bool spare; /* asked only if the others do not have an object */
	char path[PATH_MAX];
};

struct store_pack {
	const struct store_source *source;
	char name[NAME_MAX + 1]; /* without its ending */
	int idx, pack;           /* -1: not opened yet */
	uint64_t idx_size;
	uint8_t fan[GIT_IDX_FAN];
	bool bad;
};

/* Objects that were unpacked lately: the base of most deltas is near them. */
struct store_kept {
	const struct store_pack *pack;
	uint64_t at;
	enum git_kind kind;
	struct buf content;
};

struct git_store {
	struct store_kept kept[STORE_KEPT];
	struct store_source sources[STORE_SOURCES_MAX];
	size_t source_count;
	struct store_pack *packs;
	size_t pack_count;
	int trouble; /* -errno if there are more packs than we open */
	int64_t deadline;
	z_stream z;
	bool inflates;
	uint8_t in[STORE_PIECE], out[STORE_PIECE];
	uint64_t chain[GIT_STORE_CHAIN_MAX];
};

const char *git_store_words(int code)
{
	switch (code) {
	case -ENOENT:
		return "it is not there";
	case -EBADMSG:
		return "it is not what its name says";
	case -E2BIG:
		return "it is too large";
	case -EDQUOT:
		return "and of those before it there are too many";
	case -ETIME:
		return "that takes too long";
	default:
		return error_words(code);
	}
}

bool git_store_is_late(const struct git_store *s)
{
	return clock_ms(CLOCK_MONOTONIC) > s->deadline;
}

static int store_open(const struct store_source *s, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s%s", s->path, *s->path ? "/" : "", name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	int fd = view_openat(&s->view, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		fd_close(&fd);
		return -ENOENT;
	}
	return fd;
}

/* --- compressed bytes ------------------------------------------------------------------ */

/* Where unpacked bytes go: all of them, or the beginning and the sum. */
struct store_sink {
	struct buf *into;
	uint64_t max, size;
	struct sha1 *sha1;
	struct sha256 *sha256;
};

static int store_sink(struct store_sink *k, struct span bytes)
{
	if (bytes.len > k->max - k->size)
		return -E2BIG;
	k->size += bytes.len;
	if (k->sha1)
		sha1_add(k->sha1, bytes);
	if (k->sha256)
		sha256_add(k->sha256, bytes);
	if (k->sha1 || k->sha256)
		bytes.len = bytes.len < STORE_LOOSE_HEAD - k->into->len
				    ? bytes.len
				    : STORE_LOOSE_HEAD - k->into->len;
	buf_put(k->into, bytes.ptr, bytes.len);
	return buf_error(k->into);
}

/* Unpacks from `at` to the end of the stream. */
static int store_inflate_to(struct git_store *s, int fd, uint64_t at, struct store_sink *k)
{
	int state = Z_OK;

	if ((s->inflates ? inflateReset(&s->z) : inflateInit(&s->z)) != Z_OK)
		return -ENOMEM;
	s->inflates = true;
	s->z.avail_in = 0;
	while (state != Z_STREAM_END) {
		if (git_store_is_late(s))
			return -ETIME;
		if (s->z.avail_in == 0) {
			ssize_t n = pread(fd, s->in, sizeof(s->in), (off_t)at);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return n < 0 ? -errno : -EBADMSG;
			at += (uint64_t)n;
			s->z.next_in = s->in;
			s->z.avail_in = (unsigned int)n;
		}
		s->z.next_out = s->out;
		s->z.avail_out = sizeof(s->out);
		state = inflate(&s->z, Z_NO_FLUSH);
		if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
			return -EBADMSG;
		int r = store_sink(k, (struct span){s->out, sizeof(s->out) - s->z.avail_out});

		if (r < 0)
			return r;
	}
	return 0;
}

/* Unpacks at most `max` bytes. */
static int store_inflate(struct git_store *s, int fd, uint64_t at, size_t max, struct buf *into)
{
	struct store_sink sink = {.into = into, .max = max, .size = into->len};

	return store_inflate_to(s, fd, at, &sink);
}

static int store_verify(enum git_kind kind, struct span content, const struct git_name *name)
{
	struct git_name is;

	git_name_of(kind, content, name->len, &is);
	return git_name_equal(&is, name) ? 0 : -EBADMSG;
}

/* --- loose ----------------------------------------------------------------------------- */

static int store_open_loose(const struct store_source *source, const struct git_name *name)
{
	char hex[GIT_HEX_MAX + 1], path[GIT_HEX_MAX + 2];

	git_name_hex(name, hex);
	(void)snprintf(path, sizeof(path), "%.2s/%s", hex, hex + 2);
	return store_open(source, path);
}

static int store_read_loose(struct git_store *s, const struct store_source *source,
			    const struct git_name *name, size_t max, enum git_kind *ret_kind,
			    struct buf *into)
{
	uint64_t size = 0;
	_cleanup_fd_ int fd = store_open_loose(source, name);

	if (fd < 0)
		return fd;
	_cleanup_buf_ struct buf whole = BUF_INIT(max + STORE_LOOSE_HEAD);
	int r = store_inflate(s, fd, 0, max + STORE_LOOSE_HEAD, &whole);

	if (r < 0)
		return r;
	int head = git_loose_head(buf_span(&whole), ret_kind, &size);

	if (head < 0 || whole.len - (size_t)head != size)
		return -EBADMSG;
	struct span content = span_skip(buf_span(&whole), (size_t)head);

	r = store_verify(*ret_kind, content, name);
	buf_put(into, content.ptr, content.len);
	return r < 0 ? r : buf_error(into);
}

/* --- packs ----------------------------------------------------------------------------- */

static int store_take_pack(struct git_store *s, const struct store_source *source, const char *name)
{
	static const char ending[] = ".idx";
	size_t len = strlen(name);
	struct stat st;

	if (!str_ends_with(name, ending) || len > NAME_MAX)
		return 0;
	if (s->pack_count == GIT_STORE_PACKS_MAX) {
		s->trouble = -E2BIG;
		return 0;
	}
	struct store_pack *p = &s->packs[s->pack_count];

	*p = (struct store_pack){.source = source, .idx = -1, .pack = -1};
	(void)snprintf(p->name, sizeof(p->name), "%.*s", (int)(len - strlen(ending)), name);
	char path[NAME_MAX + 16];

	(void)snprintf(path, sizeof(path), "pack/%s", name);
	p->idx = store_open(source, path);
	if (p->idx < 0)
		return 0;
	uint8_t head[GIT_IDX_HEAD];

	if (fstat(p->idx, &st) < 0 || pread(p->idx, head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head, "\377tOc\0\0\0\2", sizeof(head)) != 0 ||
	    pread(p->idx, p->fan, sizeof(p->fan), GIT_IDX_HEAD) != sizeof(p->fan))
		p->bad = true;
	else
		p->idx_size = (uint64_t)st.st_size;
	s->pack_count++;
	return 0;
}

struct store_listing {
	struct git_store *store;
	const struct store_source *source;
};

static int store_on_name(void *context, const char *name)
{
	const struct store_listing *l = context;

	return store_take_pack(l->store, l->source, name);
}

static uint64_t store_pack_count(const struct store_pack *p)
{
	return git_u32(p->fan + (size_t)4 * 255);
}

/* Where the object of this number is in the pack; `len` is the length of names. */
static int store_pack_at(const struct store_pack *p, uint32_t number, uint8_t len, uint64_t *ret)
{
	uint64_t count = store_pack_count(p);
	uint64_t offsets = GIT_IDX_HEAD + GIT_IDX_FAN + count * len + count * 4;
	uint64_t larges = offsets + count * 4;
	uint8_t bytes[8];

	if (larges > p->idx_size ||
	    pread(p->idx, bytes, 4, (off_t)(offsets + (uint64_t)number * 4)) != 4)
		return -EBADMSG;
	*ret = git_u32(bytes);
	if (!(*ret & 0x80000000u))
		return 0;
	if (pread(p->idx, bytes, 8, (off_t)(larges + (*ret & 0x7fffffffu) * 8)) != 8)
		return -EBADMSG;
	*ret = (uint64_t)git_u32(bytes) << 32 | git_u32(bytes + 4);
	return *ret <= INT64_MAX ? 0 : -EBADMSG;
}

/* Where the pack has the object; -ENOENT: it does not. */
static int store_pack_find(const struct store_pack *p, const struct git_name *name, uint64_t *ret)
{
	uint32_t low = name->bytes[0] ? git_u32(p->fan + 4 * (size_t)(name->bytes[0] - 1)) : 0;
	uint32_t high = git_u32(p->fan + 4 * (size_t)name->bytes[0]);
	uint64_t names = GIT_IDX_HEAD + GIT_IDX_FAN;
	uint8_t bytes[GIT_NAME_MAX];

	if (p->bad || high > store_pack_count(p) || low > high)
		return -EBADMSG;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (pread(p->idx, bytes, name->len,
			  (off_t)(names + (uint64_t)middle * name->len)) != name->len)
			return -EBADMSG;
		int order = memcmp(bytes, name->bytes, name->len);

		if (order == 0)
			return store_pack_at(p, middle, name->len, ret);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}

static int store_entry(const struct store_pack *p, uint64_t at, uint8_t len, struct git_entry *ret)
{
	uint8_t head[STORE_ENTRY_HEAD];
	ssize_t n = pread(p->pack, head, sizeof(head), (off_t)at);

	return n <= 0 ? -EBADMSG : git_entry_parse((struct span){head, (size_t)n}, len, ret);
}

static struct store_kept *store_kept(struct git_store *s, const struct store_pack *p, uint64_t at)
{
	return &s->kept[(at ^ (uintptr_t)p >> 4) % STORE_KEPT];
}

static void store_keep(struct git_store *s, const struct store_pack *p, uint64_t at,
		       enum git_kind kind, const struct buf *content)
{
	struct store_kept *k = store_kept(s, p, at);

	if (content->len > STORE_KEPT_MAX)
		return;
	buf_fini(&k->content);
	*k = (struct store_kept){p, at, kind, BUF_INIT(STORE_KEPT_MAX)};
	buf_put(&k->content, content->ptr, content->len);
	if (buf_error(&k->content))
		k->pack = NULL;
}

/* Follows the deltas from the object at `at` down to one that is no delta, or that is kept, and
 * notes where each is. */
static int store_chain(struct git_store *s, const struct store_pack *p, uint64_t at, uint8_t len,
		       size_t *ret_count, enum git_kind *ret_kind)
{
	for (size_t count = 0; count < GIT_STORE_CHAIN_MAX;) {
		const struct store_kept *k = store_kept(s, p, at);
		struct git_entry entry;

		s->chain[count++] = at;
		*ret_count = count;
		if (k->pack == p && k->at == at) {
			*ret_kind = k->kind;
			return 0;
		}
		int r = store_entry(p, at, len, &entry);

		if (r < 0)
			return r;
		if (git_kind_words[entry.kind]) {
			*ret_kind = entry.kind;
			return 0;
		}
		if (entry.kind == GIT_KIND_OFS) {
			if (entry.back >= at)
				return -EBADMSG;
			at -= entry.back;
		} else {
			r = store_pack_find(p, &entry.base, &at);
			if (r < 0)
				return -EBADMSG;
		}
	}
	return -E2BIG;
}

static int store_unpack(struct git_store *s, const struct store_pack *p, uint64_t at, uint8_t len,
			size_t max, struct buf *into)
{
	struct git_entry entry;
	int r = store_entry(p, at, len, &entry);

	if (r == 0 && entry.size > max)
		r = -E2BIG;
	if (r == 0)
		r = store_inflate(s, p->pack, at + entry.head, max, into);
	return r < 0 ? r : into->len == entry.size ? 0 : -EBADMSG;
}

/* Reads the end of a chain: from what is kept, or unpacked. */
static int store_base(struct git_store *s, const struct store_pack *p, uint64_t at, uint8_t len,
		      size_t max, struct buf *into)
{
	const struct store_kept *k = store_kept(s, p, at);

	if (k->pack != p || k->at != at)
		return store_unpack(s, p, at, len, max, into);
	if (k->content.len > max)
		return -E2BIG;
	buf_put(into, k->content.ptr, k->content.len);
	return buf_error(into);
}

/* Reads the object at `at`. */
static int store_read_at(struct git_store *s, const struct store_pack *p, uint64_t at, uint8_t len,
			 size_t max, enum git_kind *ret_kind, struct buf *into)
{
	size_t count = 0;
	int r = store_chain(s, p, at, len, &count, ret_kind);
	_cleanup_buf_ struct buf whole = BUF_INIT(GIT_STORE_OBJECT_MAX);

	if (r == 0)
		r = store_base(s, p, s->chain[count - 1], len,
			       count == 1 ? max : GIT_STORE_OBJECT_MAX, &whole);
	while (r == 0) {
		store_keep(s, p, s->chain[count - 1], *ret_kind, &whole);
		if (--count == 0)
			break;
		_cleanup_buf_ struct buf delta = BUF_INIT(GIT_STORE_OBJECT_MAX);
		struct buf next = BUF_INIT(count == 1 ? max : GIT_STORE_OBJECT_MAX);

		r = store_unpack(s, p, s->chain[count - 1], len, GIT_STORE_OBJECT_MAX, &delta);
		if (r == 0)
			r = git_delta(buf_span(&whole), buf_span(&delta), &next);
		buf_fini(&whole);
		whole = next;
	}
	if (r == 0)
		buf_put(into, whole.ptr, whole.len);
	return r < 0 ? r : buf_error(into);
}

static int store_open_pack(struct store_pack *p)
{
	char path[NAME_MAX + 16];

	if (p->pack >= 0)
		return 0;
	(void)snprintf(path, sizeof(path), "pack/%s.pack", p->name);
	p->pack = store_open(p->source, path);
	return p->pack < 0 ? p->pack : 0;
}

static int store_read_packed(struct git_store *s, struct store_pack *p, const struct git_name *name,
			     size_t max, enum git_kind *ret_kind, struct buf *into)
{
	uint64_t at = 0;
	int r = store_pack_find(p, name, &at);

	if (r < 0)
		return r;
	/* git uses no pack without its index, and no index without its pack. */
	if (store_open_pack(p) < 0)
		return -ENOENT;
	r = store_read_at(s, p, at, name->len, max, ret_kind, into);
	return r < 0 ? r : store_verify(*ret_kind, buf_span(into), name);
}

/* --- a pack as a whole ----------------------------------------------------------------- */

struct store_row {
	uint64_t at;
	uint32_t number;
};

static int store_row_order(const void *a, const void *b)
{
	uint64_t x = ((const struct store_row *)a)->at, y = ((const struct store_row *)b)->at;

	return (x > y) - (x < y);
}

/* Verifies every object, in the order of the pack, so that the bases of deltas are still kept. */
static int store_verify_rows(struct git_store *s, const struct store_pack *p, struct span names,
			     const struct store_row *rows, uint8_t len)
{
	for (size_t i = 0; i < names.len / len; i++) {
		_cleanup_buf_ struct buf content = BUF_INIT(GIT_STORE_OBJECT_MAX);
		struct git_name name = {.len = len};
		enum git_kind kind = GIT_KIND_NONE;
		int r = store_read_at(s, p, rows[i].at, len, GIT_STORE_OBJECT_MAX, &kind, &content);

		memcpy(name.bytes, names.ptr + (size_t)rows[i].number * len, len);
		if (r == 0)
			r = store_verify(kind, buf_span(&content), &name);
		if (r < 0)
			return r;
	}
	return 0;
}

static int store_verify_pack(struct git_store *s, struct store_pack *p, uint8_t len)
{
	uint32_t count = (uint32_t)store_pack_count(p);
	_cleanup_free_ uint8_t *names = NULL;
	_cleanup_free_ struct store_row *rows = NULL;
	int r = p->bad ? -EBADMSG : store_open_pack(p);

	if (r < 0 || count == 0)
		return r;
	if (count > STORE_NAMES_MAX)
		return -E2BIG;
	names = calloc(count, len);
	rows = calloc(count, sizeof(*rows));
	if (!names || !rows)
		return -ENOMEM;
	ssize_t want = (ssize_t)count * len;

	if (pread(p->idx, names, (size_t)want, GIT_IDX_HEAD + GIT_IDX_FAN) != want)
		return -EBADMSG;
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		const uint8_t *name = names + (size_t)i * len;

		rows[i].number = i;
		/* If one name is there twice, git takes the object that it finds first.  And git
		 * looks where the first byte of the name leads. */
		if ((i > 0 && memcmp(name - len, name, len) >= 0) ||
		    i >= git_u32(p->fan + (size_t)4 * name[0]) ||
		    git_u32(p->fan + (size_t)4 * name[0]) > count ||
		    (name[0] && i < git_u32(p->fan + (size_t)4 * (name[0] - 1))))
			return -EBADMSG;
		if (i % STORE_SELDOM == 0 && git_store_is_late(s))
			return -ETIME;
		r = store_pack_at(p, i, len, &rows[i].at);
	}
	if (r < 0)
		return -EBADMSG;
	qsort(rows, count, sizeof(*rows), store_row_order);
	return store_verify_rows(s, p, (struct span){names, (size_t)want}, rows, len);
}

int git_store_verify_pack(struct git_store *s, const char *name, uint8_t len)
{
	for (size_t i = 0; i < s->pack_count; i++)
		if (!s->packs[i].source->spare && str_equal(s->packs[i].name, name))
			return store_verify_pack(s, &s->packs[i], len);
	return s->trouble < 0 ? s->trouble : -ENOENT;
}

/* --- the store ------------------------------------------------------------------------- */

static int store_add(struct git_store *s, const struct view *v, int own, const char *path,
		     bool spare)
{
	struct store_source *source = &s->sources[s->source_count];

	if (s->source_count == STORE_SOURCES_MAX || strlen(path) >= sizeof(source->path))
		return -E2BIG;
	*source = (struct store_source){.view = *v, .own = own, .spare = spare};
	(void)snprintf(source->path, sizeof(source->path), "%s", path);
	s->source_count++;
	char packs[PATH_MAX];
	struct store_listing l = {s, source};

	if (snprintf(packs, sizeof(packs), "%s%spack", path, *path ? "/" : "") >=
	    (int)sizeof(packs))
		return -ENAMETOOLONG;
	int r = view_list(v, packs, store_on_name, &l);

	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

/* Adds one line of the user's alternates: a folder of objects anywhere on this machine. */
static void store_alternate(struct git_store *s, const struct view *before, const char *objects,
			    const char *line)
{
	char path[PATH_MAX];
	_cleanup_fd_ int at = -1;

	if (*line == '/')
		at = open(line, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else if (snprintf(path, sizeof(path), "%s/%s", objects, line) < (int)sizeof(path))
		at = openat(before->base, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t had = s->source_count;

	if (at >= 0)
		(void)store_add(s, &(struct view){.base = at}, at, "", false);
	/*
	 * Once it is among the sources, it is closed with them, also if its packs cannot be listed.
	 */
	if (s->source_count > had)
		(void)TAKE_FD(at);
}

static void store_alternates(struct git_store *s, const struct view *before, const char *objects)
{
	const struct store_source own = {.view = *before, .own = -1};
	char path[PATH_MAX];
	_cleanup_buf_ struct buf text = BUF_INIT(STORE_ALTERNATES_MAX);

	if (before->base < 0 ||
	    snprintf(path, sizeof(path), "%s/info/alternates", objects) >= (int)sizeof(path))
		return;
	_cleanup_fd_ int fd = store_open(&own, path);

	/* An empty file has no text. */
	if (fd < 0 || fd_read_all(fd, &text) < 0 || !text.ptr)
		return;
	char *save = NULL;

	for (char *line = strtok_r(text.ptr, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (*line != '#')
			store_alternate(s, before, objects, line);
}

int git_store_open(const struct view *v, const struct view *before, const char *objects,
		   int64_t deadline, struct git_store **ret)
{
	struct git_store *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->packs = calloc(GIT_STORE_PACKS_MAX, sizeof(*s->packs));
	s->deadline = deadline;
	int r = s->packs ? store_add(s, v, -1, objects, false) : -ENOMEM;

	/* A removal by the session does not land: objects are only ever added. */
	if (r == 0 && before->base >= 0)
		r = store_add(s, before, -1, objects, true);
	if (r < 0) {
		git_store_close(&s);
		return r;
	}
	store_alternates(s, before, objects);
	*ret = s;
	return 0;
}

void git_store_close(struct git_store **s)
{
	if (!*s)
		return;
	for (size_t i = 0; i < (*s)->pack_count; i++) {
		fd_close(&(*s)->packs[i].idx);
		fd_close(&(*s)->packs[i].pack);
	}
	for (size_t i = 0; i < (*s)->source_count; i++)
		fd_close(&(*s)->sources[i].own);
	for (size_t i = 0; i < STORE_KEPT; i++)
		buf_fini(&(*s)->kept[i].content);
	if ((*s)->inflates)
		(void)inflateEnd(&(*s)->z);
	free((*s)->packs);
	free(*s);
	*s = NULL;
}

int git_store_has(struct git_store *s, const struct git_name *name)
{
	uint64_t at = 0;

	if (s->trouble < 0)
		return s->trouble;
	for (size_t i = 0; i < s->source_count; i++) {
		_cleanup_fd_ int fd = store_open_loose(&s->sources[i], name);

		if (fd >= 0)
			return 0;
	}
	for (size_t i = 0; i < s->pack_count; i++)
		if (store_pack_find(&s->packs[i], name, &at) == 0 &&
		    store_open_pack(&s->packs[i]) == 0)
			return 0;
	return -ENOENT;
}

static int store_read_from(struct git_store *s, bool spare, const struct git_name *name, size_t max,
			   enum git_kind *ret_kind, struct buf *into)
{
	bool found = false;

	for (size_t i = 0; i < s->source_count + s->pack_count; i++) {
		_cleanup_buf_ struct buf one = BUF_INIT(max);
		struct store_pack *p = i < s->source_count ? NULL : &s->packs[i - s->source_count];
		const struct store_source *source = p ? p->source : &s->sources[i];

		if (source->spare != spare)
			continue;
		int r = p ? store_read_packed(s, p, name, max, ret_kind, &one)
			  : store_read_loose(s, source, name, max, ret_kind, &one);

		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		if (!found)
			buf_put(into, one.ptr, one.len);
		found = true;
	}
	return found ? buf_error(into) : -ENOENT;
}

int git_store_read(struct git_store *s, const struct git_name *name, size_t max,
		   enum git_kind *ret_kind, struct buf *into)
{
	if (s->trouble < 0)
		return s->trouble;
	if (git_store_is_late(s))
		return -ETIME;
	if (max > GIT_STORE_OBJECT_MAX)
		max = GIT_STORE_OBJECT_MAX;
	int r = store_read_from(s, false, name, max, ret_kind, into);

	return r == -ENOENT ? store_read_from(s, true, name, max, ret_kind, into) : r;
}

int git_store_verify_loose(struct git_store *s, const struct git_name *name)
{
	_cleanup_fd_ int fd = store_open_loose(&s->sources[0], name);
	_cleanup_buf_ struct buf head = BUF_INIT(STORE_LOOSE_HEAD);
	struct sha1 sha1;
	struct sha256 sha256;
	struct store_sink sink = {.into = &head, .max = INT64_MAX};
	struct git_name is = {.len = name->len};
	enum git_kind kind = GIT_KIND_NONE;
	uint64_t size = 0;

	if (fd < 0)
		return fd;
	sha1_begin(&sha1);
	sha256_begin(&sha256);
	if (name->len == SHA1_SIZE)
		sink.sha1 = &sha1;
	else
		sink.sha256 = &sha256;
	int r = store_inflate_to(s, fd, 0, &sink);

	if (r < 0)
		return r;
	r = git_loose_head(buf_span(&head), &kind, &size);
	if (name->len == SHA1_SIZE)
		sha1_end(&sha1, is.bytes);
	else
		sha256_end(&sha256, is.bytes);
	return r >= 0 && sink.size - (uint64_t)r == size && git_name_equal(&is, name) ? 0
										      : -EBADMSG;
}
