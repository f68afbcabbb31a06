/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include "profile_bpf.h"
#include "str.h"

#define PROFILE_SPAN(array) ((struct span){(const uint8_t *)(array), sizeof(array)})

#define PROFILE_BOX_ROW(name, words)                                                             \
	{                                                                                        \
		{PROFILE_SPAN(profile_##name##_bpf), PROFILE_SPAN(profile_##name##_changes_bpf), \
		 PROFILE_SPAN(profile_##name##_names_bpf),                                       \
		 PROFILE_SPAN(profile_##name##_reads_bpf)},                                      \
			{words, words "+changes", words "+names", words "+reads"},               \
	}

/* By enum profile_kind: the boxes come first. */
static const struct {
	struct span bpf[PROFILE_WATCH_COUNT];
	const char *name[PROFILE_WATCH_COUNT];
} profile_boxes[] = {
	[PROFILE_BOX] = PROFILE_BOX_ROW(box, "box"),
	[PROFILE_BOX_DEBUG] = PROFILE_BOX_ROW(box_debug, "box-debug"),
	[PROFILE_BOX_CLOSED] = PROFILE_BOX_ROW(box_closed, "box-closed"),
	[PROFILE_BOX_SYSTEM] = PROFILE_BOX_ROW(box_system, "box-system"),
	[PROFILE_BOX_SYSTEM_DEBUG] = PROFILE_BOX_ROW(box_system_debug, "box-system-debug"),
};

struct span profile_watched_bpf(enum profile_kind kind, enum profile_watch watch)
{
	return kind < BAWN_ARRAY_SIZE(profile_boxes) ? profile_boxes[kind].bpf[watch]
						     : (struct span){NULL, 0};
}

const char *profile_name(enum profile_kind kind, enum profile_watch watch)
{
	return kind < BAWN_ARRAY_SIZE(profile_boxes) ? profile_boxes[kind].name[watch] : "";
}

int profile_by_name(const char *name, enum profile_kind *ret_kind, enum profile_watch *ret_watch)
{
	for (unsigned int kind = 0; kind < BAWN_ARRAY_SIZE(profile_boxes); kind++)
		for (unsigned int watch = 0; watch < PROFILE_WATCH_COUNT; watch++)
			if (str_equal(name, profile_boxes[kind].name[watch])) {
				*ret_kind = kind;
				*ret_watch = watch;
				return 0;
			}
	return -ENOENT;
}

struct span profile_bpf(enum profile_kind kind)
{
	switch (kind) {
	case PROFILE_BOX:
	case PROFILE_BOX_DEBUG:
	case PROFILE_BOX_CLOSED:
	case PROFILE_BOX_SYSTEM:
	case PROFILE_BOX_SYSTEM_DEBUG:
		return profile_watched_bpf(kind, PROFILE_WATCH_NOTHING);
	case PROFILE_KEEPER:
		return PROFILE_SPAN(profile_keeper_bpf);
	case PROFILE_GATE:
		return PROFILE_SPAN(profile_gate_bpf);
	case PROFILE_SIGNER:
		return PROFILE_SPAN(profile_signer_bpf);
	case PROFILE_KEYS:
		return PROFILE_SPAN(profile_keys_bpf);
	case PROFILE_RESOLVER:
		return PROFILE_SPAN(profile_resolver_bpf);
	case PROFILE_RECORDER:
		return PROFILE_SPAN(profile_recorder_bpf);
	case PROFILE_SENDER:
		return PROFILE_SPAN(profile_sender_bpf);
	case PROFILE_COVERS:
		return PROFILE_SPAN(profile_covers_bpf);
	case PROFILE_SYNCER:
		return PROFILE_SPAN(profile_syncer_bpf);
	case PROFILE_SCREEN:
		return PROFILE_SPAN(profile_screen_bpf);
	case PROFILE_READER:
		return PROFILE_SPAN(profile_reader_bpf);
	case PROFILE_REVIEW:
		return PROFILE_SPAN(profile_review_bpf);
	case PROFILE_MAKER:
		return PROFILE_SPAN(profile_maker_bpf);
	}
	return (struct span){NULL, 0};
}
