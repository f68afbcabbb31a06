/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn diff --json`: everything that we know about each change, with digests. */
#include "diff_parts.h"

#include "choice_show.h"
#include "encode.h"

static bool json_is_utf8(struct span s)
{
	while (s.len > 0) {
		uint32_t code_point = 0;
		size_t len = text_utf8(s, &code_point);

		if (len == 0)
			return false;
		s = span_skip(s, len);
	}
	return true;
}

void diff_json_bytes(struct json *j, const char *key, const char *bytes)
{
	_cleanup_buf_ struct buf text = BUF_INIT(DIFF_OUT_MAX);
	struct span s = span_of_str(bytes);

	if (json_is_utf8(s)) {
		json_key_str(j, key, bytes);
		return;
	}
	encode_base64(&text, s);
	json_key(j, key);
	json_open(j, '{');
	json_key_str(j, "b64", buf_str(&text));
	json_close(j, '}');
}

static void json_object(struct json *j, const char *key, const struct object *o)
{
	char mode[8];

	json_key(j, key);
	json_open(j, '{');
	json_key_str(j, "type", object_type_words[o->type]);
	if (o->type != OBJECT_ABSENT) {
		(void)snprintf(mode, sizeof(mode), "%04o", o->mode & 07777U);
		json_key_str(j, "mode", mode);
	}
	if (o->type == OBJECT_FILE)
		json_key_u64(j, "size", o->size);
	if (o->type == OBJECT_LINK)
		diff_json_bytes(j, "link", o->link);
	if (o->hashed && o->type == OBJECT_FILE) {
		_cleanup_buf_ struct buf hex = BUF_INIT(128);

		encode_hex(&hex, (struct span){o->digest, SHA256_SIZE});
		json_key_str(j, o->size > CHANGES_HASH_PLAIN_MAX ? "sha256_blocks" : "sha256",
			     buf_str(&hex));
	}
	json_close(j, '}');
}

static int json_change(struct diff *d, struct json *j, const struct change *c)
{
	_cleanup_content_ struct content content = {.kind = CONTENT_NONE};
	int r = content_read(&d->view, c, -1, &content);

	if (r < 0)
		return r;
	json_open(j, '{');
	diff_json_bytes(j, "path", c->path);
	if (c->from)
		diff_json_bytes(j, "from", c->from);
	json_key_str(j, "kind", change_kind_words[c->kind]);
	json_key_str(j, "group", change_group_words[c->group]);
	if (c->rule)
		json_key_str(j, "rule", c->rule);
	if (c->why)
		json_key_str(j, "why", c->why);
	brought_put_json(j, c);
	if (c->without)
		json_key_str(j, "without", c->without);
	if (c->both)
		json_key_bool(j, "you_changed_it", true);
	json_object(j, "before", &c->before);
	json_object(j, "after", &c->after);
	if (content.kind == CONTENT_TEXT) {
		json_key_u64(j, "lines_added", content.diff.added);
		json_key_u64(j, "lines_removed", content.diff.removed);
		d->totals.added += content.diff.added;
		d->totals.removed += content.diff.removed;
	} else if (content.kind == CONTENT_BINARY) {
		json_key_str(j, "binary", content.type[1] ? content.type[1] : content.type[0]);
	}
	json_close(j, '}');
	return 0;
}

static void json_session(struct json *j, const struct review *r)
{
	json_key(j, "session");
	json_open(j, '{');
	json_key_str(j, "name", r->session.name);
	diff_json_bytes(j, "workspace", r->layers.workspace);
	json_key_str(j, "mode", layers_mode_words[r->session.mode]);
	json_key_bool(j, "runs", r->runs);
	json_key(j, "began");
	json_i64(j, r->session.began);
	if (r->session.ended) {
		json_key(j, "ended");
		json_i64(j, r->session.ended);
	}
	json_close(j, '}');
}

static void json_totals(struct json *j, const struct diff_totals *t)
{
	json_key(j, "summary");
	json_open(j, '{');
	json_key_u64(j, "files", t->tally.files + t->tally.heaped);
	json_key_u64(j, "folders", t->tally.folders);
	json_key_u64(j, "commits", t->tally.commits);
	for (size_t i = 0; i < CHANGE_KIND_COUNT; i++)
		json_key_u64(j, change_kind_words[i], t->kinds[i]);
	for (size_t i = CHANGE_ORDINARY; i < CHANGE_GROUP_COUNT; i++)
		json_key_u64(j, change_group_words[i], t->groups[i]);
	json_key_u64(j, "lines_added", t->added);
	json_key_u64(j, "lines_removed", t->removed);
	json_close(j, '}');
}

int diff_put_json(struct diff *d, struct error *e)
{
	struct json j = JSON_INIT(&d->out, true);
	int r = 0;

	json_open(&j, '{');
	json_session(&j, d->review);
	json_key_bool(&j, "moved", d->changes.moved);
	json_key(&j, "changes");
	json_open(&j, '[');
	for (size_t i = 0; r == 0 && i < d->changes.count; i++) {
		if (d->folding.fates[i] == DIFF_AWAY)
			continue;
		r = json_change(d, &j, &d->changes.items[i]);
		diff_flush(d, false);
	}
	json_close(&j, ']');
	json_totals(&j, &d->totals);
	json_close(&j, '}');
	diff_end_line(d);
	return r < 0 ? error_sys(e, r, "cannot compare the files") : 0;
}
