#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# manual.sh BAWN [FOLDER]: every manual page is made, is well formed, and names
# every option of its verb; FOLDER (the build's man/) has a page for every verb.
set -u
bawn=${1:-${BAWN:-bawn}}
pages=${2:-}
case $bawn in */*) bawn=$(cd "$(dirname "$bawn")" && pwd)/$(basename "$bawn") ;; esac
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
number=0
failed=0

# result NAME COMMAND...: it succeeds, and says nothing.
result()
{
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/said" 2>&1 && [ ! -s "$work/said" ]; then
		echo "ok $number - $name"
	else
		failed=$((failed + 1))
		echo "not ok $number - $name"
		sed 's/^/#   /' "$work/said"
	fi
}

skip()
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

groff_reads()
{
	MANROFFOPT=-ww LC_ALL=C.UTF-8 man -l --warnings -Tutf8 "$1" >/dev/null
}

names_options()
{
	# --help has one line for each option; so must the page, as \fB\-\-name\fR.
	"$bawn" help "$1" | sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' >"$work/options"
	[ -s "$work/options" ] || echo "no options in the help of $1"
	while read -r option; do
		escaped=$(printf '%s' "$option" | sed 's/-/\\-/g')
		grep -Fq -e "\\-\\-$escaped\\fR" "$2" || echo "--$option is not in the page"
	done <"$work/options"
}

check_page()
{
	title=bawn${1:+-$1}
	page=$work/$title.1
	"$bawn" man ${1:+"$1"} >"$page"
	if command -v mandoc >/dev/null; then
		result "$title(1): mandoc finds nothing to say" mandoc -T lint "$page"
	else
		skip "$title(1): mandoc" "mandoc is not installed"
	fi
	if command -v man >/dev/null; then
		result "$title(1): man finds nothing to say" groff_reads "$page"
	else
		skip "$title(1): man" "man is not installed"
	fi
	[ -z "$1" ] || result "$title(1): names every option" names_options "$1" "$page"
	[ -z "$pages" ] || result "$title(1): is in the build" test -s "$pages/$title.1"
}

check_page ''
for verb in $("$bawn" help | sed -n '/^Usage:/,$s/^  \([a-z]*\) .*/\1/p'); do
	check_page "$verb"
done

echo "1..$number"
[ "$failed" -eq 0 ] && [ "$number" -gt 20 ]
