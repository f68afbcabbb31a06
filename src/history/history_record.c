/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn record`: checks whether the records are what was written, and decides what is kept. */
#include "history_record.h"

#include "fd.h"
#include "keep.h"
#include "str.h"

#include <fcntl.h>

/* Each word, how many arguments may follow it, and the options that it takes besides --help. */
static const struct record_word {
	const char *word;
	int (*run)(const struct history *a, const struct invocation *i, struct error *e);
	int min, max; /* -1: any number */
	option_set options;
} record_words[] = {
	{"verify", record_verify, 0, -1,
	 OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_KEY) | OPTION_BIT(OPTION_ANCHOR)},
	{"export", record_export, 0, 1, OPTION_BIT(OPTION_FORMAT) | OPTION_BIT(OPTION_TO)},
	{"send", record_send, 0, -1, 0},
	{"anchor", record_anchor, 0, 1, OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_TO)},
	{"proof", record_proof, 1, 2, OPTION_BIT(OPTION_TO)},
	{"key", record_key, 0, 0, OPTION_BIT(OPTION_TO) | OPTION_BIT(OPTION_YES)},
	{"compress", record_compress, 0, -1, 0},
	{"prune", record_prune, 0, -1,
	 OPTION_BIT(OPTION_OLDER_THAN) | OPTION_BIT(OPTION_KEEP_SIZE) | OPTION_BIT(OPTION_DRY_RUN) |
		 OPTION_BIT(OPTION_YES)},
};

int record_read_file(const char *path, struct buf *into, struct error *e)
{
	int r = fd_read_file_at(AT_FDCWD, path, into);

	return r < 0 ? error_sys(e, r, "cannot read %s", path) : 0;
}

/* Refuses, and does not ignore, an option or argument that this word does not use. */
static int record_check(const struct record_word *w, const struct invocation *i, struct error *e)
{
	int count = i->argument_count - 1;

	for (size_t n = 0; n < i->value_count; n++)
		if (!(w->options >> i->values[n].id & 1))
			return error_set(e, -EINVAL, "'bawn record %s' does not take --%s", w->word,
					 options[i->values[n].id].name);
	if (count < w->min)
		return error_set(e, -EINVAL, "'bawn record %s' needs a SESSION", w->word);
	if (w->max >= 0 && count > w->max)
		return error_set(e, -EINVAL, "'%s' is one argument too many for 'bawn record %s'",
				 i->arguments[w->max + 1], w->word);
	return 0;
}

int history_record(const struct invocation *i)
{
	_cleanup_history_ struct history a = {.store = STORE_INIT};
	struct error e = ERROR_INIT;
	const struct record_word *w = record_words;

	while (!str_equal(w->word, i->arguments[0]))
		w++;
	if (record_check(w, i, &e) < 0) {
		error_next(&e, "Usage: bawn record %s", i->verb->usage);
		verb_complain(&e);
		return EXIT_USAGE;
	}
	int r = history_open(&a, &e);

	if (r == 0)
		r = w->run(&a, i, &e);
	if (r == EXIT_OK)
		keep_tidy(&a.store);
	if (e.code != 0)
		verb_complain(&e);
	return r < 0 ? EXIT_BAWN : r;
}
