/* SPDX-License-Identifier: Apache-2.0 */
#include "published.h"

#include <arpa/inet.h>
#include <stdlib.h>

static int published_bad(const char *text, struct error *e)
{
	(void)error_set(e, -EINVAL, "'%s' is no port", text);
	error_next(e, "Write PORT, PORT:HOSTPORT or PORT:ADDRESS:HOSTPORT, as in 3000:8080.");
	return e->code;
}

/* The number at *at, which ends there or before `end`; false: there is none from 1 to 65535. */
static bool published_number(const char **at, char end, uint16_t *ret)
{
	char *stop = NULL;
	unsigned long n = **at >= '0' && **at <= '9' ? strtoul(*at, &stop, 10) : 0;

	if (n == 0 || n > UINT16_MAX || (*stop != '\0' && *stop != end))
		return false;
	*ret = (uint16_t)n;
	*at = *stop ? stop + 1 : stop;
	return true;
}

/* "192.0.2.1:8080", "[::1]:8080" */
static bool published_address(const char *text, struct published *p)
{
	char name[INET6_ADDRSTRLEN];
	struct in_addr v4;
	bool bracket = *text == '[';
	const char *end = bracket ? strchr(text, ']') : strchr(text, ':');
	const char *from = text + bracket, *at = end ? end + 1 + bracket : NULL;

	if (!end || (bracket && end[1] != ':') || (size_t)(end - from) >= sizeof(name))
		return false;
	memcpy(name, from, (size_t)(end - from));
	name[end - from] = '\0';
	if (!bracket && inet_pton(AF_INET, name, &v4) == 1) {
		p->address = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
		memcpy(p->address.s6_addr + 12, &v4, 4);
		p->everywhere = p->address.s6_addr[12] != 127;
	} else if (bracket && inet_pton(AF_INET6, name, &p->address) == 1) {
		p->everywhere = !IN6_IS_ADDR_LOOPBACK(&p->address);
	} else {
		return false;
	}
	return published_number(&at, '\0', &p->outside);
}

int published_parse(const char *text, struct published *ret_port, struct error *e)
{
	const char *at = text;

	*ret_port = (struct published){.inside = 0};
	if (!published_number(&at, ':', &ret_port->inside))
		return published_bad(text, e);
	if (*at == '\0')
		return at[-1] == ':' ? published_bad(text, e) : 0;
	if (*at == '[' || strchr(at, ':') ? !published_address(at, ret_port)
					  : !published_number(&at, '\0', &ret_port->outside))
		return published_bad(text, e);
	return 0;
}

void published_words(struct buf *into, const struct published *p)
{
	char host[INET6_ADDRSTRLEN] = "127.0.0.1";
	bool v4 = IN6_IS_ADDR_V4MAPPED(&p->address);

	if (v4)
		(void)inet_ntop(AF_INET, p->address.s6_addr + 12, host, sizeof(host));
	else if (!IN6_IS_ADDR_UNSPECIFIED(&p->address) || p->everywhere)
		(void)inet_ntop(AF_INET6, &p->address, host, sizeof(host));
	buf_putf(into, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
		 p->outside ? p->outside : p->inside);
	if (p->outside == 0)
		buf_put_str(into, ", or another port where that is taken");
}
