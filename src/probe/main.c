/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-probe: runs inside the box, on behalf of `bawn verify`.  Reads the facts
 * (facts.h) from standard input, runs every attempt of the table in a child of
 * its own, and prints one line for each, in the table's order:
 *
 *	name TAB outcome TAB note NEWLINE
 *
 * and last "end TAB count".  verify judges outside: a box that could change this program could only
 * make itself look open or broken.  To look closed it would have to know each expected refusal.
 */
#include "fd.h"
#include "run.h"
#include "scan.h"
#include "text.h"

#include <fcntl.h>
#include <unistd.h>

/* Notes what can only be seen before this process does anything else. */
static void main_look(struct buf *facts)
{
	char list[PROBE_NOTE_MAX];
	char word[24];

	/* Before any file is opened here. */
	(void)scan_descriptors(list, sizeof(list));
	facts_put(facts, "inside.descriptors", list);
	facts_putf(facts, "inside.session", "%d", getsid(0));
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int outcome = fd < 0 ? -errno : PROBE_DONE;

	if (fd >= 0)
		(void)close(fd);
	facts_put(facts, "inside.tty", probe_outcome_word(outcome, word, sizeof(word)));
}

int main(void)
{
	static struct facts facts;
	_cleanup_buf_ struct buf text = BUF_INIT(FACTS_BYTES_MAX);

	main_look(&text);
	if (fd_read_all(STDIN_FILENO, &text) < 0 || facts_parse(buf_span(&text), &facts) < 0) {
		struct text err = text_open(STDERR_FILENO);

		text_printf(&err, "bawn-probe: the facts on standard input make no sense; it is "
				  "started by `bawn verify`\n");
		return 2;
	}
	for (size_t i = 0; probe_at(i); i++) {
		const struct probe *p = probe_at(i);
		_cleanup_buf_ struct buf line = BUF_INIT(4096);
		struct run_result result;

		run_attempt(p, &facts, &result);
		run_format(&line, p, &result);
		if (fd_write_all(STDOUT_FILENO, line.ptr, line.len) < 0)
			return 1;
	}
	_cleanup_buf_ struct buf end = BUF_INIT(64);

	buf_putf(&end, "end\t%zu\n", probe_count());
	return fd_write_all(STDOUT_FILENO, end.ptr, end.len) < 0;
}
