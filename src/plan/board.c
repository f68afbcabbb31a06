/* SPDX-License-Identifier: Apache-2.0 */
#include "board.h"

#include "buf.h"
#include "fd.h"
#include "fnv.h"

#include <fcntl.h>
#include <unistd.h>

#define BOARD_MAGIC "bawn-b1\n"

/* As on the page. */
struct board_head {
	char magic[8];
	uint64_t sum;
	uint32_t state, plan; /* bytes */
};

enum {
	BOARD_ROOM = BOARD_BYTES - sizeof(struct board_head),
};

static uint64_t board_sum(const struct board_head *head, const uint8_t *bytes)
{
	uint64_t sum = fnv64_bytes(FNV64_START, &head->state, sizeof(head->state));

	sum = fnv64_bytes(sum, &head->plan, sizeof(head->plan));
	return fnv64_bytes(sum, bytes, (size_t)head->state + head->plan);
}

int board_open(int folder)
{
	int fd = openat(folder, BOARD_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);

	return fd < 0 ? -errno : fd;
}

/* Written by one call, over what was there: that needs no room on the disk. */
int board_write(int board, const struct message_session *state, const struct plan *plan)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BOARD_ROOM);
	struct board_head head = {.magic = BOARD_MAGIC};
	uint8_t bytes[BOARD_BYTES] = {0};

	schema_encode(&text, &message_session_schema, state);
	head.state = (uint32_t)text.len;
	schema_encode(&text, &plan_brief_schema, plan);
	head.plan = (uint32_t)text.len - head.state;
	if (buf_error(&text) == 0) {
		head.sum = board_sum(&head, (const uint8_t *)text.ptr);
		memcpy(bytes, &head, sizeof(head));
		memcpy(bytes + sizeof(head), text.ptr, text.len);
	}
	ssize_t n = pwrite(board, bytes, sizeof(bytes), 0);

	return n == (ssize_t)sizeof(bytes) ? 0 : n < 0 ? -errno : -EIO;
}

int board_read(struct span page, struct message_session *ret_state, const struct plan **ret_plan,
	       struct arena *arena)
{
	struct error ignored = ERROR_INIT;
	struct board_head head;

	if (page.len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, page.ptr, sizeof(head));
	const struct span rest = span_skip(page, sizeof(head));

	if (memcmp(head.magic, BOARD_MAGIC, sizeof(head.magic)) != 0 || head.state > rest.len ||
	    head.plan > rest.len - head.state || board_sum(&head, rest.ptr) != head.sum)
		return -EBADMSG;
	struct reader state = reader_of((struct span){rest.ptr, head.state});
	struct reader plan = reader_of((struct span){rest.ptr + head.state, head.plan});

	struct plan *brief = arena_alloc(arena, sizeof(*brief));

	if (!brief)
		return -ENOMEM;
	memset(brief, 0, sizeof(*brief));
	if (schema_decode(&state, &message_session_schema, ret_state, arena, &ignored) < 0 ||
	    schema_decode(&plan, &plan_brief_schema, brief, arena, &ignored) < 0)
		return -EBADMSG;
	*ret_plan = brief;
	return 0;
}
