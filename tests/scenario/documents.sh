#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# documents.sh BAWN SOURCE: what the documents name is there.  Every path of the
# tree in them exists, every function stands in the file it is said to be in,
# every `bawn` command line in them is one that bawn understands, and the
# promises are the same wherever they are listed.
set -u
bawn=$1
source=$2
number=0
failed=0

# result NAME SAID: nothing said is good.
result()
{
	number=$((number + 1))
	if [ -z "$2" ]; then
		echo "ok $number - $1"
	else
		failed=$((failed + 1))
		echo "not ok $number - $1"
		printf '%s\n' "$2" | sed 's/^/#   /'
	fi
}

# What stands in `backquotes`, one a line.
quoted()
{
	# shellcheck disable=SC2016 # backquotes are meant
	tr '\n' ' ' <"$1" | grep -o '`[^`]*`' | tr -d '`'
}

paths()
{
	{
		quoted "$1" | grep -Eo '^(src|tests|docs|scripts|packaging|share|man|\.ci)/[A-Za-z0-9_./*-]+'
		grep -o '](\(docs/\)\?[A-Za-z./-]*\.md)' "$1" | sed 's/^](\(.*\))$/\1/'
	} | sort -u
}

missing_paths()
{
	for path in $(paths "$1"); do
		# A pattern stands for at least one file; a link may be relative to its document.
		for base in "$source" "$(dirname "$1")"; do
			# shellcheck disable=SC2086 # a pattern on purpose
			set -- "$1" $base/$path
			[ -e "$2" ] && continue 2
		done
		echo "$path does not exist"
	done
}

# `name` in `file`: the file has that name.
misplaced_names()
{
	# shellcheck disable=SC2016 # backquotes are meant
	tr '\n' ' ' <"$1" | grep -o '`[a-z_]*` in `[a-z_/.]*`' | tr -d '`' | sort -u |
		while read -r name _ file; do
			grep -q "$name" "$source/$file" 2>/dev/null || echo "$name is not in $file"
		done
}

# Command lines, from code blocks and backquotes; --help makes bawn read them and run nothing.
odd_commands()
{
	{
		awk '/^```/ { inside = !inside } inside' "$1" | sed -n 's/^\(bawn [^#]*\).*/\1/p'
		quoted "$1" | grep '^bawn [a-z-]'
	} | sort -u | grep -v 'VERB\|bawn-' | while read -r _ words; do
		case $words in
		--help | --version) continue ;;
		*' -- '*) words="${words%% -- *} --help" ;;
		'run '*) words=$(echo "$words" | sed 's/^run [a-z].*/run --help/') ;;
		*) words="$words --help" ;;
		esac
		# shellcheck disable=SC2086 # words on purpose
		"$bawn" $words >/dev/null 2>&1 || echo "bawn $words"
	done
}

for document in README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md docs/ARCHITECTURE.md \
	docs/THREAT-MODEL.md docs/DEPENDENCIES.md; do
	result "$document names paths that exist" "$(missing_paths "$source/$document")"
	result "$document names functions where they are" "$(misplaced_names "$source/$document")"
	result "$document has command lines that are understood" "$(odd_commands "$source/$document")"
done

result "every package that setup-debian installs has its reason" "$(
	# shellcheck disable=SC2016 # backquotes are meant
	sed -n "/^build=/,/'\$/p; /^test=/,/'\$/p" "$source/scripts/setup-debian" |
		tr -d "'" | sed 's/^[a-z]*=//' | tr -s ' \t' '\n' | grep . |
		while read -r package; do
			grep -Fq "\`$package\`" "$source/docs/DEPENDENCIES.md" || echo "$package"
		done
)"

echo "1..$number"
[ "$failed" -eq 0 ]
