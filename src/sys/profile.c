/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include "profile_bpf.h"

#define PROFILE_SPAN(array) ((struct span){(const uint8_t *)(array), sizeof(array)})

struct span profile_bpf(enum profile_kind kind)
{
	switch (kind) {
	case PROFILE_BOX:
		return PROFILE_SPAN(profile_box_bpf);
	case PROFILE_BOX_DEBUG:
		return PROFILE_SPAN(profile_box_debug_bpf);
	case PROFILE_BOX_CLOSED:
		return PROFILE_SPAN(profile_box_closed_bpf);
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
	}
	return (struct span){NULL, 0};
}
