/* SPDX-License-Identifier: Apache-2.0 */
#include "config_edit.h"

#include "fd.h"
#include "str.h"
#include "yaml_tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EDIT_TREE_MAX = 4 << 20 };

void config_rule_line(struct buf *into, const struct plan_rule *rule)
{
	bool bracket = rule->address.len > 0 && strchr(rule->host, ':') && rule->host[0] != '[';
	bool quote = bracket || rule->host[0] == '*' || rule->host[0] == '[';
	bool every = rule->ports.count == 1 && rule->ports.items[0].to == UINT16_MAX;

	buf_putf(into, "- %s: %s%s%s%s", plan_action_words[rule->action], quote ? "\"" : "",
		 bracket ? "[" : "", rule->host, bracket ? "]" : "");
	if (rule->ports_named && !every && rule->ports.count == 1)
		buf_putf(into, ":%" PRIu64, rule->ports.items[0].from);
	buf_put_str(into, quote ? "\"" : "");
}

/* The end of a deny that wins over rules which name a port of the host (docs/POLICY.md). */
static const char edit_every[] = ", ports: [1-65535]}";

static void edit_long_deny(struct buf *into, const char *line)
{
	const char *rule = str_after(line, "- ");

	buf_putf(into, "- {%s%s", rule ? rule : "", edit_every);
}

/* --- the text ------------------------------------------------------------------------- */

/* Where line `number` (from 1) begins; the end of the text if there are fewer. */
static size_t edit_line_start(struct span text, size_t number)
{
	size_t at = 0;

	for (; number > 1 && at < text.len; number--) {
		const uint8_t *newline = memchr(text.ptr + at, '\n', text.len - at);

		at = newline ? (size_t)(newline - text.ptr) + 1 : text.len;
	}
	return at;
}

static size_t edit_last_line(const struct tree_node *n)
{
	size_t last = n->line > n->key_line ? n->line : n->key_line;

	for (const struct tree_node *c = n->children; c; c = c->next) {
		size_t below = edit_last_line(c);

		last = below > last ? below : last;
	}
	return last;
}

/* How many blanks are before the list's dashes; -1: its items are not on lines of their own. */
static int edit_indent(struct span text, const struct tree_node *item)
{
	size_t start = edit_line_start(text, item->line);
	size_t at = start;

	while (at < text.len && text.ptr[at] == ' ')
		at++;
	return at < text.len && text.ptr[at] == '-' ? (int)(at - start) : -1;
}

static const struct tree_node *edit_find(const struct tree_node *root, const char *key)
{
	for (const struct tree_node *c = root ? root->children : NULL; c; c = c->next)
		if (str_equal(c->key, key))
			return c;
	return NULL;
}

static const struct tree_node *edit_last(const struct tree_node *list)
{
	const struct tree_node *last = list ? list->children : NULL;

	while (last && last->next)
		last = last->next;
	return last;
}

static bool edit_same(const struct tree_node *a, const struct tree_node *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->empty != b->empty || !a->key != !b->key ||
	    (a->key && !str_equal(a->key, b->key)) ||
	    (a->kind == TREE_SCALAR && !str_equal(a->text, b->text)))
		return false;
	const struct tree_node *x = a->children;
	const struct tree_node *y = b->children;

	for (; x && y; x = x->next, y = y->next)
		if (!edit_same(x, y))
			return false;
	return !x && !y;
}

/* The new list is the old one and one item more. */
static bool edit_is_one_more(const struct tree_node *before, const struct tree_node *after)
{
	const struct tree_node *x = before ? before->children : NULL;
	const struct tree_node *y = after && after->kind == TREE_LIST ? after->children : NULL;

	for (; x && y; x = x->next, y = y->next)
		if (!edit_same(x, y))
			return false;
	return !x && y && !y->next && y->kind == TREE_MAP;
}

/* All keys but network are the same, in their order, and network has one rule more. */
static bool edit_is_right(const struct tree_node *before, const struct tree_node *after)
{
	const struct tree_node *x = before ? before->children : NULL;
	const struct tree_node *y = after ? after->children : NULL;

	for (;;) {
		while (x && str_equal(x->key, "network"))
			x = x->next;
		while (y && str_equal(y->key, "network"))
			y = y->next;
		if (!x || !y)
			break;
		if (!edit_same(x, y))
			return false;
		x = x->next;
		y = y->next;
	}
	return !x && !y &&
	       edit_is_one_more(edit_find(before, "network"), edit_find(after, "network"));
}

static int edit_refuse(const char *name, struct error *e)
{
	return error_set(e, -EOPNOTSUPP, "%s is not written in a way that a line can be added to",
			 name);
}

/* Inserts `line` into the text after line number `after`, with `indent` blanks before it. */
static void edit_insert(struct buf *into, struct span text, size_t after, int indent,
			const char *line)
{
	size_t at = edit_line_start(text, after + 1);

	buf_put(into, text.ptr, at);
	if (text.ptr && at > 0 && text.ptr[at - 1] != '\n')
		buf_put_char(into, '\n');
	buf_putf(into, "%*s%s\n", indent, "", line);
	buf_put(into, text.ptr + at, text.len - at);
}

/* The same rule is there already. */
static bool edit_has(const struct tree_node *network, const struct tree_node *rule)
{
	for (const struct tree_node *c = network ? network->children : NULL; c; c = c->next)
		if (edit_same(c, rule))
			return true;
	return false;
}

/* Puts "- deny: a.test" for "- allow: a.test", and the reverse; "" for any other. */
static void edit_opposite(const char *line, struct buf *into)
{
	const char *allow = str_after(line, "- allow: "), *deny = str_after(line, "- deny: ");
	const char *every = str_after(line, "- {deny: ");

	if (allow || deny)
		buf_putf(into, "- %s: %s", allow ? "deny" : "allow", allow ? allow : deny);
	else if (every && strlen(every) > strlen(edit_every))
		buf_putf(into, "- allow: %.*s", (int)(strlen(every) - strlen(edit_every)), every);
}

/* A rule of the file names a port of the host that `line` denies, and would stay open. */
static bool edit_has_port(const char *name, struct span text, const char *line)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(EDIT_TREE_MAX);
	const struct tree_node *root = NULL;
	const char *host = str_after(line, "- deny: ");
	struct error e = ERROR_INIT;

	if (!host || tree_parse(name, text, &arena, &root, &e) < 0)
		return false;
	host += *host == '"';
	size_t len = strcspn(host, "\"");
	const struct tree_node *network = edit_find(root, "network");

	for (const struct tree_node *c = network ? network->children : NULL; c; c = c->next)
		for (const struct tree_node *k = c->children; k; k = k->next) {
			if (k->kind != TREE_SCALAR || strncmp(k->text, host, len) != 0 ||
			    str_equal(k->key, "deny"))
				continue;
			if (k->text[len] == ':' || (!k->text[len] && edit_find(c, "ports")))
				return true;
		}
	return false;
}

static bool edit_line_is(struct span text, size_t number, const char *line)
{
	size_t at = edit_line_start(text, number), end = edit_line_start(text, number + 1);

	while (at < end && text.ptr[at] == ' ')
		at++;
	while (end > at && (text.ptr[end - 1] == '\n' || text.ptr[end - 1] == ' '))
		end--;
	return end - at == strlen(line) && memcmp(text.ptr + at, line, end - at) == 0;
}

/* after is before without the item on that line. */
static bool edit_is_one_less(const struct tree_node *before, const struct tree_node *after,
			     size_t line)
{
	const struct tree_node *x = before->children;
	const struct tree_node *y = after ? after->children : NULL;

	for (; x; x = x->next) {
		if (x->line == line)
			continue;
		if (!y || !edit_same(x, y))
			return false;
		y = y->next;
	}
	return !y;
}

/* Removes a rule that says the opposite of the one that was just added, word for word and on a line
 * of its own: a reader would not know which of the two counts.  A rule that is less plain stays. */
static void edit_drop_opposite(const char *name, struct buf *text, const char *line,
			       size_t *ret_line, struct arena *arena)
{
	_cleanup_buf_ struct buf opposite = BUF_INIT(1024), less = BUF_INIT(TREE_TEXT_MAX);
	_cleanup_buf_ struct buf longer = BUF_INIT(1024);
	const struct tree_node *before = NULL, *after = NULL;
	struct error e = ERROR_INIT;
	size_t at = 0;

	edit_opposite(line, &opposite);
	if (opposite.len == 0 || tree_parse(name, buf_span(text), arena, &before, &e) < 0)
		return;
	const struct tree_node *network = edit_find(before, "network");

	edit_long_deny(&longer, buf_str(&opposite));
	for (const struct tree_node *c = network ? network->children : NULL; c; c = c->next)
		if (edit_last_line(c) == c->line &&
		    (edit_line_is(buf_span(text), c->line, buf_str(&opposite)) ||
		     edit_line_is(buf_span(text), c->line, buf_str(&longer))))
			at = c->line;
	if (at == 0)
		return;
	size_t from = edit_line_start(buf_span(text), at);
	size_t to = edit_line_start(buf_span(text), at + 1);

	buf_put(&less, text->ptr, from);
	buf_put(&less, text->ptr + to, text->len - to);
	if (buf_error(&less) || tree_parse(name, buf_span(&less), arena, &after, &e) < 0 ||
	    !edit_is_one_less(network, edit_find(after, "network"), at))
		return;
	buf_clear(text);
	buf_put(text, less.ptr, less.len);
	*ret_line -= *ret_line > at;
}

int config_add_line(const char *name, struct span text, const char *line, struct buf *ret_text,
		    size_t *ret_line, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(EDIT_TREE_MAX);
	const struct tree_node *before = NULL;
	const struct tree_node *after = NULL;
	int r = tree_parse(name, text, &arena, &before, e);

	if (r < 0)
		return r;
	const struct tree_node *network = edit_find(before, "network");
	const struct tree_node *last = edit_last(network);
	int indent = network && last ? edit_indent(text, network->children) : 2;

	if (network && last && network->kind == TREE_LIST && indent >= 0) {
		edit_insert(ret_text, text, edit_last_line(last), indent, line);
	} else if (network && network->kind == TREE_SCALAR && network->empty) {
		edit_insert(ret_text, text, network->key_line, indent, line);
	} else if (!network) {
		buf_put(ret_text, text.ptr, text.len);
		if (text.len > 0)
			buf_put_str(ret_text, text.ptr[text.len - 1] == '\n' ? "\n" : "\n\n");
		buf_putf(ret_text, "network:\n  %s\n", line);
	} else {
		return edit_refuse(name, e);
	}
	if (buf_error(ret_text))
		return error_sys(e, buf_error(ret_text), "adding a line to %s", name);
	/* The result must be what was there and one rule more, else we do not write it. */
	struct error why = ERROR_INIT;

	if (tree_parse(name, buf_span(ret_text), &arena, &after, &why) < 0 ||
	    !edit_is_right(before, after))
		return edit_refuse(name, e);
	const struct tree_node *added = edit_last(edit_find(after, "network"));

	if (!added || edit_has(network, added))
		return error_set(e, -EALREADY, "%s has it already", name);
	*ret_line = added->line;
	edit_drop_opposite(name, ret_text, line, ret_line, &arena);
	return 0;
}

/* --- the file ------------------------------------------------------------------------- */

/* Makes the missing folders above the file, private ones. */
static int edit_make_folders(const char *path)
{
	char part[PATH_MAX];

	(void)snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return -errno;
		*at = '/';
	}
	return 0;
}

/* Reads the file, if the user may change it; *ret_mode is its mode. */
static int edit_read(int dir, const char *name, struct buf *text, mode_t *ret_mode)
{
	_cleanup_fd_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return -EPERM;
	*ret_mode = st.st_mode & 0777;
	return fd_read_all(fd, text);
}

static int edit_replace(int dir, const char *name, const struct buf *text, mode_t mode)
{
	char beside[NAME_MAX + 1];

	(void)snprintf(beside, sizeof(beside), ".%.200s.bawn-%ld", name, (long)getpid());
	int r = fd_replace_at(dir, name, beside, buf_span(text), mode);

	return r < 0 ? r : fsync(dir) < 0 ? -errno : 0;
}

int config_add_rule(const char *path, const struct plan_rule *rule, struct buf *line,
		    size_t *ret_line, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TREE_TEXT_MAX);
	_cleanup_buf_ struct buf made = BUF_INIT(TREE_TEXT_MAX);
	char real[PATH_MAX];
	mode_t mode = 0600;
	int r = edit_make_folders(path);

	config_rule_line(line, rule);

	/* It may be a link to a file in a folder of dot files: we change that file, and the link
	 * stays. */
	if (!realpath(path, real))
		(void)snprintf(real, sizeof(real), "%s", path);
	char *slash = strrchr(real, '/');

	if (!slash)
		return error_set(e, -EINVAL, "%s is no path", path);
	*slash = '\0';
	_cleanup_fd_ int dir = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (r == 0 && dir < 0)
		r = -errno;
	if (r == 0 && flock(dir, LOCK_EX) < 0)
		r = -errno;
	if (r == 0)
		r = edit_read(dir, slash + 1, &text, &mode);
	if (r < 0)
		return error_sys(e, r, "cannot change %s", path);
	if (rule->action == PLAN_ACTION_DENY && rule->ports.count == 1 &&
	    rule->ports.items[0].to == UINT16_MAX &&
	    edit_has_port(path, buf_span(&text), buf_str(line))) {
		_cleanup_buf_ struct buf plain = BUF_INIT(1024);

		buf_put_str(&plain, buf_str(line));
		buf_clear(line);
		edit_long_deny(line, buf_str(&plain));
	}
	r = config_add_line(path, buf_span(&text), buf_str(line), &made, ret_line, e);
	if (r < 0)
		return r;
	r = edit_replace(dir, slash + 1, &made, mode);
	return r < 0 ? error_sys(e, r, "cannot change %s", path) : 0;
}
