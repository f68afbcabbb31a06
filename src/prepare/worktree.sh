#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bawn: gives the session the files of its branch.  Nothing here runs a hook.
# Arguments: the branch; the workspace; the commit at which the session began; the commit of the branch
# in the session; the user's commit, on that branch (COMMIT:branch) or else of HEAD; and whether the
# session was on the branch before.
branch=$1 top=$2 start=$3 last=$4 mine=${5%:branch} at=$5 how=$6 ref=refs/heads/$1
shift 6

git() {
	command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.untrackedCache=false \
		-c core.splitIndex=false -c core.protectNTFS=false -c core.protectHFS=false \
		-c submodule.recurse=false -c core.quotePath=false "$@"
}
say() { echo "bawn: $*" >&2; }
fail() { say "git in the box cannot $*, and the command does not run"; exit 125; }
has() { git cat-file -e "$1^{tree}" 2>/dev/null; }
short() { git rev-parse --short "$1"; }
# Whether all objects of a commit exist.  Used only when the commit at which the session began is
# gone: what the session built on it may be gone too.
whole() {
	has "$1" || return
	case $start in unborn | '') return ;; esac
	has "$start" || git rev-list --objects --quiet --no-walk "$1^{tree}" 2>/dev/null
}
move() { git update-ref -m "bawn: $2" "$ref" "$1" || fail "make the branch $branch"; }

# The session's branch is now what the session left, whatever became of it outside.
branch() {
	now=$(git rev-parse -q --verify "$ref")
	own=${last:-$start}
	case $own in unborn | '') return ;; esac
	if whole "$own"; then
		[ "$own" = "$now" ] && return
		move "$own" "as the session left it"
		if [ "$how" = fresh ]; then
			:
		elif [ -n "$now" ]; then
			say "you moved the branch $branch: the session goes on at its own commit $(short "$own")"
		else
			say "the branch $branch is gone from your repository: it is made again at the session's commit $(short "$own")"
		fi
	elif [ -n "$now" ] && [ "$now" != "$own" ] && has "$now"; then
		start=$now how=fresh
		say "the session's commit on $branch is gone: it goes on at yours, $(short "$now")"
	elif [ -n "$mine" ] && has "$mine"; then
		start=$mine how=fresh
		move "$mine" "the session's commit is gone"
		case $at in
		*:branch) say "the session's commit on $branch is gone: it goes on at your branch, $(short "$mine")" ;;
		*) say "the session's commit on $branch is gone: the branch is made again at your HEAD, $(short "$mine")" ;;
		esac
		[ "$own" = "$start" ] ||
			say "what it committed is gone in part, with what it built on; its files are as it left them"
	else
		fail "find the commit of the branch $branch"
	fi
}

# Make the index that of the commit.  Flags that a person set on its entries hide changes: remove them.
index() {
	if [ "$1" = new ] && [ "$(git config --bool core.sparseCheckout)" != true ]; then
		hides='^[a-zS]'
	else
		hides='^[a-z]'
	fi
	file=$(git rev-parse --git-path index)
	if git ls-files -v 2>/dev/null | grep -q "$hides"; then
		rm -f "$file"
	fi
	if [ "$1" = new ]; then
		git read-tree --reset "$tree"
	else
		# The session's own index says which paths it leaves out.
		git -c core.sparseCheckout=false read-tree --reset "$tree"
	fi || fail "read the commit of the branch $branch"
	git update-index -q --really-refresh >/dev/null
}

# Give every path that is not the session's the state of the commit.
files() {
	if [ -s /run/bawn/worktree/gone ]; then
		git update-index -z --index-info </run/bawn/worktree/held || fail "tell the session's files"
		git update-index -z --index-info </run/bawn/worktree/gone || fail "tell the session's files"
	fi
	git ls-files -z -d >"$list" || fail "list the files of the branch $branch"
	if [ -s "$list" ]; then
		cp -p .git/bawn-brought "$folder/brought" 2>/dev/null
		cat "$list" >>.git/bawn-brought || fail "write in .git"
	fi
	if ! git checkout-index -q -f -u -a; then
		[ ! -s "$list" ] || mv "$folder/brought" .git/bawn-brought 2>/dev/null || rm -f .git/bawn-brought
		fail "write the files of the branch $branch"
	fi
	if [ -s /run/bawn/worktree/held ]; then
		git update-index -z --index-info </run/bawn/worktree/held || fail "tell the session's files"
	fi
	git clean -ffdq -e '.[gG][iI][tT]' >&2 ||
		say "some of your own files that are not in git stay in sight on the branch $branch"
}

enter() (
	unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_NAMESPACE
	cd "$top" || exit 125
	rm -f .git/index.lock .git/HEAD.lock
	branch
	tree=$start
	if [ "$tree" = unborn ]; then
		tree=$(git hash-object -t tree /dev/null)
	elif [ -z "$tree" ]; then
		tree=
	elif ! has "$tree"; then
		tree=$now
	fi
	folder=$(mktemp -d) || fail "make a folder in /tmp"
	trap 'rm -rf "$folder"' EXIT
	list=$folder/list
	if [ "$how" = fresh ]; then
		for state in MERGE_HEAD MERGE_MSG MERGE_MODE AUTO_MERGE SQUASH_MSG CHERRY_PICK_HEAD \
			REVERT_HEAD REBASE_HEAD BISECT_START BISECT_LOG BISECT_NAMES BISECT_TERMS \
			BISECT_EXPECTED_REV BISECT_ANCESTORS_OK rebase-merge rebase-apply sequencer; do
			[ ! -e ".git/$state" ] || rm -rf ".git/$state"
		done
		index new
	fi
	if [ -n "$tree" ]; then
		if [ "$how" != fresh ] || [ -s /run/bawn/worktree/gone ]; then
			cp -p .git/index "$folder/index" 2>/dev/null
			(
				export GIT_INDEX_FILE="$folder/index"
				[ "$how" = fresh ] || index again
				files
			) || exit 125
			git update-index -q --refresh >/dev/null
		else
			files
		fi
	fi
	if [ "$how" = fresh ]; then
		git symbolic-ref -m "bawn: on the branch $branch" HEAD "$ref" || fail "go to the branch $branch"
	elif [ "$(git symbolic-ref -q HEAD)" != "$ref" ]; then
		# As in a worktree: what it left checked out stays checked out.
		at=$(git symbolic-ref -q --short HEAD) || at="no branch, at $(git rev-parse -q --short HEAD)"
		if [ -e .git/rebase-merge ] || [ -e .git/rebase-apply ] || [ -e .git/BISECT_START ]; then
			say "the session is in the middle of something, and not on the branch $branch"
		else
			say "the session left $branch, and goes on where it is: on $at ('git switch $branch' goes back)"
		fi
	fi
)

enter "$@" || exit 125
cd "$PWD" 2>/dev/null || :
exec "$@"
