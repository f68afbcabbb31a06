/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every program of CI's build with sanitizers: the parts of a box run without an
 * environment that could say this.  What they find is an end with a status of its own and, where
 * they can write one, a report in the folder that BAWN_SANITIZED names.  Who looks for leaks says
 * so (ASAN_OPTIONS): the parts that are confined may not.
 */
#define SANITIZED_TEXT(words) #words
#define SANITIZED_PLACE(words) SANITIZED_TEXT(words)

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:use_sigaltstack=0:exitcode=99:log_path=" SANITIZED_PLACE(
		BAWN_SANITIZED) "/address";
}

const char *__ubsan_default_options(void)
{
	return "halt_on_error=1:print_stacktrace=1:exitcode=98:log_path=" SANITIZED_PLACE(
		BAWN_SANITIZED) "/undefined";
}
