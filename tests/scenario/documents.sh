#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# documents.sh BAWN SOURCE: what the documents name is there.  Every path of the
# tree in them exists, every function stands in the file it is said to be in,
# every `bawn` command line in them is one that bawn understands, and the
# promises are the same wherever they are listed.
#
# And the converse: what is there is named.  Every program, every message, every
# table of messages, every system call profile, every folder of the sources and
# every document has its place; a name without a thing behind it fails as well.
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

# Command lines, from code blocks and backquotes; --help makes bawn read them and run nothing.  Where a block shows
# a command behind "$ ", the rest of it is what that prints.
odd_commands()
{
	{
		awk '/^```/ { inside = !inside; shown = 0 } inside && sub(/^\$ /, "") { shown = 1; print; next } inside && !shown' "$1" | sed -n 's/^\(bawn [^#]*\).*/\1/p'
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

for document in "$source"/*.md "$source"/docs/*.md; do
	name=${document#"$source"/}
	result "$name names paths that exist" "$(missing_paths "$document")"
	result "$name names functions where they are" "$(misplaced_names "$document")"
	result "$name has command lines that are understood" "$(odd_commands "$document")"
done

result "every package that setup-debian installs has its reason" "$(
	# shellcheck disable=SC2016 # backquotes are meant
	sed -n "/^build=/,/'\$/p; /^test=/,/'\$/p" "$source/scripts/setup-debian" |
		tr -d "'" | sed 's/^[a-z]*=//' | tr -s ' \t' '\n' | grep . |
		while read -r package; do
			grep -Fq "\`$package\`" "$source/docs/DEPENDENCIES.md" || echo "$package"
		done
)"

# --- what is there has its place -----------------------------------------------------------

architecture=$source/docs/ARCHITECTURE.md
dependencies=$source/docs/DEPENDENCIES.md

# differ THERE NAMES HERE NAMES: what only one of two lists has, one name a line.
differ()
{
	printf '%s\n' "$2" | grep . | while read -r word; do
		printf '%s\n' "$4" | grep -qxF -e "$word" || echo "$word is in $1, and not in $3"
	done
	printf '%s\n' "$4" | grep . | while read -r word; do
		printf '%s\n' "$2" | grep -qxF -e "$word" || echo "$word is in $3, and not in $1"
	done
}

# section DOCUMENT TITLE: its lines, up to the next title.
section()
{
	awk -v title="## $2" '/^## / { inside = $0 == title } inside' "$1"
}

# picture DOCUMENT TITLE: the first drawing of a section.
picture()
{
	section "$1" "$2" | awk '/^```/ { fences++ } fences == 1'
}

# rows DOCUMENT HEAD: those below the line that begins with HEAD, without the spaces around the bars.
rows()
{
	awk -v head="$2" '
		index($0, head) == 1 { inside = 1; next }
		!/^\|/ { inside = 0 }
		inside && !/^\|---/ { gsub(/ *[|] */, "|"); print }' "$1"
}

# table DOCUMENT HEAD COLUMN: of the same rows.
table()
{
	rows "$1" "$2" | cut -d '|' -f "$(($3 + 1))"
}

# The programs of bawn in a text.
programs_in()
{
	grep -oE '(^|[^a-z/-])bawn(-[a-z]+)?($|[^a-z/-])' | grep -oE 'bawn(-[a-z]+)?' | sort -u
}

installed=$(sed -n "s/^  '\(bawn-[a-z]*\)': .*/\1/p; s/^bawn = executable('\([^']*\)'.*/\1/p" \
	"$source/src/meson.build" | sort -u)
helpers=$(printf '%s\n' "$installed" | grep -vx bawn)

result "programs are found in the build files" "$(
	[ "$(printf '%s\n' "$installed" | wc -l)" -ge 2 ] || echo "none"
	find "$source/src" -mindepth 2 -name meson.build -exec grep -Hn 'install: true' {} +
)"
result "every program is in the picture of processes" "$(
	differ "src/meson.build" "$installed" "the picture" "$(picture "$architecture" Processes | programs_in)"
)"
result "every program has its descriptors" "$(
	differ "src/meson.build" "$helpers" "the table of descriptors" \
		"$(table "$architecture" '| program | started by |' 1 | programs_in)"
)"
result "every program has what it may and must not" "$(
	differ "src/meson.build" "$installed" "the table of what processes may" \
		"$(table "$architecture" '| process | may |' 1 | programs_in)"
)"

# Message types: the list of src/plan, the receivers' tables, the document's.
result "every message type has a receiver, under its own name" "$(
	differ "enum message_type" "$(sed -n '/^enum message_type/,/^}/p' "$source/src/plan/message.h" |
		grep -oE 'MESSAGE_[A-Z_]+' | sed 's/^MESSAGE_\(.*\)/\1 \1/' | sort -u)" \
		"the tables of receivers" "$(grep -rhoE '\{MESSAGE_[A-Z_]+, "[A-Z_]+"' "$source/src" |
			sed 's/^{MESSAGE_\([A-Z_]*\), "\(.*\)"/\1 \2/' | sort -u)"
)"

# The tables of receivers: name and file.  One that is local to a function goes by its name.
receivers=$(find "$source/src" -name '*.c' | sort | while read -r file; do
	awk -v file="${file#"$source"/}" '
		/^[a-z].*[a-z0-9_]\(/ { match($0, /[a-z0-9_]+\(/); in_function = substr($0, RSTART, RLENGTH - 1) }
		/struct channel_rule [a-z_]+\[\]/ {
			match($0, /[a-z_]+\[\]/)
			name = substr($0, RSTART, RLENGTH - 2)
			print (name == "rules" ? in_function : name), file
		}' "$file"
done)
# shellcheck disable=SC2016 # backquotes are meant
said_receivers=$(table "$architecture" '| from | to | messages |' 4 | tr -d '`' | sed 's/ in / /')
result "every table of messages is in the document" "$(
	differ "the sources" "$receivers" "the table of messages" "$said_receivers"
)"
result "every message stands where it is received" "$(
	rows "$architecture" '| from | to | messages |' | while IFS='|' read -r _ _ _ messages place _; do
		# shellcheck disable=SC2016 # backquotes are meant
		name=$(echo "$place" | sed 's/^`\([a-z_]*\)`.*/\1/')
		file=$(echo "$place" | grep -o 'src/[a-z_/]*\.c')
		differ "$name" "$(awk -v name="$name" '
			$0 ~ "(^|[^a-z_])" name "(\\(|\\[\\])" && /^[a-z]/ && !/;$/ { inside = 1 }
			/^}/ { inside = 0 }
			inside' "$source/$file" | sed -n 's/^.*{[A-Z_]*, "\([A-Z_]*\)".*/\1/p' | sort -u)" \
			"its row" "$(echo "$messages" | sed 's/([^)]*)//g' | grep -oE '[A-Z][A-Z_]+' | sort -u)"
	done
)"

# The steps of the box's processes, in their order.
result "every step of the box's processes is in the document, in its order" "$(
	steps=$(rows "$architecture" '| process | its steps, in their order |')
	[ "$(printf '%s\n' "$steps" | wc -l)" -eq "$(grep -rlE '^const struct step [a-z_]+\[\]' "$source/src" | wc -l)" ] ||
		echo "there are other tables of steps than rows"
	printf '%s\n' "$steps" | while IFS='|' read -r _ process said place _; do
		# shellcheck disable=SC2016 # backquotes are meant
		name=$(echo "$place" | sed 's/^`\([a-z_]*\)`.*/\1/')
		file=$(echo "$place" | grep -o 'src/[a-z_/]*\.c')
		there=$(sed -n "/^const struct step $name\[\]/,/^}/p" "$source/$file" |
			sed -n 's/^\t{"\([a-z-]*\)", .*/\1/p' | tr '\n' ' ')
		[ -n "$there" ] && [ "$there" = "$(echo "$said" | tr -d ',') " ] ||
			echo "of the $process: $name has $there"
	done
)"

# Profiles of system calls.
profiles=$(sed -n '/^enum profile_kind/,/^}/p' "$source/src/profile/profile.h" |
	sed -n 's/^\tPROFILE_\([A-Z_]*\).*/\1/p' | sort -u)
result "every system call profile is in the document" "$(
	differ "enum profile_kind" "$profiles" "the table of profiles" \
		"$(table "$architecture" '| profile | of |' 1 | sort -u)"
)"
result "every system call profile is installed where the document says" "$(
	rows "$architecture" '| profile | of |' | grep 'src/' | while IFS='|' read -r _ profile _ place _; do
		named=0
		for file in $(echo "$place" | grep -o 'src/[a-z_/]*\.c'); do
			grep -qw "PROFILE_$profile" "$source/$file" && named=1
		done
		[ "$named" -eq 1 ] || echo "$profile is not named in the files of its row"
	done
)"

result "every folder of src is in the picture of layers" "$(
	differ "src" "$(cd "$source/src" && for folder in */; do echo "${folder%/}"; done)" "the picture" \
		"$(picture "$architecture" Layers | grep -oE 'src/[a-z]+/' | sed 's#src/\(.*\)/#\1#' | sort -u)"
)"

# Links of the two documents in which a reader begins.
result "every document is linked from README.md or docs/ARCHITECTURE.md" "$(
	for document in "$source"/docs/*.md; do
		name=${document##*/}
		[ "$name" != ARCHITECTURE.md ] && grep -qF "]($name" "$architecture" && continue
		grep -qF "](docs/$name" "$source/README.md" || echo "docs/$name"
	done
)"

# What the programs link, by the names of the libraries' functions in them: defined there, or wanted.
libraries_of()
{
	nm "$1" 2>&1 | sed "s/@.*//" | awk '
		/ SSL_CTX_new$/ { has["libssl"] = 1 }
		/ (EVP|X509|EC|BIO|CRYPTO)_[A-Za-z0-9_]+$/ { has["libcrypto"] = 1 }
		/ nghttp2_[a-z0-9_]+$/ { has["nghttp2"] = 1 }
		/ (inflate|deflate)(Init2?_)?$/ { has["zlib"] = 1 }
		/ ZSTD_[A-Za-z0-9_]+$/ { has["zstd"] = 1 }
		/ sqlite3_[a-z0-9_]+$/ { has["SQLite"] = 1 }
		/ (newterm|endwin)$/ { has["ncurses"] = 1 }
		/ vterm_[a-z0-9_]+$/ { has["libvterm"] = 1 }
		/ yaml_parser_[a-z]+$/ { has["libyaml"] = 1 }
		/ main$/ { symbols = 1 }
		END { if (!symbols) print "(no symbols)"; for (library in has) print library }' | sort
}

result "every program has its libraries in docs/DEPENDENCIES.md" "$(
	differ "src/meson.build" "$installed" "the table of libraries" \
		"$(table "$dependencies" '| program | libraries' 1 | programs_in)"
	# A build with sanitizers has also what no function of a program calls; the others leave that out.
	nm "$bawn" 2>/dev/null | grep -q ' __asan_init$' && exit
	rows "$dependencies" '| program | libraries' | tr -d '`' | while IFS='|' read -r _ program said _; do
		differ "$program" "$(libraries_of "${bawn%/*}/$program")" "its row" \
			"$(echo "$said" | tr -s ', ' '\n' | grep -vx none | sort -u)"
	done
)"

echo "1..$number"
[ "$failed" -eq 0 ]
