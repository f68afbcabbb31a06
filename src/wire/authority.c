/* SPDX-License-Identifier: Apache-2.0 */
#include "authority.h"

static int parse_port(struct span s, uint16_t *ret)
{
	uint32_t port = 0;

	if (s.len == 0 || s.len > 5 || s.ptr[0] == '0')
		return -EINVAL;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return -EINVAL;
		port = port * 10 + (s.ptr[i] - '0');
	}
	if (port > UINT16_MAX)
		return -EINVAL;
	*ret = (uint16_t)port;
	return 0;
}

int authority_parse_host(struct span raw, struct authority *ret)
{
	struct authority a = {0};
	int r = name_parse(raw, &a.name);

	if (r == -EADDRNOTAVAIL) {
		a.is_address = true;
		r = address_parse(raw, 0, &a.address);
	}
	if (r == 0)
		*ret = a;
	return r;
}

static int parse_v6(struct span raw, struct authority *ret)
{
	if (!memchr(raw.ptr, ':', raw.len))
		return -EINVAL;
	ret->is_address = true;
	return address_parse(raw, 0, &ret->address);
}

int authority_parse(struct span raw, struct authority *ret)
{
	struct authority a = {0};
	bool brackets = raw.len > 0 && raw.ptr[0] == '[';
	const uint8_t *end = raw.len > 0 ? memchr(raw.ptr, brackets ? ']' : ':', raw.len) : NULL;
	size_t host = end ? (size_t)(end - raw.ptr) : raw.len;
	int r;

	if (brackets) {
		if (!end)
			return -EINVAL;
		r = parse_v6((struct span){raw.ptr + 1, host - 1}, &a);
		host++;
	} else {
		r = authority_parse_host((struct span){raw.ptr, host}, &a);
	}
	if (r < 0)
		return r;
	if (host < raw.len) {
		if (raw.ptr[host] != ':')
			return -EINVAL;
		r = parse_port((struct span){raw.ptr + host + 1, raw.len - host - 1}, &a.port);
		if (r < 0)
			return r;
	}
	*ret = a;
	return 0;
}

bool authority_same_host(const struct authority *a, const struct authority *b)
{
	if (a->is_address != b->is_address)
		return false;
	return a->is_address ? address_equal(&a->address, &b->address)
			     : name_equal(&a->name, &b->name);
}
