/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a.  Anyone can make two names with the same hash, so use it only where that does no harm. */
#ifndef BAWN_FNV_H
#define BAWN_FNV_H

#include "base.h"

#define FNV_START 2166136261u

static inline uint32_t fnv_mix(uint32_t hash, uint32_t value)
{
	return (hash ^ value) * 16777619u;
}

static inline uint32_t fnv_bytes(uint32_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		hash = fnv_mix(hash, at[i]);
	return hash;
}

#define FNV64_START 0xcbf29ce484222325u

static inline uint64_t fnv64_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

#endif
