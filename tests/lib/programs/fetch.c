/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the answer of a host to one plain GET; a client of tests/scenario/clients, by musl. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	char text[4096];

	int r = argc == 2 ? getaddrinfo(argv[1], "80", &hints, &found) : EAI_NONAME;
	if (r != 0) {
		puts(gai_strerror(r));
		return 2;
	}
	for (; found; found = found->ai_next) {
		int fd = socket(found->ai_family, SOCK_STREAM, 0);

		if (connect(fd, found->ai_addr, found->ai_addrlen) != 0)
			continue;
		ssize_t len = snprintf(
			text, sizeof(text),
			"GET /musl HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[1]);
		if (write(fd, text, (size_t)len) != len || shutdown(fd, SHUT_WR) != 0)
			return 3;
		while ((len = read(fd, text, sizeof(text))) > 0)
			fwrite(text, 1, (size_t)len, stdout);
		return len < 0 ? 4 : 0;
	}
	return 5;
}
