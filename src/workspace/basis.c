/* SPDX-License-Identifier: Apache-2.0 */
#include "basis.h"

#include "array.h"
#include "encode.h"
#include "fd.h"
#include "open.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BASIS_MAGIC "bawn-basis-1\n"
#define BASIS_FILE "basis"
#define BASIS_FOLDER "basis.d"
#define BASIS_DECIDED "decided"
#define BASIS_STAYED "stayed"
#define BASIS_SEEN BASIS_SEEN_NAME

enum { BASIS_HEX = 2 * SHA256_SIZE };

static const char basis_letters[] = {
	[OBJECT_ABSENT] = '-', [OBJECT_FILE] = 'f', [OBJECT_DIR] = 'd', [OBJECT_LINK] = 'l'};

static bool basis_has_digest(unsigned int type)
{
	return type == OBJECT_FILE || type == OBJECT_LINK;
}

bool basis_same_content(const struct object *a, const struct object *b)
{
	if (a->type != b->type)
		return false;
	if (!basis_has_digest(a->type))
		return true;
	return a->hashed && b->hashed && memcmp(a->digest, b->digest, SHA256_SIZE) == 0;
}

bool basis_same(const struct object *a, const struct object *b)
{
	bool has_mode = a->type == OBJECT_FILE || a->type == OBJECT_DIR;

	return basis_same_content(a, b) && (!has_mode || (a->mode & 0777) == (b->mode & 0777));
}

/* --- the list -------------------------------------------------------------------------- */

void basis_fini(struct basis *b)
{
	free(b->items);
	b->items = NULL;
	b->count = 0;
	arena_fini(&b->arena);
}

/* Where the path is in the list, or would be. */
static size_t basis_place(const struct basis *b, const char *path)
{
	size_t low = 0, high = b->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(b->items[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool basis_is_at(const struct basis *b, size_t at, const char *path)
{
	return at < b->count && str_equal(b->items[at].path, path);
}

const struct basis_entry *basis_find(const struct basis *b, const char *path)
{
	size_t at = basis_place(b, path);

	return basis_is_at(b, at, path) ? &b->items[at] : NULL;
}

int basis_set(struct basis *b, const char *path, const struct object *object)
{
	size_t at = basis_place(b, path);

	if (object->type > OBJECT_LINK || (basis_has_digest(object->type) && !object->hashed))
		return -EINVAL;
	if (!basis_is_at(b, at, path)) {
		if (b->count == BASIS_ENTRIES_MAX)
			return -E2BIG;
		const char *copy = arena_str(&b->arena, path);

		if (!copy || !ARRAY_GROW(b->items, b->count))
			return -ENOMEM;
		memmove(b->items + at + 1, b->items + at, (b->count - at) * sizeof(*b->items));
		b->items[at].path = copy;
		b->count++;
	}
	b->items[at].object = *object;
	b->items[at].object.link = NULL;
	return 0;
}

void basis_remove(struct basis *b, const char *path)
{
	size_t at = basis_place(b, path);

	if (!basis_is_at(b, at, path))
		return;
	b->count--;
	memmove(b->items + at, b->items + at + 1, (b->count - at) * sizeof(*b->items));
}

/* --- the text -------------------------------------------------------------------------- */

void basis_format(const struct basis *b, struct buf *into)
{
	buf_put_str(into, BASIS_MAGIC);
	for (size_t i = 0; i < b->count; i++) {
		const struct object *o = &b->items[i].object;

		buf_putf(into, "%c %o %" PRIu64 " ", basis_letters[o->type], o->mode & 0777,
			 o->size);
		if (basis_has_digest(o->type))
			encode_hex(into, (struct span){o->digest, SHA256_SIZE});
		else
			buf_put_char(into, '-');
		buf_putf(into, " %s", b->items[i].path);
		buf_put_char(into, '\0');
	}
}

/* Reads the word up to the next space, at most max bytes. */
static struct span basis_word(struct reader *r, size_t max)
{
	const uint8_t *from = r->at;

	while (!r->bad && reader_left(r) > 0 && *r->at != ' ' && *r->at != '\0')
		r->at++;
	struct span word = {from, (size_t)(r->at - from)};

	if (word.len == 0 || word.len > max || reader_left(r) == 0 || *r->at != ' ')
		r->bad = true;
	else
		r->at++;
	return word;
}

static int basis_parse_octal(struct span word, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < word.len; i++) {
		if (word.ptr[i] < '0' || word.ptr[i] > '7')
			return -EBADMSG;
		*ret = *ret * 8 + (uint32_t)(word.ptr[i] - '0');
	}
	return *ret > 0777 || (word.len > 1 && word.ptr[0] == '0') ? -EBADMSG : 0;
}

static int basis_parse_hex(struct span word, uint8_t ret[SHA256_SIZE])
{
	static const uint8_t digits[16] = {'0', '1', '2', '3', '4', '5', '6', '7',
					   '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

	if (word.len != BASIS_HEX)
		return -EBADMSG;
	for (size_t i = 0; i < BASIS_HEX; i++) {
		const uint8_t *at = memchr(digits, word.ptr[i], sizeof(digits));

		if (!at)
			return -EBADMSG;
		uint8_t value = (uint8_t)(at - digits);

		ret[i / 2] = i % 2 ? ret[i / 2] | value : (uint8_t)(value << 4);
	}
	return 0;
}

static int basis_parse_entry(struct reader *r, struct basis *into)
{
	struct span letter = basis_word(r, 1), mode = basis_word(r, 3), size = basis_word(r, 20);
	struct span digest = basis_word(r, BASIS_HEX);
	const uint8_t *end = reader_left(r) ? memchr(r->at, '\0', reader_left(r)) : NULL;
	struct object o = {.type = OBJECT_ABSENT, .layer = -1};
	struct reader number = reader_of(size);

	if (r->bad || !end)
		return -EBADMSG;
	const char *path = (const char *)r->at;

	r->at = end + 1;
	while (o.type <= OBJECT_LINK && basis_letters[o.type] != (char)letter.ptr[0])
		o.type++;
	if (o.type > OBJECT_LINK || !reader_decimal(&number, &o.size) || reader_left(&number) ||
	    basis_parse_octal(mode, &o.mode) < 0 || !str_path_is_plain(path))
		return -EBADMSG;
	o.hashed = basis_has_digest(o.type);
	if (o.hashed ? basis_parse_hex(digest, o.digest) < 0
		     : digest.len != 1 || digest.ptr[0] != '-')
		return -EBADMSG;
	/* Sorted, so each path is there once. */
	if (into->count && strcmp(into->items[into->count - 1].path, path) >= 0)
		return -EBADMSG;
	return basis_set(into, path, &o);
}

int basis_parse(struct span text, struct basis *into)
{
	struct reader r = reader_of(text);
	struct span magic = reader_take(&r, strlen(BASIS_MAGIC));
	int code = span_equal(magic, span_of_str(BASIS_MAGIC)) ? 0 : -EBADMSG;

	while (code == 0 && reader_left(&r) > 0)
		code = basis_parse_entry(&r, into);
	return code;
}

/* --- the files ------------------------------------------------------------------------- */

static int basis_load(int session, const char *name, struct basis *ret, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BASIS_BYTES_MAX);

	*ret = BASIS_INIT;
	int r = fd_read_file_at(session, name, &text);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = basis_parse(buf_span(&text), ret);
	return r < 0 ? error_sys(e, r, "cannot read what landed of this session before") : 0;
}

/* While a file is made it has its own temporary name beside it: writers hold a lock, but not the
 * same lock for each file. */
static int basis_store(int session, const char *name, const struct basis *b, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BASIS_BYTES_MAX);
	char beside[sizeof(BASIS_DECIDED) + sizeof(".new")];

	(void)snprintf(beside, sizeof(beside), "%s.new", name);
	basis_format(b, &text);
	int r = buf_error(&text);

	if (r == 0)
		r = fd_replace_at(session, name, beside, buf_span(&text), 0600);
	return r < 0 ? error_sys(e, r, "cannot write down what landed of this session") : 0;
}

int basis_read(int session, struct basis *ret, struct error *e)
{
	return basis_load(session, BASIS_FILE, ret, e);
}

int basis_write(int session, const struct basis *b, struct error *e)
{
	return basis_store(session, BASIS_FILE, b, e);
}

int basis_read_decided(int session, struct basis *ret, struct error *e)
{
	return basis_load(session, BASIS_DECIDED, ret, e);
}

int basis_write_decided(int session, const struct basis *b, struct error *e)
{
	return basis_store(session, BASIS_DECIDED, b, e);
}

int basis_read_stayed(int session, struct basis *ret, struct error *e)
{
	return basis_load(session, BASIS_STAYED, ret, e);
}

int basis_write_stayed(int session, const struct basis *b, struct error *e)
{
	return basis_store(session, BASIS_STAYED, b, e);
}

int basis_lock_seen(int session)
{
	_cleanup_fd_ int fd = open_file(session, BASIS_SEEN ".lock", O_RDWR | O_CREAT, 0600);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	return TAKE_FD(fd);
}

int basis_read_seen(int session, struct basis *ret, struct error *e)
{
	return basis_load(session, BASIS_SEEN, ret, e);
}

int basis_write_seen(int session, const struct basis *b, struct error *e)
{
	return basis_store(session, BASIS_SEEN, b, e);
}

static void basis_name(const struct object *object, char ret[sizeof(BASIS_FOLDER) + BASIS_HEX + 1])
{
	size_t at = sizeof(BASIS_FOLDER);

	memcpy(ret, BASIS_FOLDER "/", at);
	*encode_hex_at(ret + at, object->digest, SHA256_SIZE) = '\0';
}

int basis_content(int session, const struct object *object)
{
	char name[sizeof(BASIS_FOLDER) + BASIS_HEX + 1];

	if (object->type != OBJECT_FILE || !object->hashed)
		return -ENOENT;
	basis_name(object, name);
	_cleanup_fd_ int fd = open_file(session, name, O_RDONLY, 0);
	uint8_t digest[SHA256_SIZE];
	uint64_t size = 0;

	if (fd < 0)
		return fd;
	/* A write that was cut short has other content. */
	if (changes_hash(fd, digest, &size) < 0 || memcmp(digest, object->digest, SHA256_SIZE) != 0)
		return -ENOENT;
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : TAKE_FD(fd);
}

int basis_keep(int session, const struct object *object, int from)
{
	char name[sizeof(BASIS_FOLDER) + BASIS_HEX + 1];
	_cleanup_buf_ struct buf content = BUF_INIT(BASIS_CONTENT_MAX);

	if (object->type != OBJECT_FILE || object->size > BASIS_CONTENT_MAX)
		return 0;
	if (mkdirat(session, BASIS_FOLDER, 0700) < 0 && errno != EEXIST)
		return -errno;
	int r = fd_read_all(from, &content);

	if (r < 0)
		return r == -E2BIG || r == -EMSGSIZE || r == -ENOBUFS ? 0 : r;
	basis_name(object, name);
	_cleanup_fd_ int fd = open_beneath(session, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return fd == -EEXIST ? 0 : fd;
	return fd_write_all(fd, content.ptr, content.len);
}
