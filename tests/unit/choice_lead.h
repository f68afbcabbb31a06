/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what lands: the changes of a session, judged, picked, and landed for real. */
#ifndef BAWN_TEST_CHOICE_LEAD_H
#define BAWN_TEST_CHOICE_LEAD_H

#include "review_lead.h"

#include "choice.h"
#include "str.h"

struct world {
	struct review_lead lead;
	struct choices choices;
};

static inline int world_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	review_lead_open(&w->lead);
	w->choices = CHOICES_INIT;
	*state = w;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct world *w = *state;

	choices_fini(&w->choices);
	review_lead_close(&w->lead);
	free(w);
	return 0;
}

static inline int mine(const struct world *w)
{
	return w->lead.lead.tree;
}

static inline int theirs(const struct world *w)
{
	return w->lead.up;
}

static inline void read_choices(struct world *w)
{
	struct error e = ERROR_INIT;

	choices_fini(&w->choices);
	if (choices_read(&w->lead.review, &w->choices, &e) < 0)
		fail_msg("%s", e.text);
}

static inline bool is_changed(const struct world *w, const char *path)
{
	return changes_find(&w->choices.changes, path) != NULL;
}

static inline struct choice *choice_at(const struct world *w, const char *path)
{
	const struct change *c = changes_find(&w->choices.changes, path);

	if (!c)
		fail_msg("nothing is changed at %s", path);
	return &w->choices.items[c ? c - w->choices.changes.items : 0];
}

static inline enum choice_state state_of(const struct world *w, const char *path)
{
	return choice_at(w, path)->state;
}

static inline struct pathspecs specs_of(struct world *w, char **names, int count)
{
	const struct invocation i = {.arguments = names, .argument_count = count};
	struct pathspecs specs;
	struct error e = ERROR_INIT;

	if (choices_specs(&w->choices, &i, OPTION_COUNT, &specs, &e) < 0)
		fail_msg("%s", e.text);
	return specs;
}

/* The content of a file; "" when there is none. */
static inline const char *text_at(int dir, const char *path)
{
	static char text[4096];
	_cleanup_fd_ int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static inline unsigned int mode_at(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode & 07777;
}

static inline void settle(struct world *w)
{
	struct error e = ERROR_INIT;

	if (choices_settle(&w->choices, &e) < 0)
		fail_msg("%s", e.text);
}

/* As `bawn apply` does, once everything is chosen. */
static inline void land_choices(struct world *w)
{
	_cleanup_fd_ int journal = layers_journal(&w->lead.lead.layers, true);
	struct choice_steps steps;
	struct land_result result = {.landed = 0};
	struct error e = ERROR_INIT;

	settle(w);
	int r = choices_pin(&w->choices, &e);

	if (r == 0)
		r = choices_steps(&w->choices, &steps, &e);
	const struct land_how how = {.tree = mine(w),
				     .journal = journal,
				     .what = "apply",
				     .open = choices_open,
				     .context = &steps};

	if (r == 0 && steps.count > 0)
		r = land(&how, steps.items, steps.count, &result, &e);
	if (r == 0)
		r = choices_rebase(&w->choices, result.number, &e);
	if (r < 0)
		fail_msg("%s", e.text);
}

#endif
