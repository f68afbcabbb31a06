/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn completion SHELL`.  Each script is a fixed frame, which knows how a command line is built
 * (parse.h), and lists made from the tables.  The name of a value in the table says how it is
 * completed: DIR is a folder, PATH any file, NAME[=VALUE] a variable, and words are words;
 * --release is completed by what is held.
 *
 * tests/scenario/completion.sh drives the bash and fish scripts as their shells do.
 */
#include "help.h"
#include "parse.h"
#include "str.h"

/* Prints what is held, each with its rule and its outermost folder; not what goes with another one,
 * nor names that a shell would split.  A list (--stat) does not count as shown. */
#define COMPLETION_HELD                                                         \
	"bawn diff --held --stat --json 2>/dev/null |\n"                        \
	"		awk -F'\"' '/^ *\"path\":/ { p = $4 } /^ *\"rule\":/ { r = $4 } /^ " \
	"*\"with\":/ { p = \"\" }\n"                                            \
	"			/^ *\"before\":/ { if (p ~ /^[A-Za-z0-9._\\/@+-]+$/) { print p; "   \
	"print "                                                                \
	"r;\n"                                                                  \
	"				if (i = index(p, \"/\")) print substr(p, 1, i) }; p = r "          \
	"= "                                                                    \
	"\"\" }' |\n"                                                           \
	"		sort -u\n"

/* All sessions that are recorded, and all labels (src/state/session_names.h). */
#define COMPLETION_LIST(state)                                                                   \
	"	ls \"" state "/bawn/record\" 2>/dev/null | sed -n 's/^[0-9]*-[0-9]*-//p' | sed " \
	"'s/-[0-9]*$//' |\n"                                                                     \
	"		grep -Ev '^(apply|discard|fork|host|restore|snapshot|undo|verify)$' | "               \
	"sort -u\n"                                                                              \
	"	ls \"" state "/bawn/names\" 2>/dev/null\n"
#define COMPLETION_ENDED                                                             \
	"_bawn_ended()\n"                                                            \
	"{\n" COMPLETION_LIST("${XDG_STATE_HOME:-$HOME/.local/state}") "	return 0\n" \
								       "}\n"

/* ---- bash: needs nothing of the bash-completion package, and uses it for the command if there
 * ---- */

static const char bash_frame[] =
	"_bawn()\n"
	"{\n"
	"	local i word verb= want= glue= start=0 given=0 cur\n"
	"	local -a words=() index=()\n"
	"\n"
	"	COMPREPLY=()\n"
	"	# Readline breaks words at '=' and ':'; put them together again.\n"
	"	for ((i = 0; i <= COMP_CWORD; i++)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		if [[ $i -gt 0 && $word == [=:] ]]; then\n"
	"			words[-1]+=$word\n"
	"			glue=1\n"
	"		elif [[ -n $glue ]]; then\n"
	"			words[-1]+=$word\n"
	"			glue=\n"
	"		else\n"
	"			words+=(\"$word\")\n"
	"			index+=(\"$i\")\n"
	"		fi\n"
	"	done\n"
	"	cur=${words[-1]}\n"
	"	for ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
	"		word=${words[i]}\n"
	"		if [[ -n $want ]]; then\n"
	"			want=\n"
	"		elif [[ -z $verb ]]; then\n"
	"			verb=$word\n"
	"		elif [[ $word == -- ]]; then\n"
	"			_bawn_runs \"$verb\" && start=$((i + 1)) && break\n"
	"		elif [[ $word == -* ]]; then\n"
	"			_bawn_takes_value \"$word\" && want=$word\n"
	"		elif _bawn_runs \"$verb\"; then\n"
	"			start=$i\n"
	"			break\n"
	"		else\n"
	"			given=1\n"
	"		fi\n"
	"	done\n"
	"	if [[ $start -eq 0 && -z $want && -n $verb && $cur != -* ]] && _bawn_runs "
	"\"$verb\"; then\n"
	"		start=$((${#words[@]} - 1))\n"
	"	fi\n"
	"	if ((start)); then\n"
	"		_bawn_command \"${index[start]}\"\n"
	"	elif [[ -n $want ]]; then\n"
	"		_bawn_value \"$verb $want\" \"$cur\"\n"
	"	elif [[ -z $verb ]]; then\n"
	"		_bawn_words \"$_bawn_verbs --help --version\" \"$cur\"\n"
	"	elif [[ $cur == --*=* ]]; then\n"
	"		_bawn_value \"$verb ${cur%%=*}\" \"${cur#*=}\"\n"
	"	elif [[ $cur == -* ]]; then\n"
	"		_bawn_words \"$(_bawn_options \"$verb\")\" \"$cur\"\n"
	"	else\n"
	"		_bawn_argument \"$verb\" \"$given\" \"$cur\"\n"
	"	fi\n"
	"}\n"
	"\n"
	"# _bawn_argument VERB GIVEN PREFIX\n"
	"_bawn_argument()\n"
	"{\n"
	"	case $(_bawn_kind \"$1\") in\n"
	"	paths) _bawn_changed \"$1\" \"$3\" ;;\n"
	"	snapshots) (($2)) || _bawn_words \"$(_bawn_snapshots)\" \"$3\" ;;\n"
	"	sessions) (($2)) || _bawn_words \"$(_bawn_sessions \"$3\")\" \"$3\" ;;\n"
	"	*) (($2)) || _bawn_words \"$(_bawn_arguments \"$1\")\" \"$3\" ;;\n"
	"	esac\n"
	"}\n"
	"\n"
	"# The paths that wait in this folder; where there are none, files.  A path that has to "
	"be\n"
	"# written with escapes is left out.\n"
	"_bawn_changed()\n"
	"{\n"
	"	local path\n"
	"\n"
	"	if [[ $1 != @(why|undo) ]]; then\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		while IFS= read -r path; do\n"
	"			[[ $path == \"$2\"* ]] && COMPREPLY+=(\"$path\")\n"
	"		done < <(timeout 2 bawn diff --json 2>/dev/null </dev/null |\n"
	"			LC_ALL=C sed -n '/\\\\/d;/\\xe2[\\x80\\x81]/d;s/^ *\"path\": "
	"\"\\(.*\\)\",*$/\\1/p' | head -n "
	"500)\n"
	"	fi\n"
	"	((${#COMPREPLY[@]})) || _bawn_paths -f \"$2\"\n"
	"}\n"
	"\n"
	"_bawn_snapshots()\n"
	"{\n"
	"	bawn snapshots --json 2>/dev/null </dev/null |\n"
	"		sed -n 's/^ *\"name\": \"\\([A-Za-z0-9._-]*\\)\",*$/\\1/p'\n"
	"}\n"
	"\n"
	"_bawn_words()\n"
	"{\n"
	"	mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
	"}\n"
	"\n"
	"# _bawn_sessions PREFIX: those of this folder; where none of them fits all that are "
	"recorded,\n"
	"# for those can be asked about, and all names that were given.\n"
	"_bawn_sessions()\n"
	"{\n"
	"	local here=$(bawn sessions --json 2>/dev/null </dev/null | awk -F'\"' -v "
	"at=\"$PWD\" -v p=\"$1\" \\\n"
	"		'$2 == \"name\" { n = $4; l = \"\" } $2 == \"label\" { l = $4 }\n"
	"		$2 == \"workspace\" && $4 == at { if (index(n, p) == 1) print n; if (l != "
	"\"\" && index(l, p) == 1) print l }' |\n"
	"		grep -E '^[a-z0-9-]*$')\n"
	"\n"
	"	[[ -n $here ]] && echo \"$here\" && return\n"
	"	_bawn_ended\n"
	"}\n"
	"\n" COMPLETION_ENDED "\n"
	"_bawn_held()\n"
	"{\n"
	"	" COMPLETION_HELD "}\n"
	"\n"
	"_bawn_paths()\n"
	"{\n"
	"	compopt -o filenames 2>/dev/null\n"
	"	mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\")\n"
	"}\n"
	"\n"
	"# The command in the box: its own completion where bash-completion has one.\n"
	"_bawn_command()\n"
	"{\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]}\n"
	"\n"
	"	if [[ $COMP_CWORD -eq $1 && $cur != */* ]]; then\n"
	"		mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"	elif [[ $COMP_CWORD -gt $1 ]] && declare -F _command_offset >/dev/null; then\n"
	"		_command_offset \"$1\"\n"
	"	else\n"
	"		_bawn_paths -f \"$cur\"\n"
	"	fi\n"
	"}\n"
	"\n"
	"complete -F _bawn bawn\n";

/* ---- what the three have in common ---- */

/* How a value is completed. */
enum completion_kind {
	VALUE_WORDS,
	VALUE_PAIR,
	VALUE_DIR,
	VALUE_PATH,
	VALUE_VARIABLE,
	VALUE_SESSION,
	VALUE_HELD,
	VALUE_FREE,
};

static enum completion_kind completion_kind(const struct option *o)
{
	const char *words[OPTION_WORDS_MAX];

	if (o->id == OPTION_RELEASE)
		return VALUE_HELD;
	if (str_equal(o->value, "DIR"))
		return VALUE_DIR;
	if (str_equal(o->value, "PATH"))
		return VALUE_PATH;
	if (str_after(o->value, "NAME["))
		return VALUE_VARIABLE;
	if (o->id == OPTION_SESSION || str_equal(o->value, "SESSION"))
		return VALUE_SESSION;
	if (option_words(o, words) == 0)
		return VALUE_FREE;
	return strchr(o->value, '=') ? VALUE_PAIR : VALUE_WORDS;
}

/* Puts "run shell explain": the verbs for which `of` is true. */
static void completion_verbs(struct buf *into, const char *between, bool (*of)(const struct verb *))
{
	const char *lead = "";

	for (size_t i = 0; i < verb_count; i++) {
		if (verbs[i].hidden || (of && !of(&verbs[i])))
			continue;
		buf_putf(into, "%s%s", lead, verbs[i].name);
		lead = between;
	}
}

static bool completion_runs(const struct verb *v)
{
	return v->command;
}

static void completion_words(struct buf *into, const char *const *words, size_t count,
			     const char *after)
{
	for (size_t i = 0; i < count; i++)
		buf_putf(into, "%s%s%s", i ? " " : "", words[i], after);
}

static void completion_option_words(struct buf *into, const struct option *o, const char *after)
{
	const char *words[OPTION_WORDS_MAX];

	completion_words(into, words, option_words(o, words), after);
}

/* Puts text in single quotes, for any of the three; `also` are characters that need a backslash
 * inside. */
static void completion_quote(struct buf *into, const char *s, const char *also)
{
	for (; *s; s++) {
		if (*s == '\'')
			buf_put_str(into, "'\\''");
		else if (strchr(also, *s))
			buf_putf(into, "\\%c", *s);
		else
			buf_put_char(into, *s);
	}
}

/* ---- bash ---- */

static void bash_options(struct buf *into)
{
	buf_put_str(into, "_bawn_options()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < verb_count; i++) {
		if (verbs[i].hidden)
			continue;
		buf_putf(into, "\t%s) echo '", verbs[i].name);
		for (size_t n = 0; n < OPTION_COUNT; n++) {
			if (!verb_takes(&verbs[i], options[n].id))
				continue;
			buf_putf(into, "%s--%s", n ? " " : "", options[n].name);
			if (options[n].letter)
				buf_putf(into, " -%c", options[n].letter);
		}
		buf_put_str(into, "' ;;\n");
	}
	buf_put_str(into, "\tesac\n}\n\n");
}

/* Its argument is the name of another one. */
static bool completion_takes_session(const struct verb *v)
{
	return str_after(v->usage, "SESSION") || strstr(v->usage, " SESSION") ||
	       strstr(v->usage, "[SESSION");
}

static bool completion_takes_verb(const struct verb *v)
{
	return str_equal(v->name, "help");
}

static void bash_arguments(struct buf *into)
{
	buf_put_str(into, "_bawn_arguments()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < verb_count; i++) {
		const struct verb *v = &verbs[i];

		if (v->hidden || (!v->words && !completion_takes_verb(v)))
			continue;
		buf_putf(into, "\t%s) echo '", v->name);
		if (v->words)
			completion_words(into, v->words, v->word_count, "");
		else
			completion_verbs(into, " ", NULL);
		buf_put_str(into, "' ;;\n");
	}
	buf_put_str(into, "\tesac\n}\n\n");
}

/* Puts what the arguments are, as the usage says it. */
static void bash_kinds(struct buf *into)
{
	static const struct {
		const char *word, *kind;
	} kinds[] = {{"PATH", "paths"},
		     {"[SNAPSHOT]", "snapshots"},
		     {"[SESSION", "sessions"},
		     {"SESSION NAME", "sessions"},
		     {"SESSION...", "sessions"}};

	buf_put_str(into, "_bawn_kind()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < verb_count; i++)
		for (size_t k = 0; k < BAWN_ARRAY_SIZE(kinds); k++)
			if (!verbs[i].hidden && strstr(verbs[i].usage, kinds[k].word))
				buf_putf(into, "\t%s) echo %s ;;\n", verbs[i].name, kinds[k].kind);
	buf_put_str(into, "\tesac\n}\n\n");
}

/* Whether another verb has an option of this name or letter with another value. */
static bool bash_is_shared(const struct option *o)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].id != o->id && (str_equal(options[i].name, o->name) ||
					       (o->letter && options[i].letter == o->letter)))
			return true;
	return false;
}

/* Puts "*' --kind' | *' -k')"; with the names of its verbs when another verb has one of that
 * name. */
static void bash_pattern(struct buf *into, const struct option *o)
{
	bool shared = bash_is_shared(o);
	const char *lead = "\t";

	for (size_t i = 0; i < (shared ? verb_count : 1); i++) {
		if (shared && (verbs[i].hidden || !verb_takes(&verbs[i], o->id)))
			continue;
		const char *verb = shared ? verbs[i].name : "", *any = shared ? "" : "*";

		buf_putf(into, "%s%s'%s --%s'", lead, any, verb, o->name);
		if (o->letter)
			buf_putf(into, " | %s'%s -%c'", any, verb, o->letter);
		lead = " | ";
	}
	buf_put_str(into, ")\n\t\t");
}

static void bash_value(struct buf *into, const struct option *o)
{
	if (!o->value)
		return;
	bash_pattern(into, o);
	switch (completion_kind(o)) {
	case VALUE_PAIR:
		buf_put_str(into, "compopt -o nospace 2>/dev/null\n\t\t_bawn_words '");
		completion_option_words(into, o, "=");
		buf_put_str(into, "' \"$2\"");
		break;
	case VALUE_WORDS:
		buf_put_str(into, "_bawn_words '");
		completion_option_words(into, o, "");
		buf_put_str(into, "' \"$2\"");
		break;
	case VALUE_DIR:
		buf_put_str(into, "_bawn_paths -d \"$2\"");
		break;
	case VALUE_PATH:
		buf_put_str(into, "_bawn_paths -f \"$2\"");
		break;
	case VALUE_VARIABLE:
		buf_put_str(into, "mapfile -t COMPREPLY < <(compgen -e -- \"$2\")");
		break;
	case VALUE_SESSION:
		buf_put_str(into, "_bawn_words \"$(_bawn_sessions \"$2\")\" \"$2\"");
		break;
	case VALUE_HELD:
		buf_put_str(into, "_bawn_words \"$(_bawn_held)\" \"$2\"");
		break;
	case VALUE_FREE:
		buf_put_char(into, ':');
		break;
	}
	buf_put_str(into, "\n\t\t;;\n");
}

static void bash_write(struct buf *into)
{
	buf_put_str(into,
		    "# bash completion for bawn; made by 'bawn completion bash'\n\n_bawn_verbs='");
	completion_verbs(into, " ", NULL);
	buf_put_str(into, "'\n\n# Its arguments are a command.\n_bawn_runs()\n{\n\t[[ $1 == @(");
	completion_verbs(into, "|", completion_runs);
	buf_put_str(into, ") ]]\n}\n\n_bawn_takes_value()\n{\n\t[[ $1 == @(");
	for (size_t i = 0, n = 0; i < OPTION_COUNT; i++) {
		if (!options[i].value)
			continue;
		buf_putf(into, "%s--%s", n++ ? "|" : "", options[i].name);
		if (options[i].letter)
			buf_putf(into, "|-%c", options[i].letter);
	}
	buf_put_str(into, ") ]]\n}\n\n");
	bash_options(into);
	bash_arguments(into);
	bash_kinds(into);
	buf_put_str(into, "# _bawn_value 'VERB OPTION' PREFIX\n_bawn_value()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < OPTION_COUNT; i++)
		bash_value(into, &options[i]);
	buf_put_str(into, "\tesac\n}\n\n");
	buf_put_str(into, bash_frame);
}

/* ---- zsh ---- */

static void zsh_value(struct buf *into, const struct option *o)
{
	buf_put_char(into, ':');
	completion_quote(into, o->value, "[]:");
	buf_put_char(into, ':');
	switch (completion_kind(o)) {
	case VALUE_PAIR:
		buf_put_str(into, "compadd -S= - ");
		completion_option_words(into, o, "");
		break;
	case VALUE_WORDS:
		buf_put_char(into, '(');
		completion_option_words(into, o, "");
		buf_put_char(into, ')');
		break;
	case VALUE_DIR:
		buf_put_str(into, "_files -/");
		break;
	case VALUE_PATH:
		buf_put_str(into, "_files");
		break;
	case VALUE_VARIABLE:
		buf_put_str(into, "_parameters -g \"*export*\"");
		break;
	case VALUE_SESSION:
		buf_put_str(into, "{compadd - ${(f)\"$(_bawn_sessions)\"}}");
		break;
	case VALUE_HELD:
		buf_put_str(into, "{compadd - ${(f)\"$(_bawn_held)\"}}");
		break;
	case VALUE_FREE:
		break;
	}
}

static void zsh_option(struct buf *into, const struct option *o)
{
	const char *only = o->id == OPTION_HELP ? "- : *" : NULL;

	buf_put_str(into, "\t\t\t");
	if (o->repeats)
		buf_put_str(into, "'*'");
	else if (o->letter)
		buf_putf(into, "'(%s%s-%c --%s)'", only ? only : "", only ? " " : "", o->letter,
			 o->name);
	if (o->letter)
		buf_putf(into, "{-%c%s,--%s%s}", o->letter, o->value ? "+" : "", o->name,
			 o->value ? "=" : "");
	else
		buf_putf(into, "'--%s%s'", o->name, o->value ? "=" : "");
	buf_put_str(into, "'[");
	completion_quote(into, o->help, "[]:");
	buf_put_str(into, "]");
	if (o->value)
		zsh_value(into, o);
	buf_put_str(into, "' \\\n");
}

static void zsh_verb(struct buf *into, const struct verb *v)
{
	buf_putf(into, "\t\t%s)\n\t\t\t_arguments -s -S \\\n", v->name);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (verb_takes(v, options[i].id))
			zsh_option(into, &options[i]);
	if (v->command) {
		buf_put_str(into, "\t\t\t'(-)1:command:_command_names -e' '*::argument:_normal'");
	} else if (v->words) {
		buf_put_str(into, "\t\t\t'1:argument:(");
		completion_words(into, v->words, v->word_count, "");
		buf_put_str(into, v->arguments_max == 1 ? ")'" : ")' '*:argument:'");
	} else if (completion_takes_verb(v)) {
		buf_put_str(into, "\t\t\t'1:verb:(");
		completion_verbs(into, " ", NULL);
		buf_put_str(into, ")'");
	} else if (completion_takes_session(v)) {
		buf_putf(into, "\t\t\t'%s:session:{compadd - ${(f)\"$(_bawn_sessions)\"}}'",
			 v->arguments_max < 0 ? "*" : "1");
		if (v->arguments_max == 2)
			buf_put_str(into, " '2:name:'");
	} else {
		buf_put_str(into, "\t\t\t':'");
	}
	buf_put_str(into, "\n\t\t\t;;\n");
}

static void zsh_write(struct buf *into)
{
	buf_put_str(into, "#compdef bawn\n# made by 'bawn completion zsh'\n\n" COMPLETION_ENDED
			  "\n_bawn_sessions()\n{\n\t_bawn_ended\n}\n\n_bawn_held()\n{\n"
			  "\t" COMPLETION_HELD "}\n\n_bawn()\n{\n"
			  "\tlocal curcontext=$curcontext state line ret=1\n"
			  "\tlocal -A opt_args\n\tlocal -a bawn_verbs\n\n\tbawn_verbs=(\n");
	for (size_t i = 0; i < verb_count; i++) {
		if (verbs[i].hidden)
			continue;
		buf_putf(into, "\t\t'%s:", verbs[i].name);
		completion_quote(into, verbs[i].summary, ":");
		buf_put_str(into, "'\n");
	}
	buf_put_str(into, "\t)\n"
			  "\t_arguments -C \\\n"
			  "\t\t'(- : *)'{-h,--help}'[show what there is]' \\\n"
			  "\t\t'(- : *)--version[print the version]' \\\n"
			  "\t\t'1:verb:->verb' '*::argument:->rest' && ret=0\n"
			  "\tcase $state in\n"
			  "\tverb)\n\t\t_describe -t verbs verb bawn_verbs && ret=0\n\t\t;;\n"
			  "\trest)\n\t\tcurcontext=${curcontext%:*}-$line[1]:\n"
			  "\t\tcase $line[1] in\n");
	for (size_t i = 0; i < verb_count; i++)
		if (!verbs[i].hidden)
			zsh_verb(into, &verbs[i]);
	buf_put_str(into, "\t\tesac && ret=0\n\t\t;;\n\tesac\n\treturn ret\n}\n\n"
			  "if [[ $funcstack[1] == _bawn ]]; then\n\t_bawn \"$@\"\nelse\n"
			  "\tcompdef _bawn bawn\nfi\n");
}

/* ---- fish ---- */

static const char fish_frame[] =
	"# Also those that have ended: what is recorded can be asked about.\n"
	"function __bawn_sessions\n"
	"	set -l state ~/.local/state\n"
	"	set -q XDG_STATE_HOME; and set state $XDG_STATE_HOME\n" COMPLETION_LIST(
		"$state") "end\n"
			  "\n"
			  "function __bawn_held\n"
			  "	" COMPLETION_HELD "end\n"
			  "\n"
			  "function __bawn_verb\n"
			  "	set -l words (commandline -opc)\n"
			  "	test (count $words) -gt 1; and echo -- $words[2]\n"
			  "end\n"
			  "\n"
			  "# The words of the command in the box that stand before the cursor, if "
			  "its place is "
			  "reached.\n"
			  "function __bawn_command\n"
			  "	set -l words (commandline -opc)\n"
			  "	contains -- \"$words[2]\" $__bawn_runs; or return 1\n"
			  "	set -l skip no\n"
			  "	for i in (seq 3 (count $words))\n"
			  "		if test $skip = yes\n"
			  "			set skip no\n"
			  "		else if test \"$words[$i]\" = --\n"
			  "			test $i -lt (count $words); and printf '%s\\n' "
			  "$words[(math $i + "
			  "1)..-1]\n"
			  "			return 0\n"
			  "		else if contains -- \"$words[$i]\" $__bawn_values\n"
			  "			set skip yes\n"
			  "		else if not string match -q -- '-*' \"$words[$i]\"\n"
			  "			printf '%s\\n' $words[$i..-1]\n"
			  "			return 0\n"
			  "		end\n"
			  "	end\n"
			  "	test $skip = no; and not string match -q -- '-*' (commandline "
			  "-ct)\n"
			  "end\n"
			  "\n"
			  "# The verb is one of these, and its command is not reached.\n"
			  "function __bawn_is\n"
			  "	contains -- \"$(__bawn_verb)\" $argv; and not __bawn_command "
			  ">/dev/null\n"
			  "end\n"
			  "\n"
			  "function __bawn_complete_command\n"
			  "	set -l words (__bawn_command)\n"
			  "	complete -C (string join -- ' ' (string escape -- $words) "
			  "(commandline -ct))\n"
			  "end\n"
			  "\n"
			  "complete -c bawn -f\n"
			  "complete -c bawn -n 'not __bawn_verb' -s h -l help -d 'show what there "
			  "is'\n"
			  "complete -c bawn -n 'not __bawn_verb' -l version -d 'print the "
			  "version'\n"
			  "complete -c bawn -n '__bawn_command >/dev/null' -x -a "
			  "'(__bawn_complete_command)'\n";

static void fish_value(struct buf *into, const struct option *o)
{
	switch (completion_kind(o)) {
	case VALUE_PAIR:
		buf_put_str(into, " -x -a '");
		completion_option_words(into, o, "=");
		buf_put_char(into, '\'');
		break;
	case VALUE_WORDS:
		buf_put_str(into, " -x -a '");
		completion_option_words(into, o, "");
		buf_put_char(into, '\'');
		break;
	case VALUE_DIR:
		buf_put_str(into, " -x -a '(__fish_complete_directories (commandline -ct))'");
		break;
	case VALUE_PATH:
		buf_put_str(into, " -r -F");
		break;
	case VALUE_VARIABLE:
		buf_put_str(into, " -x -a '(set -xn)'");
		break;
	case VALUE_SESSION:
		buf_put_str(into, " -x -a '(__bawn_sessions)'");
		break;
	case VALUE_HELD:
		buf_put_str(into, " -x -a '(__bawn_held)'");
		break;
	case VALUE_FREE:
		buf_put_str(into, " -x");
		break;
	}
}

static void fish_option(struct buf *into, const struct option *o)
{
	buf_put_str(into, "complete -c bawn -n '__bawn_is");
	for (size_t i = 0; i < verb_count; i++)
		if (!verbs[i].hidden && verb_takes(&verbs[i], o->id))
			buf_putf(into, " %s", verbs[i].name);
	buf_putf(into, "' -l %s", o->name);
	if (o->letter)
		buf_putf(into, " -s %c", o->letter);
	if (o->value)
		fish_value(into, o);
	buf_put_str(into, " -d '");
	completion_quote(into, o->help, "");
	buf_put_str(into, "'\n");
}

static void fish_write(struct buf *into)
{
	buf_put_str(into, "# fish completion for bawn; made by 'bawn completion fish'\n\n"
			  "set -g __bawn_runs ");
	completion_verbs(into, " ", completion_runs);
	buf_put_str(into, "\nset -g __bawn_values");
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (!options[i].value)
			continue;
		buf_putf(into, " --%s", options[i].name);
		if (options[i].letter)
			buf_putf(into, " -%c", options[i].letter);
	}
	buf_put_str(into, "\n\n");
	buf_put_str(into, fish_frame);
	for (size_t i = 0; i < verb_count; i++) {
		const struct verb *v = &verbs[i];

		if (v->hidden)
			continue;
		buf_putf(into, "complete -c bawn -n 'not __bawn_verb' -a %s -d '", v->name);
		completion_quote(into, v->summary, "");
		buf_put_str(into, "'\n");
		if (completion_takes_session(v))
			buf_putf(into,
				 "complete -c bawn -n '__bawn_is %s' -a '(__bawn_sessions)'\n",
				 v->name);
		if (!v->words && !completion_takes_verb(v))
			continue;
		buf_putf(into, "complete -c bawn -n '__bawn_is %s", v->name);
		if (v->words) {
			buf_put_str(into, "; and not __fish_seen_subcommand_from ");
			completion_words(into, v->words, v->word_count, "");
		}
		buf_put_str(into, "' -a '");
		if (v->words)
			completion_words(into, v->words, v->word_count, "");
		else
			completion_verbs(into, " ", NULL);
		buf_put_str(into, "'\n");
	}
	for (size_t i = 0; i < OPTION_COUNT; i++)
		fish_option(into, &options[i]);
}

/* ---- the verb ---- */

int completion_write(struct buf *into, const char *shell)
{
	static const struct {
		const char *shell;
		void (*write)(struct buf *);
	} writers[] = {{"bash", bash_write}, {"zsh", zsh_write}, {"fish", fish_write}};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(writers); i++) {
		if (!str_equal(shell, writers[i].shell))
			continue;
		writers[i].write(into);
		return 0;
	}
	return -EINVAL;
}

int verb_completion(const struct invocation *i)
{
	_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);
	struct error e = ERROR_INIT;

	if (completion_write(&b, i->arguments[0]) < 0) {
		(void)error_set(&e, -EINVAL, "there are no completions for '%s'", i->arguments[0]);
		verb_complain(&e);
		return EXIT_USAGE;
	}
	return help_print(&b);
}
