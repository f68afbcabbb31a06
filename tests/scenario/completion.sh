#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# completion.sh BAWN: the completions, in the shells they are for.
#
# bash and fish are driven as a person at the keyboard drives them: a command
# line goes in, the proposals come out.  zsh is read by zsh itself and its
# function is called up once.  A shell that is not installed is named as a skip.
set -u
bawn=${1:-${BAWN:-bawn}}
case $bawn in */*) bawn=$(cd "$(dirname "$bawn")" && pwd)/$(basename "$bawn") ;; esac
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
number=0
failed=0

ok()
{
	number=$((number + 1))
	echo "ok $number - $1"
}

not_ok()
{
	number=$((number + 1))
	failed=$((failed + 1))
	echo "not ok $number - $1"
	shift
	printf '#   %s\n' "$@"
}

skip()
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# has NAME WANTED TEXT: TEXT has the line WANTED.
has()
{
	if printf '%s\n' "$3" | grep -Fqx -e "$2"; then
		ok "$1"
	else
		not_ok "$1" "wanted: $2" "got: $(printf '%s' "$3" | tr '\n' ' ')"
	fi
}

# lacks NAME UNWANTED TEXT
lacks()
{
	if printf '%s\n' "$3" | grep -Fqx -e "$2"; then
		not_ok "$1" "did not want: $2" "got: $(printf '%s' "$3" | tr '\n' ' ')"
	else
		ok "$1"
	fi
}

mkdir "$work/some dir" "$work/folder"
: >"$work/file one"
cd "$work" || exit 99

# --- bash -----------------------------------------------------------------------

# in_bash WORD...: the words as readline splits them (at '=' too); the last one is completed.
in_bash()
{
	bash -c '
		source <("$1" completion bash)
		shift
		COMP_WORDS=(bawn "$@")
		COMP_CWORD=$#
		COMP_LINE="${COMP_WORDS[*]}"
		COMP_POINT=${#COMP_LINE}
		_bawn
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$bawn" "$@" 2>&1
}

if "$bawn" completion bash | bash -n; then ok "bash: reads the script"; else not_ok "bash: reads the script"; fi
has "bash: completes a verb" run "$(in_bash r)"
has "bash: offers every verb" verify "$(in_bash '')"
lacks "bash: does not offer a hidden verb" man "$(in_bash '')"
has "bash: completes an option" --workspace "$(in_bash run --wo)"
lacks "bash: offers no option of another verb" --json "$(in_bash run --)"
has "bash: completes a backend" namespace "$(in_bash run --backend na)"
has "bash: completes a backend after =" host "$(in_bash explain --backend = h)"
has "bash: completes an empty value after =" host "$(in_bash explain --backend =)"
has "bash: completes a layer" landlock "$(in_bash run --without land)"
has "bash: completes a preset" shell "$(in_bash run --preset sh)"
has "bash: completes a limit" processes= "$(in_bash run --limit pro)"
has "bash: completes after a limit was given" --read-only "$(in_bash run --limit processes = 20 --read-)"
has "bash: completes a folder" "some dir" "$(in_bash run -w so)"
lacks "bash: offers no file for a folder" "file one" "$(in_bash run -w f)"
has "bash: completes a path" "file one" "$(in_bash run --read f)"
has "bash: completes a variable" HOME "$(in_bash run --env HOM)"
has "bash: completes the command after --" printf "$(in_bash run -- print)"
has "bash: completes the command without --" printf "$(in_bash run print)"
has "bash: completes a file for the command" "file one" "$(in_bash run -- cat f)"
lacks "bash: options end at the command" --workspace "$(in_bash run cat --wo)"
has "bash: options go on after a value" --workspace "$(in_bash run --read cat --wo)"
has "bash: completes a bundle" github-read "$(in_bash run --use git)"
has "bash: completes a word of policy" test "$(in_bash policy te)"
lacks "bash: offers it once" check "$(in_bash policy test '')"
mkdir -p "$work/state/bawn/record/20261115-084532-calm-otter"
has "bash: completes a session, also one that has ended" calm-otter "$(XDG_STATE_HOME=$work/state in_bash why --session ca)"
has "bash: completes a shell" fish "$(in_bash completion f)"
has "bash: completes help for a verb" doctor "$(in_bash help doc)"

# --- fish -----------------------------------------------------------------------

in_fish()
{
	# shellcheck disable=SC2016 # fish expands them
	HOME=$work fish --no-config -c '
		$argv[1] completion fish | source
		complete -C "$argv[2]"
	' "$bawn" "$1" 2>&1 | cut -f 1
}

if command -v fish >/dev/null; then
	has "fish: completes a verb" run "$(in_fish 'bawn r')"
	has "fish: completes a session, also one that has ended" calm-otter "$(XDG_STATE_HOME=$work/state in_fish "bawn why --session ca")"
	lacks "fish: does not offer a hidden verb" man "$(in_fish 'bawn m')"
	has "fish: completes an option" --workspace "$(in_fish 'bawn run --wo')"
	lacks "fish: offers no option of another verb" --json "$(in_fish 'bawn run --')"
	has "fish: completes a backend" namespace "$(in_fish 'bawn run --backend na')"
	has "fish: completes a backend after =" --backend=host "$(in_fish 'bawn explain --backend=h')"
	has "fish: completes a layer" landlock "$(in_fish 'bawn run --without land')"
	has "fish: completes a limit" processes= "$(in_fish 'bawn run --limit pro')"
	has "fish: completes a folder" folder/ "$(in_fish 'bawn run -w fol')"
	has "fish: completes the command after --" printf "$(in_fish 'bawn run -- print')"
	has "fish: completes the command without --" printf "$(in_fish 'bawn run --read x print')"
	lacks "fish: options end at the command" --workspace "$(in_fish 'bawn run cat --wo')"
	has "fish: completes a bundle" npm "$(in_fish 'bawn run --use np')"
	has "fish: completes a word of policy" test "$(in_fish 'bawn policy te')"
	lacks "fish: offers it once" check "$(in_fish 'bawn policy test ')"
	has "fish: completes a shell" zsh "$(in_fish 'bawn completion z')"
	has "fish: completes help for a verb" doctor "$(in_fish 'bawn help do')"
else
	skip "fish: completions" "fish is not installed"
fi

# --- zsh ------------------------------------------------------------------------

# A zsh in a terminal of its own, asked with Tab as a person would; the screen comes out.
in_zsh()
{
	zsh -f -c '
		zmodload zsh/zpty
		zpty asked env TERM=dumb zsh -f -i
		zpty -w asked "PS1= PROMPT_EOL_MARK=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; setopt list_rows_first no_list_beep; print rea\"\"dy"
		zpty -r asked line "*ready*"
		zpty -n -w asked "$2"$'"'"'\t'"'"'
		sleep 0.5
		zpty -n -w asked $'"'"'\C-u'"'"'"print do\"\"ne"$'"'"'\n'"'"'
		zpty -r asked line "*done*"
		print -r -- "$line"
		zpty -d asked
	' zsh "$work/functions" "$1" 2>&1 | tr -s ' \r\t\007' '\n'
}

if command -v zsh >/dev/null; then
	mkdir "$work/functions"
	"$bawn" completion zsh >"$work/functions/_bawn"
	if zsh -n "$work/functions/_bawn"; then ok "zsh: reads the script"; else not_ok "zsh: reads the script"; fi
	has "zsh: completes a verb" verify "$(in_zsh 'bawn veri')"
	has "zsh: completes an option" --workspace= "$(in_zsh 'bawn run --works')"
	has "zsh: completes a bundle" openrouter "$(in_zsh 'bawn run --use openr')"
	has "zsh: completes a word of policy" check "$(in_zsh 'bawn policy che')"
	has "zsh: completes a layer" landlock "$(in_zsh 'bawn run --without lan')"
else
	skip "zsh: completions" "zsh is not installed"
fi

echo "1..$number"
[ "$failed" -eq 0 ]
