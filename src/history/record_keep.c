/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn record compress` and `prune`: how records are kept, and removed when the user asks. */
#include "history_record.h"
#include "room.h"
#include "keep.h"

#include "dir.h"
#include "fd.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* --- compress ------------------------------------------------------------------------- */

int record_compress(const struct history *a, const struct invocation *i, struct error *e)
{
	struct text t = text_open(STDOUT_FILENO);
	int done = 0;

	if (i->argument_count == 1)
		done = keep_compress_all(&a->store, e);
	for (int n = 1; done >= 0 && n < i->argument_count; n++) {
		const struct store_session *s = store_find(&a->store, i->arguments[n], e);
		int r = s ? keep_compress(&a->store, s, 0, e) : e->code;

		done = r < 0 ? r : done + r;
	}
	if (done < 0)
		return done;
	text_printf(&t, "%d segment%s compressed\n", done, done == 1 ? "" : "s");
	return EXIT_OK;
}

/* --- prune ---------------------------------------------------------------------------- */

/* What may go. */
struct keep_rule {
	bool has_age, has_size, has_before, dry;
	uint64_t age, size;
	/*
	 * `bawn prune` says a moment, @SECONDS since 1970, in the place of an age; @SECONDS:size
	 * where the size is why.
	 */
	int64_t before;
	const char *because;
	char *const *names; /* of sessions, NULL at the end; of none: by the rest */
};

static int keep_read_rule(const struct invocation *i, struct keep_rule *ret, struct error *e)
{
	const char *age = invocation_value(i, OPTION_OLDER_THAN);
	uint64_t moment = 0;
	int r = 0;

	*ret = (struct keep_rule){.dry = invocation_has(i, OPTION_DRY_RUN),
				  .names = i->arguments + 1};
	if (!age && !invocation_has(i, OPTION_KEEP_SIZE) && !*ret->names)
		return error_set(e, -EINVAL,
				 "say what may go: --older-than AGE, --keep-size SIZE, or both; or "
				 "a session's name");
	const char *end = age ? strchr(age, ':') : NULL;
	char digits[24] = "";

	if (age && age[0] == '@')
		(void)snprintf(digits, sizeof(digits), "%.*s",
			       (int)(end ? end - age - 1 : (ptrdiff_t)strlen(age + 1)), age + 1);
	ret->has_before = str_parse_u64(digits, &moment) == 0 && moment <= INT64_MAX &&
			  (!end || str_equal(end, ":size"));
	ret->before = ret->has_before ? (int64_t)moment : 0;
	ret->because = end ? "size" : "age";
	if (!ret->has_before)
		r = invocation_amount(i, OPTION_OLDER_THAN, AMOUNT_AGE, &ret->has_age, &ret->age,
				      e);
	return r < 0 ? r
		     : invocation_amount(i, OPTION_KEEP_SIZE, AMOUNT_SIZE, &ret->has_size,
					 &ret->size, e);
}

static bool keep_is_named(const struct keep_rule *rule, const struct store_session *s)
{
	for (char *const *name = rule->names; *name; name++)
		if (str_equal(*name, s->name) || str_equal(*name, s->folder))
			return true;
	return false;
}

/* Why it goes; NULL when it stays.  total: of all that still stand, this one and newer. */
static const char *keep_reason(const struct keep_rule *rule, const struct store_session *s,
			       uint64_t total)
{
	int64_t now = (int64_t)time(NULL);

	if (*rule->names && !keep_is_named(rule, s))
		return NULL;
	if (*rule->names && !rule->has_age && !rule->has_size && !rule->has_before)
		return "name";
	if (rule->has_before && s->start < rule->before)
		return rule->because;
	if (rule->has_age && s->start < now && (uint64_t)(now - s->start) > rule->age)
		return "age";
	return rule->has_size && total > rule->size ? "size" : NULL;
}

/* For `bawn prune`: whether the session still exists, because it waits, runs or can be undone: then
 * its record stays.  The folder of a workspace has a folder of its name. */
static bool keep_is_there(const struct history *a, const char *name)
{
	_cleanup_fd_ int all = open(a->host.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0;
	_cleanup_dir_ DIR *dir = all < 0 ? NULL : dir_open(all, "workspaces", &r);
	char path[STORE_FOLDER_SIZE + 2 * NAME_MAX];

	/* If we cannot look, it may exist. */
	if (!dir)
		return all < 0 || r != -ENOENT;
	for (const struct dirent *d; (d = dir_next(dir, &r));) {
		(void)snprintf(path, sizeof(path), "%s/sessions/%s", d->d_name, name);
		if (faccessat(dirfd(dir), path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return r < 0;
}

static int keep_prune(const struct history *a, const struct keep_rule *rule,
		      const struct audit *audit, struct error *e)
{
	struct text t = text_open(STDOUT_FILENO);
	_cleanup_buf_ struct buf freed = BUF_INIT(64);
	uint64_t total = 0, gone = 0, count = 0;

	if (!rule->dry)
		keep_sweep(&a->store);
	for (size_t n = 0; n < a->store.count; n++)
		total += keep_size(&a->store, &a->store.sessions[n]);
	for (size_t n = 0; n < a->store.count; n++) {
		const struct store_session *s = &a->store.sessions[n];
		const struct audit_session *entered = audit_find(audit, s->folder);
		bool left = entered && entered->removed;
		const char *reason = left ? entered->reason : keep_reason(rule, s, total);
		uint64_t size = keep_size(&a->store, s);

		/* A record that the ledger does not know must not be lost: verify tells of it. */
		if (!reason || (!entered && size > 0) || store_is_running(&a->store, s) ||
		    (rule->before > 0 && !left && keep_is_there(a, s->name)))
			continue;
		int r = rule->dry ? 0 : keep_remove(&a->store, s, entered, reason, e);

		if (r == -EBUSY)
			continue;
		if (r < 0)
			return r;
		total -= size;
		gone += size;
		count++;
		text_printf(&t, "%s  %s, for its %s\n", s->folder,
			    rule->dry ? "would be removed" : "removed", reason);
	}
	room_put_size(&freed, gone);
	text_printf(&t, "%" PRIu64 " record%s, %s\n", count, count == 1 ? "" : "s",
		    buf_str(&freed));
	return EXIT_OK;
}

int record_prune(const struct history *a, const struct invocation *i, struct error *e)
{
	_cleanup_audit_ struct audit audit = {.count = 0};
	struct keep_rule rule;
	int r = keep_read_rule(i, &rule, e);

	if (r < 0)
		return EXIT_USAGE;
	if (a->store.dir < 0)
		return EXIT_OK;
	r = audit_ledger(a->store.dir, NULL, &audit, e);
	if (r == 0 && audit.why[0]) {
		r = error_set(e, -EBADMSG, "the ledger is not what was written: %s", audit.why);
		error_next(e,
			   "Nothing is removed while that is so. 'bawn record verify' says more.");
	}
	return r < 0 ? r : keep_prune(a, &rule, &audit, e);
}
