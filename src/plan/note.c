/* SPDX-License-Identifier: Apache-2.0 */
#include "note.h"

const char *const note_kinds[NOTE_KIND_COUNT] = {
	[NOTE_SESSION] = "session", [NOTE_PROCESS] = "process", [NOTE_FILE] = "file",
	[NOTE_CALL] = "call",       [NOTE_NETWORK] = "network", [NOTE_DNS] = "dns",
	[NOTE_SECRET] = "secret",   [NOTE_GRANT] = "grant",     [NOTE_POLICY] = "policy",
	[NOTE_LIMIT] = "limit",     [NOTE_TAMPER] = "tamper",   [NOTE_GAP] = "gap",
	[NOTE_HOLD] = "hold",       [NOTE_APPLY] = "apply",     [NOTE_KEEPING] = "keeping",
	[NOTE_SEAL] = "seal",
};

const struct note_field_info note_fields[NOTE_FIELD_COUNT] = {
	[NOTE_FIELD_OP] = {"op", NOTE_TYPE_WORD},
	[NOTE_FIELD_HOW] = {"how", NOTE_TYPE_WORD},
	[NOTE_FIELD_VERDICT] = {"verdict", NOTE_TYPE_WORD},
	[NOTE_FIELD_COUNT_OF] = {"count", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_EXEC] = {"exec", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_PARENT] = {"parent", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_PID] = {"pid", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_BY] = {"by", NOTE_TYPE_WORD},
	[NOTE_FIELD_PATH] = {"path", NOTE_TYPE_TEXT},
	[NOTE_FIELD_TO] = {"to", NOTE_TYPE_TEXT},
	[NOTE_FIELD_SAID] = {"said", NOTE_TYPE_TEXT},
	[NOTE_FIELD_ARGV] = {"argv", NOTE_TYPE_LIST},
	[NOTE_FIELD_CUT] = {"cut", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_CWD] = {"cwd", NOTE_TYPE_TEXT},
	[NOTE_FIELD_DIGEST] = {"digest", NOTE_TYPE_WORD},
	[NOTE_FIELD_DEVICE] = {"device", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_INODE] = {"inode", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_MODE] = {"mode", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_FLAGS] = {"flags", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_EXIT] = {"exit", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_SIGNAL] = {"signal", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_CALLED] = {"call", NOTE_TYPE_WORD},
	[NOTE_FIELD_HOST] = {"host", NOTE_TYPE_TEXT},
	[NOTE_FIELD_PORT] = {"port", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_ADDRESS] = {"address", NOTE_TYPE_TEXT},
	[NOTE_FIELD_SCHEME] = {"scheme", NOTE_TYPE_WORD},
	[NOTE_FIELD_METHOD] = {"method", NOTE_TYPE_TEXT},
	[NOTE_FIELD_STATUS] = {"status", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_SENT] = {"sent", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_RECEIVED] = {"received", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_MS] = {"ms", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_TYPE] = {"type", NOTE_TYPE_WORD},
	[NOTE_FIELD_SECRET] = {"secret", NOTE_TYPE_TEXT},
	[NOTE_FIELD_RULE] = {"rule", NOTE_TYPE_TEXT},
	[NOTE_FIELD_REASON] = {"reason", NOTE_TYPE_TEXT},
	[NOTE_FIELD_ALLOW] = {"allow", NOTE_TYPE_TEXT},
	[NOTE_FIELD_ORIGIN] = {"origin", NOTE_TYPE_TEXT},
	[NOTE_FIELD_NAME] = {"name", NOTE_TYPE_TEXT},
	[NOTE_FIELD_NUMBER] = {"number", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_PLAN] = {"plan", NOTE_TYPE_WORD},
	[NOTE_FIELD_VERSION] = {"version", NOTE_TYPE_WORD},
	[NOTE_FIELD_FORMAT] = {"format", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_WORKSPACE] = {"workspace", NOTE_TYPE_TEXT},
	[NOTE_FIELD_ACCESS] = {"access", NOTE_TYPE_WORD},
	[NOTE_FIELD_AGENT] = {"agent", NOTE_TYPE_TEXT},
	[NOTE_FIELD_BACKEND] = {"backend", NOTE_TYPE_WORD},
	[NOTE_FIELD_WITHOUT] = {"without", NOTE_TYPE_LIST},
	[NOTE_FIELD_PROBES] = {"probes", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_WATCHED] = {"watched", NOTE_TYPE_WORD},
	[NOTE_FIELD_EVENTS] = {"events", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_UNATTRIBUTED] = {"unattributed", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_CONFIRMED] = {"confirmed", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_TIMES] = {"times", NOTE_TYPE_NUMBER},
	[NOTE_FIELD_REFUSED] = {"refused", NOTE_TYPE_NUMBER},
};

static const struct schema_field note_item_fields[] = {
	SCHEMA_FIELD_U64(struct note_item, field),
	SCHEMA_FIELD_U64(struct note_item, number),
	SCHEMA_FIELD_BYTES(struct note_item, text),
};
static const struct schema note_item_schema = SCHEMA_OF(struct note_item, note_item_fields);

static const struct schema_field message_note_fields[] = {
	SCHEMA_FIELD_U64(struct message_note, id),
	SCHEMA_FIELD_U64(struct message_note, kind),
	SCHEMA_FIELD_BYTES(struct message_note, inside),
	SCHEMA_FIELD_LIST(struct message_note, items, &note_item_schema),
};
static const struct schema message_note_schema =
	SCHEMA_OF(struct message_note, message_note_fields);

static const struct schema_field message_recorded_fields[] = {
	SCHEMA_FIELD_U64(struct message_recorded, id),
};
const struct schema message_recorded_schema =
	SCHEMA_OF(struct message_recorded, message_recorded_fields);

void note_begin(struct note *n, enum note_kind kind, const char *op)
{
	n->m = (struct message_note){.kind = kind, .items = {n->items, 0}};
	note_word(n, NOTE_FIELD_OP, op);
}

/* The next free item; NULL when the note is full.  That is our mistake: the field is then
 * missing. */
static struct note_item *note_next(struct note *n, enum note_field field)
{
	if (n->m.items.count == NOTE_ITEMS_MAX)
		return NULL;
	struct note_item *item = &n->items[n->m.items.count++];

	*item = (struct note_item){.field = field};
	return item;
}

void note_text(struct note *n, enum note_field field, struct span text)
{
	struct note_item *item = text.len ? note_next(n, field) : NULL;

	if (item)
		item->text = (struct span){text.ptr,
					   text.len < NOTE_TEXT_MAX ? text.len : NOTE_TEXT_MAX};
}

void note_word(struct note *n, enum note_field field, const char *word)
{
	note_text(n, field, span_of_str(word));
}

void note_number(struct note *n, enum note_field field, uint64_t number)
{
	struct note_item *item = note_next(n, field);

	if (item)
		item->number = number;
}

void note_encode(struct buf *into, const struct note *n)
{
	schema_encode(into, &message_note_schema, &n->m);
}

static bool note_word_is_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] <= ' ' || s.ptr[i] > '~' || s.ptr[i] == '"' || s.ptr[i] == '\\')
			return false;
	return s.len > 0;
}

static bool note_item_is_good(const struct note_item *item, const struct note_item *before)
{
	if (item->field >= NOTE_FIELD_COUNT || item->text.len > NOTE_TEXT_MAX)
		return false;
	enum note_type type = note_fields[item->field].type;

	if (before && (before->field > item->field ||
		       (before->field == item->field && type != NOTE_TYPE_LIST)))
		return false;
	if (type == NOTE_TYPE_NUMBER)
		return item->text.len == 0;
	return item->number == 0 && (type != NOTE_TYPE_WORD || note_word_is_plain(item->text));
}

int note_decode(struct reader *r, struct message_note *ret, struct arena *arena, struct error *e)
{
	if (reader_left(r) == 0)
		return 0;
	int ret_code = schema_decode(r, &message_note_schema, ret, arena, e);

	if (ret_code < 0)
		return ret_code;
	if (ret->kind >= NOTE_KIND_COUNT || ret->items.count > NOTE_ITEMS_MAX)
		return error_set(e, -EBADMSG, "a note of a kind that does not exist");
	if (ret->inside.len != 0 && ret->inside.len != NOTE_INSIDE)
		return error_set(e, -EBADMSG, "a note of a connection to no address");
	for (size_t i = 0; i < ret->items.count; i++)
		if (!note_item_is_good(&ret->items.items[i], i ? &ret->items.items[i - 1] : NULL))
			return error_set(e, -EBADMSG,
					 "a note with a field that has no place there");
	return 1;
}
