/* SPDX-License-Identifier: Apache-2.0 */
#include "why_path.h"

#include "str.h"
#include "words.h"

enum { WHY_PATH_BYTES_MAX = 64 << 10 };

const struct plan_mount *why_path_mount(const struct plan *p, const char *path)
{
	const struct plan_mount *found = p->root.count > 0 ? &p->root.items[0] : NULL;

	/* In the order in which they are made: a later one lies on top. */
	for (size_t i = 0; i < p->mounts.count; i++)
		if (str_path_beneath(path, p->mounts.items[i].target))
			found = &p->mounts.items[i];
	return found;
}

/* One word for the answer, and what it means. */
static const char *why_path_word(const struct plan *p, const struct plan_mount *m,
				 const char **ret_meaning)
{
	if (!m) {
		*ret_meaning = "the box has no such path: nothing in the plan names it";
		return "not shown";
	}
	switch ((enum plan_mount_kind)m->kind) {
	case PLAN_MOUNT_BIND:
		if (str_equal(m->target, "/")) {
			*ret_meaning = "of the system that the box stands on; yours is not seen";
			return "its own";
		}
		*ret_meaning =
			m->access == PLAN_ACCESS_WRITE && p->workspace_mode == PLAN_MODE_REVIEW &&
					str_equal(m->target, p->workspace)
				? "the box sees yours, and its writes land when you apply them"
			: m->access == PLAN_ACCESS_WRITE
				? "the box sees yours, and its writes land at once"
			: m->access == PLAN_ACCESS_READ ? "the box sees yours, and cannot change it"
							: "it is there and cannot be opened";
		return m->access == PLAN_ACCESS_WRITE  ? "writable"
		       : m->access == PLAN_ACCESS_READ ? "readable"
						       : "closed";
	case PLAN_MOUNT_TMPFS:
		*ret_meaning = "a private folder of the box's, gone at the end; yours is not seen";
		return "private";
	case PLAN_MOUNT_HIDE:
		*ret_meaning = "something empty and unreadable lies over it";
		return "hidden";
	case PLAN_MOUNT_PROC:
	case PLAN_MOUNT_DEV:
	case PLAN_MOUNT_DIR:
	case PLAN_MOUNT_FILE:
	case PLAN_MOUNT_LINK:
	case PLAN_MOUNT_TRUST:
	case PLAN_MOUNT_SOCKET:
		*ret_meaning = "the box has one of its own; yours is not seen";
		return "its own";
	}
	*ret_meaning = "";
	return "?";
}

void why_path_print(const struct text *t, const struct plan *p, const char *path, const char *where)
{
	const struct plan_mount *m = why_path_mount(p, path);
	const char *meaning, *word = why_path_word(p, m, &meaning);
	_cleanup_buf_ struct buf words = BUF_INIT(WHY_PATH_BYTES_MAX);

	text_styled(t, !m || m->kind == PLAN_MOUNT_HIDE ? TEXT_BAD : TEXT_GOOD, "%-9s ", word);
	words_path(&words, p, path);
	text_printf(t, "%s  (%s)\n", buf_str(&words), where);
	text_printf(t, "          %s\n", meaning);
	buf_clear(&words);
	if (m) {
		buf_put_str(&words, "by the entry for ");
		words_path(&words, p, m->target);
		buf_put_str(&words, " (");
		words_text(&words, p, m->origin);
		buf_put_char(&words, ')');
		text_printf(t, "          %s\n", buf_str(&words));
	}
	if (!m || (m->kind == PLAN_MOUNT_BIND && m->access == PLAN_ACCESS_READ)) {
		buf_clear(&words);
		words_path(&words, p, path);
		text_printf(
			t, "          to open it: bawn run --%s %s, or files: %s: in config.yaml\n",
			m ? "write" : "read", buf_str(&words), m ? "write" : "read");
	}
}

void why_path_json(struct json *j, const struct plan *p, const char *path)
{
	const struct plan_mount *m = why_path_mount(p, path);
	const char *meaning, *word = why_path_word(p, m, &meaning);

	json_open(j, '{');
	json_key_str(j, "path", path);
	json_key_str(j, "seen", word);
	json_key_str(j, "meaning", meaning);
	json_key_str(j, "entry", m ? m->target : "");
	json_key_str(j, "origin", m ? m->origin : "");
	json_close(j, '}');
}
