/* SPDX-License-Identifier: Apache-2.0 */
#include "introduce.h"

#include "clock.h"
#include "message_control.h"
#include "record_folder.h"
#include "session_store.h"

#include <unistd.h>

int introduce_session(const struct client_options *options, int channel)
{
	const struct session_store *s = options->session;

	if (!s)
		return 0;
	struct message_session m = {.name = s->name,
				    .since = (uint64_t)clock_s(CLOCK_REALTIME),
				    .pid = (uint64_t)getpid(),
				    .why = ""};
	const int fds[4] = {s->listener, s->folder, options->layers, options->shared};

	return message_send(channel, MESSAGE_CONTROL, &message_session_schema, &m, fds,
			    options->layers < 0   ? 2
			    : options->shared < 0 ? 3
						  : 4);
}

int introduce_record(const struct client_options *options, int channel)
{
	const struct record_folder *f = options->record;

	if (!f)
		return 0;
	int first = options->first;
	int shared = first >= 0 ? options->shared_first : -1;
	const struct message_record m = {
		.name = f->session, .folder = f->name, .first = first >= 0, .shared = shared >= 0};
	const int fds[4] = {f->all, f->own, first, shared};

	return message_send(channel, MESSAGE_RECORD, &message_record_schema, &m, fds,
			    2 + (first >= 0) + (shared >= 0));
}
