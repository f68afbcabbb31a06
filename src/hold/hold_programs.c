/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npm and its like: which programs run scripts of package.json by their names, and which start the
 * program behind them.  Hooks, installs, settings and .envrc are all judged by this one table, so
 * that a decision does not differ by where a program is named.
 */
#include "hold_parts.h"

/* What they start finds the programs of node_modules/.bin; node and deno run files, and what else
 * they start does not. */
enum {
	NPM_RUNNER = HOLD_NPM_RUNS | HOLD_NPM_BIN,
	NPM_STARTER = HOLD_NPM_STARTS | HOLD_NPM_BIN,
	NPM_BOTH = NPM_RUNNER | NPM_STARTER,
	NPM_WHOLE = NPM_BOTH | HOLD_NPM_SHORT,
};

static const struct npm_program {
	const char *name;
	unsigned int does;
} npm_programs[] = {
	{"npm", NPM_WHOLE},          {"pnpm", NPM_WHOLE},          {"cnpm", NPM_WHOLE},
	{"tnpm", NPM_WHOLE},         {"yarn", NPM_WHOLE},          {"yarnpkg", NPM_WHOLE},
	{"bun", NPM_WHOLE},          {"corepack", NPM_BOTH},       {"concurrently", NPM_BOTH},
	{"npx", NPM_STARTER},        {"pnpx", NPM_STARTER},        {"bunx", NPM_STARTER},
	{"vlx", NPM_STARTER},        {"run-s", NPM_RUNNER},        {"run-p", NPM_RUNNER},
	{"npm-run-all", NPM_RUNNER}, {"npm-run-all2", NPM_RUNNER}, {"nr", NPM_RUNNER},
	{"turbo", NPM_RUNNER},       {"nx", NPM_RUNNER},           {"rush", NPM_RUNNER},
	{"rushx", NPM_RUNNER},       {"lerna", NPM_RUNNER},        {"wsrun", NPM_RUNNER},
	{"ultra", NPM_RUNNER},       {"vlr", NPM_RUNNER},          {"vlt", NPM_RUNNER},
	{"node", HOLD_NPM_RUNS},     {"deno", HOLD_NPM_RUNS},
};

unsigned int hold_npm_does(struct span program)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(npm_programs); i++)
		if (span_equal(program, span_of_str(npm_programs[i].name)))
			return npm_programs[i].does;
	return 0;
}

/* A letter of a program's name. */
static bool npm_is_letter(uint8_t c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_';
}

const char *hold_word_behind(const char *word, const char *colon)
{
	if (!*colon || !colon[1])
		return NULL;
	bool all = colon[1 + strspn(colon + 1, "*")] == '\0';
	const struct span program = {(const uint8_t *)word, (size_t)(colon - word)};

	return all && hold_npm_does(program) == 0 ? NULL : colon + 1;
}

bool hold_npm_has(struct span text, unsigned int what)
{
	for (size_t from = 0, to; from < text.len; from = to + 1) {
		for (to = from; to < text.len && npm_is_letter(text.ptr[to]);)
			to++;
		if (to > from && hold_npm_does((struct span){text.ptr + from, to - from}) & what)
			return true;
	}
	return false;
}
