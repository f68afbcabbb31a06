/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

static const struct probe_group table_end = {NULL, 0};

/* Every group, in the order in which the probes run; ends with a group of no rows. */
static const struct probe_group *const probe_groups[] = {
	&probe_rows_process,    &probe_rows_start,     &probe_rows_proc,     &probe_rows_calls,
	&probe_rows_namespaces, &probe_rows_sockets,   &probe_rows_terminal, &probe_rows_devices,
	&probe_rows_places,     &probe_rows_readonly,  &probe_rows_network,  &probe_rows_gate,
	&probe_rows_services,   &probe_rows_variables, &probe_rows_state,    &table_end,
};

const char *const probe_promise_words[PROBE_PROMISE_COUNT] = {
	[PROBE_FILES] = "files",         [PROBE_LATER] = "later",   [PROBE_SECRETS] = "secrets",
	[PROBE_NETWORK] = "network",     [PROBE_RECORD] = "record", [PROBE_MACHINE] = "machine",
	[PROBE_WEAKENING] = "weakening",
};

const char *const probe_promise_titles[PROBE_PROMISE_COUNT] = {
	[PROBE_FILES] = "Your files",
	[PROBE_LATER] = "Your later commands",
	[PROBE_SECRETS] = "Your secrets",
	[PROBE_NETWORK] = "Your network",
	[PROBE_RECORD] = "Your record",
	[PROBE_MACHINE] = "Your machine",
	[PROBE_WEAKENING] = "No silent weakening",
};

size_t probe_count(void)
{
	size_t count = 0;

	for (size_t g = 0; probe_groups[g]->rows; g++)
		count += probe_groups[g]->count;
	return count;
}

const struct probe *probe_at(size_t index)
{
	for (size_t g = 0; probe_groups[g]->rows; g++) {
		if (index < probe_groups[g]->count)
			return &probe_groups[g]->rows[index];
		index -= probe_groups[g]->count;
	}
	return NULL;
}
