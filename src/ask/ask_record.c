/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn record`: are the records what was written, and what is kept of them. */
#include "ask_record.h"

#include "fd.h"
#include "str.h"
#include "text.h"
#include "verify.h"

#include <unistd.h>

/* One session, from its first segment to its last. */
static int record_read(const struct ask *a, const struct store_session *s,
		       struct verify_result *ret, struct error *e)
{
	_cleanup_fd_ int folder = store_open_session(&a->store, s, e);
	struct verify v;

	if (folder < 0)
		return folder;
	verify_begin(&v, NULL, ret);
	for (uint32_t number = 1;; number++) {
		_cleanup_segment_ struct segment segment = SEGMENT_INIT;
		int r = segment_open(folder, number, &segment, e);

		if (r < 0 && r != -ENOENT)
			return r;
		if (r < 0 || !verify_segment(&v, segment.bytes))
			break;
	}
	verify_end(&v);
	return 0;
}

static int record_verify_one(const struct text *t, const struct ask *a,
			     const struct store_session *s, struct error *e)
{
	struct verify_result v;
	int r = record_read(a, s, &v, e);

	if (r < 0)
		return r;
	if (v.state == VERIFY_BROKEN) {
		text_printf(t, "%s  wrong: segment %u, offset %llu, event %llu: %s\n", s->folder,
			    v.segment, (unsigned long long)v.offset, (unsigned long long)v.seq,
			    v.why);
		return EXIT_FOUND;
	}
	text_printf(t, "%s  %s, %llu events\n", s->folder,
		    v.state == VERIFY_WHOLE          ? "unanchored"
		    : store_is_running(&a->store, s) ? "running"
						     : "interrupted",
		    (unsigned long long)v.events);
	return v.state == VERIFY_WHOLE ? EXIT_OK : EXIT_INTERRUPTED;
}

int ask_record_verify(const struct ask *a, const struct invocation *i, struct error *e)
{
	struct text t = text_open(STDOUT_FILENO);
	int worst = EXIT_OK;
	size_t count = i->argument_count > 1 ? (size_t)i->argument_count - 1 : a->store.count;

	for (size_t n = 0; n < count; n++) {
		const struct store_session *s =
			i->argument_count > 1 ? store_find(&a->store, i->arguments[n + 1], e)
					      : &a->store.sessions[n];
		int r = s ? record_verify_one(&t, a, s, e) : e->code;

		if (r < 0)
			return r;
		if (r == EXIT_FOUND || worst == EXIT_OK)
			worst = r;
	}
	return worst;
}

static const struct {
	const char *word;
	int (*run)(const struct ask *a, const struct invocation *i, struct error *e);
} record_verbs[] = {
	{"verify", ask_record_verify},
	{"export", ask_record_export},
	{"send", ask_record_send},
};

int ask_record(const struct invocation *i)
{
	_cleanup_ask_ struct ask a;
	struct error e = ERROR_INIT;
	int r = ask_open(&a, &e);

	for (size_t n = 0; r == 0 && n < BAWN_ARRAY_SIZE(record_verbs); n++)
		if (str_equal(record_verbs[n].word, i->arguments[0])) {
			r = record_verbs[n].run(&a, i, &e);
			break;
		}
	if (e.code != 0)
		verb_complain(&e);
	return r < 0 ? EXIT_BAWN : r;
}
