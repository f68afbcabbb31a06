/* SPDX-License-Identifier: Apache-2.0 */
#include "layers_parts.h"

#include "str.h"

#include <inttypes.h>

/* --- words ---------------------------------------------------------------------------- */

const char *const layers_mode_words[LAYERS_MODE_COUNT] = {"review", "direct"};

bool layers_is_name(const char *name)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t len = strlen(name);

	if (len == 0 || len > LAYERS_NAME_MAX || !strchr(first, name[0]))
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

/* --- stacks --------------------------------------------------------------------------- */

bool layers_is_id(const char *id)
{
	return strlen(id) == LAYER_ID_LEN && strspn(id, "0123456789abcdef") == LAYER_ID_LEN;
}

bool stack_has(const struct stack *s, const char *id)
{
	for (size_t i = 0; i < s->count; i++)
		if (str_equal(s->ids[i], id))
			return true;
	return false;
}

int stack_push(struct stack *s, const char *id)
{
	if (s->count >= STACK_MAX)
		return -E2BIG;
	memcpy(s->ids[s->count++], id, LAYER_ID_LEN + 1);
	return 0;
}

void stack_put(struct buf *into, const char *key, const struct stack *s)
{
	buf_put_str(into, key);
	for (size_t i = 0; i < s->count; i++)
		buf_putf(into, " %s", s->ids[i]);
	buf_put_char(into, '\n');
}

int stack_parse(char *text, struct stack *ret)
{
	char *rest = NULL;

	*ret = (struct stack){.count = 0};
	for (char *id = strtok_r(text, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) {
		if (!layers_is_id(id) || stack_has(ret, id))
			return -EBADMSG;
		int r = stack_push(ret, id);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the text of sessions and snapshots: lines "key value", in this order --------------- */

enum layers_type { LAYERS_WORD, LAYERS_NUMBER, LAYERS_STACK, LAYERS_SWITCH, LAYERS_IS_MODE };

struct layers_field {
	const char *key;
	enum layers_type type;
	size_t offset;
	size_t size; /* for a word, with its NUL */
};

#define SESSION_FIELD(key, type, member)                             \
	{                                                            \
		key, type, offsetof(struct layers_session, member),  \
			sizeof(((struct layers_session *)0)->member) \
	}
#define SNAPSHOT_FIELD(key, type, member)                             \
	{                                                             \
		key, type, offsetof(struct layers_snapshot, member),  \
			sizeof(((struct layers_snapshot *)0)->member) \
	}

static const struct layers_field layers_session_fields[] = {
	SESSION_FIELD("name", LAYERS_WORD, name),
	SESSION_FIELD("mode", LAYERS_IS_MODE, mode),
	SESSION_FIELD("device", LAYERS_NUMBER, dev),
	SESSION_FIELD("inode", LAYERS_NUMBER, ino),
	SESSION_FIELD("began", LAYERS_NUMBER, began),
	SESSION_FIELD("ended", LAYERS_NUMBER, ended),
	SESSION_FIELD("project", LAYERS_STACK, project),
	SESSION_FIELD("home", LAYERS_STACK, home),
	SESSION_FIELD("from", LAYERS_WORD, from),
	SESSION_FIELD("system", LAYERS_WORD, stands_on),
	SESSION_FIELD("root", LAYERS_STACK, root),
	SESSION_FIELD("keep", LAYERS_SWITCH, keep),
	SESSION_FIELD("branch", LAYERS_WORD, branch),
	/* Older ones have none of these. */
	SESSION_FIELD("start", LAYERS_WORD, start),
	SESSION_FIELD("repository", LAYERS_WORD, repository),
	SESSION_FIELD("linked", LAYERS_WORD, linked),
};

static const struct layers_field layers_snapshot_fields[] = {
	SNAPSHOT_FIELD("name", LAYERS_WORD, name),
	SNAPSHOT_FIELD("session", LAYERS_WORD, session),
	SNAPSHOT_FIELD("made", LAYERS_NUMBER, made),
	SNAPSHOT_FIELD("live", LAYERS_SWITCH, live),
	SNAPSHOT_FIELD("project", LAYERS_STACK, project),
	SNAPSHOT_FIELD("home", LAYERS_STACK, home),
	SNAPSHOT_FIELD("system", LAYERS_WORD, stands_on),
	SNAPSHOT_FIELD("root", LAYERS_STACK, root),
	/* Older ones do not have these. */
	SNAPSHOT_FIELD("first", LAYERS_NUMBER, first),
	SNAPSHOT_FIELD("branch", LAYERS_WORD, branch),
	SNAPSHOT_FIELD("start", LAYERS_WORD, start),
	SNAPSHOT_FIELD("began", LAYERS_NUMBER, began),
};

enum { SESSION_LATER = 3, SNAPSHOT_LATER = 4 };

#define SESSION_MAGIC "bawn-session-1\n"
#define SNAPSHOT_MAGIC "bawn-snapshot-1\n"

static void layers_print(struct buf *into, const char *magic, const struct layers_field *fields,
			 size_t count, const void *from)
{
	buf_put_str(into, magic);
	for (size_t i = 0; i < count; i++) {
		const struct layers_field *f = &fields[i];
		const void *at = (const char *)from + f->offset;
		uint64_t number = 0;

		switch (f->type) {
		case LAYERS_WORD:
			buf_putf(into, "%s %s\n", f->key, (const char *)at);
			break;
		case LAYERS_NUMBER:
			memcpy(&number, at, sizeof(number));
			buf_putf(into, "%s %" PRIu64 "\n", f->key, number);
			break;
		case LAYERS_STACK:
			stack_put(into, f->key, at);
			break;
		case LAYERS_SWITCH:
			buf_putf(into, "%s %s\n", f->key, *(const bool *)at ? "yes" : "no");
			break;
		case LAYERS_IS_MODE:
			buf_putf(into, "%s %s\n", f->key,
				 layers_mode_words[*(const unsigned int *)at]);
			break;
		}
	}
}

static int layers_parse_mode(const char *word, unsigned int *ret)
{
	for (unsigned int m = 0; m < LAYERS_MODE_COUNT; m++)
		if (str_equal(word, layers_mode_words[m])) {
			*ret = m;
			return 0;
		}
	return -EBADMSG;
}

static int layers_parse_field(const struct layers_field *f, char *value, void *into)
{
	void *at = (char *)into + f->offset;
	uint64_t number = 0;
	int r = 0;

	switch (f->type) {
	case LAYERS_WORD:
		if (strlen(value) >= f->size)
			return -EBADMSG;
		memcpy(at, value, strlen(value) + 1);
		return 0;
	case LAYERS_NUMBER:
		r = str_parse_u64(value, &number);
		memcpy(at, &number, sizeof(number));
		return r < 0 || number > INT64_MAX ? -EBADMSG : 0;
	case LAYERS_STACK:
		return stack_parse(value, at);
	case LAYERS_SWITCH:
		*(bool *)at = str_equal(value, "yes");
		return str_equal(value, "yes") || str_equal(value, "no") ? 0 : -EBADMSG;
	case LAYERS_IS_MODE:
		return layers_parse_mode(value, at);
	}
	return -EBADMSG;
}

/* Reads every field, once, in order, and nothing else.  The text may end after the fields that are
 * needed. */
static int layers_parse(struct span text, const char *magic, const struct layers_field *fields,
			size_t count, size_t needed, void *into)
{
	char copy[LAYERS_TEXT_MAX + 1];

	if (text.len > LAYERS_TEXT_MAX || memchr(text.ptr, '\0', text.len))
		return -EBADMSG;
	if (text.len)
		memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	char *at = copy;

	if (!str_after(at, magic))
		return -EBADMSG;
	at += strlen(magic);
	for (size_t i = 0; i < count && (i < needed || *at); i++) {
		char *end = strchr(at, '\n');

		if (!end)
			return -EBADMSG;
		*end = '\0';
		const char *after = str_after(at, fields[i].key);
		/* An empty stack has no space after its key. */
		if (!after || (*after != ' ' && *after != '\0'))
			return -EBADMSG;
		char *value = at + strlen(fields[i].key);
		int r = layers_parse_field(&fields[i], *value ? value + 1 : value, into);

		if (r < 0)
			return r;
		at = end + 1;
	}
	return *at ? -EBADMSG : 0;
}

int layers_session_parse(struct span text, struct layers_session *ret)
{
	*ret = (struct layers_session){.name = ""};
	int r = layers_parse(text, SESSION_MAGIC, layers_session_fields,
			     BAWN_ARRAY_SIZE(layers_session_fields),
			     BAWN_ARRAY_SIZE(layers_session_fields) - SESSION_LATER, ret);

	return r < 0 ? r : layers_is_name(ret->name) ? 0 : -EBADMSG;
}

int layers_snapshot_parse(struct span text, struct layers_snapshot *ret)
{
	*ret = (struct layers_snapshot){.name = ""};
	int r = layers_parse(text, SNAPSHOT_MAGIC, layers_snapshot_fields,
			     BAWN_ARRAY_SIZE(layers_snapshot_fields),
			     BAWN_ARRAY_SIZE(layers_snapshot_fields) - SNAPSHOT_LATER, ret);

	return r < 0 ? r : layers_is_name(ret->name) ? 0 : -EBADMSG;
}

void layers_session_put(struct buf *into, const struct layers_session *s)
{
	layers_print(into, SESSION_MAGIC, layers_session_fields,
		     BAWN_ARRAY_SIZE(layers_session_fields), s);
}

void layers_snapshot_put(struct buf *into, const struct layers_snapshot *s)
{
	layers_print(into, SNAPSHOT_MAGIC, layers_snapshot_fields,
		     BAWN_ARRAY_SIZE(layers_snapshot_fields), s);
}
