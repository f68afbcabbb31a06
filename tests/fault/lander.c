/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landings to be killed, starved and cut from power: the engine of `bawn apply` without the rest.
 *
 *	lander land TREE WANTED JOURNAL		makes TREE what WANTED is
 *	lander undo|redo TREE JOURNAL
 *	lander recover TREE JOURNAL
 *	lander plain ...			the same on a filesystem that cannot exchange names
 *	lander race flip|save A B DELAY land|undo ...
 *			the same while, from DELAY microseconds on, another process exchanges the
 *			names A and B all the time, or saves A by way of B; says "saved N" at the
 *			end
 *	LANDER_AT=1 lander ...
 *			the same as if TREE were mounted in the tree, which is the folder that it is
 *			in (land_how.at)
 *	lander kills TREE WANTED JOURNAL COUNT SEED
 *			so many landings, undos and recoveries, each killed at a random moment
 *
 * Says what happened in one word: landed, nothing, rolled-back, finished, unfinished, conflict
 * PATH.  Ends with 0, 1 when it was refused (why, on the other output), 99 when it was called
 * wrongly.
 */
#include "fd.h"
#include "land.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_REFUSED = 1, EXIT_USAGE = 99, STEPS_MAX = 1 << 18 };

/* Between us and somebody else in the tree. */
struct shared {
	atomic_int go, stop;
	atomic_uint saved;
	uint64_t when;
};

static struct shared *shared;

struct diff {
	int tree, wanted;
	const char *at; /* "", or the name of the tree in its folder */
	struct arena arena;
	struct land_step *steps;
	size_t count;
};

static int open_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* --- what differs between two trees ------------------------------------------------------ */

static int64_t nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void hash_file(int root, const char *path, struct object *o)
{
	_cleanup_fd_ int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char chunk[16384];
	struct sha256 s;

	sha256_begin(&s);
	for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0;)
		sha256_add(&s, (struct span){(const uint8_t *)chunk, (size_t)n});
	sha256_end(&s, o->digest);
	o->hashed = true;
}

static struct object look(struct diff *d, int root, const char *path)
{
	struct object o = {.type = OBJECT_ABSENT};
	char text[PATH_MAX];
	struct stat st;
	struct sha256 s;

	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return o;
	o.mode = st.st_mode & 07777;
	o.mtime = nanoseconds(st.st_mtim);
	o.size = (uint64_t)st.st_size;
	if (S_ISREG(st.st_mode)) {
		o.type = OBJECT_FILE;
		hash_file(root, path, &o);
	} else if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlinkat(root, path, text, sizeof(text) - 1);

		o.type = OBJECT_LINK;
		o.link = arena_strn(&d->arena, text, n > 0 ? (size_t)n : 0);
		sha256_begin(&s);
		sha256_add(&s, span_of_str(o.link));
		sha256_end(&s, o.digest);
		o.hashed = true;
	} else {
		o.type = S_ISDIR(st.st_mode)    ? OBJECT_DIR
			 : S_ISFIFO(st.st_mode) ? OBJECT_FIFO
						: OBJECT_SOCKET;
	}
	return o;
}

static bool is_same(const struct object *a, const struct object *b)
{
	if (a->type != b->type || a->mode != b->mode)
		return false;
	return !a->hashed || memcmp(a->digest, b->digest, sizeof(a->digest)) == 0;
}

static void diff_path(struct diff *d, const char *path)
{
	struct object before = look(d, d->tree, path), after = look(d, d->wanted, path);

	if (is_same(&before, &after) || d->count == STEPS_MAX)
		return;
	d->steps[d->count++] = (struct land_step){
		.path = arena_str(&d->arena, path), .before = before, .after = after, .source = -1};
}

/* All below folder that is in `in`; what is in the other one too when not `alone`. */
static void diff_walk(struct diff *d, int in, int other, const char *folder)
{
	int fd = open_folder(in, *folder ? folder : ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	for (const struct dirent *e; dir && (e = readdir(dir));) {
		char path[PATH_MAX];
		struct stat st, there;

		if (str_equal(e->d_name, ".") || str_equal(e->d_name, ".."))
			continue;
		int n = snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "",
				 e->d_name);

		if (n < 0 || (size_t)n >= sizeof(path) ||
		    fstatat(in, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		/* The second walk is for what the first has not seen. */
		if (in == d->tree || fstatat(other, path, &there, AT_SYMLINK_NOFOLLOW) < 0)
			diff_path(d, path);
		if (S_ISDIR(st.st_mode))
			diff_walk(d, in, other, path);
	}
	if (dir)
		(void)closedir(dir);
}

static int diff_content(void *context, size_t i)
{
	const struct diff *d = context;
	const char *path = d->steps[i].path + (*d->at ? strlen(d->at) + 1 : 0);
	int fd = openat(d->wanted, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* Lets the other one begin, and have its turn. */
static void on_progress(void *context, size_t done, size_t all)
{
	const struct timespec moment = {.tv_nsec = 100000};

	(void)context;
	if (!shared || done * 1000 < all * shared->when)
		return;
	atomic_store(&shared->go, 1);
	(void)nanosleep(&moment, NULL);
}

/* The folder that the steps are below, and what of the tree's path is in them. */
static int open_tree(const char *tree, const char **ret_at)
{
	const char *slash = strrchr(tree, '/');
	char above[PATH_MAX];

	*ret_at = "";
	if (!getenv("LANDER_AT") || !slash || slash == tree)
		return open_folder(AT_FDCWD, tree);
	*ret_at = slash + 1;
	(void)snprintf(above, sizeof(above), "%.*s", (int)(slash - tree), tree);
	return open_folder(AT_FDCWD, above);
}

static void diff_move(struct diff *d)
{
	char path[PATH_MAX];

	for (size_t i = 0; *d->at && i < d->count; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", d->at, d->steps[i].path);
		d->steps[i].path = arena_str(&d->arena, path);
	}
}

/* --- the verbs --------------------------------------------------------------------------- */

static int told(int r, const struct land_result *result, const struct error *e, const char *path)
{
	if (r < 0) {
		(void)fprintf(stderr, "%s\n", e->text);
		(void)printf("%s%s\n", result->is_conflict ? "conflict " : "refused",
			     result->is_conflict ? path : "");
		return EXIT_REFUSED;
	}
	(void)printf("%s\n", result->unfinished ? "unfinished" : "landed");
	return 0;
}

static int do_land(const char *tree, const char *wanted, const char *journal)
{
	struct diff d = {.tree = open_folder(AT_FDCWD, tree),
			 .wanted = open_folder(AT_FDCWD, wanted),
			 .arena = ARENA_INIT(1 << 28)};
	struct land_result result;
	struct error e = ERROR_INIT;
	struct land_how how = {.tree = open_tree(tree, &d.at),
			       .journal = open_folder(AT_FDCWD, journal),
			       .at = d.at,
			       .what = "apply",
			       .open = diff_content,
			       .progress = on_progress,
			       .context = &d};

	d.steps = arena_alloc(&d.arena, STEPS_MAX * sizeof(*d.steps));
	if (d.tree < 0 || d.wanted < 0 || how.tree < 0 || how.journal < 0 || !d.steps)
		return EXIT_USAGE;
	diff_walk(&d, d.tree, d.wanted, "");
	diff_walk(&d, d.wanted, d.tree, "");
	diff_move(&d);
	struct timespec began, ended;

	(void)clock_gettime(CLOCK_MONOTONIC, &began);
	int r = land(&how, d.steps, d.count, &result, &e);

	(void)clock_gettime(CLOCK_MONOTONIC, &ended);
	if (getenv("LANDER_TIME"))
		(void)fprintf(stderr, "%zu steps, %.1f ms\n", d.count,
			      (double)(nanoseconds(ended) - nanoseconds(began)) / 1e6);
	int status = told(r, &result, &e, r < 0 && d.count ? d.steps[result.conflict].path : "");

	arena_fini(&d.arena);
	return status;
}

static int do_undo(const char *tree, const char *journal, bool redo)
{
	struct land_undo *u = NULL;
	struct land_result result;
	struct error e = ERROR_INIT;
	const char *at = "";
	struct land_how how = {.tree = open_tree(tree, &at),
			       .journal = open_folder(AT_FDCWD, journal),
			       .at = at,
			       .what = redo ? "redo" : "undo",
			       .open = land_undo_content,
			       .progress = on_progress};
	size_t count = 0;

	if (how.tree < 0 || how.journal < 0)
		return EXIT_USAGE;
	size_t unread = 0;
	int r = redo ? land_redo_open(how.journal, &u, &unread, &e)
		     : land_undo_open(how.journal, &u, &unread, &e);

	if (unread)
		r = error_set(&e, -EBADMSG, "cannot read what was kept of a landing");
	if (r == -ENOENT) {
		(void)puts("nothing");
		return 0;
	}
	if (r < 0) {
		(void)fprintf(stderr, "%s\n", e.text);
		return EXIT_REFUSED;
	}
	const struct land_step *steps = land_undo_steps(u, &count);

	how.undo = u;
	how.context = u;
	r = land(&how, steps, count, &result, &e);
	int status = told(r, &result, &e, r < 0 ? steps[result.conflict].path : "");

	land_undo_free(&u);
	return status;
}

static int do_recover(const char *tree, const char *journal)
{
	static const char *const words[] = {"nothing", "rolled-back", "finished"};
	struct land_found found = {.way = LAND_NOTHING};
	struct error e = ERROR_INIT;
	const char *at = "";
	int r = land_recover(open_tree(tree, &at), open_folder(AT_FDCWD, journal), &found, &e);

	if (r < 0) {
		(void)fprintf(stderr, "%s\n", e.text);
		return EXIT_REFUSED;
	}
	(void)puts(words[found.way]);
	return 0;
}

/* renameat2 with flags says that it does not know them, as some filesystems do. */
static int make_plain(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {BAWN_ARRAY_SIZE(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return -errno;
	return 0;
}

static int run_verb(int argc, const char *const *argv);

/* --- random kills ------------------------------------------------------------------------ */

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Runs a verb in a child that dies after so many nanoseconds; 0: never.  How long it took;
 * *ret_over: it had ended by itself. */
static uint64_t run_and_kill(int argc, const char *const *argv, uint64_t ns, bool *ret_over)
{
	struct timespec began, ended, wait = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	int status = 0;

	(void)fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

		(void)dup2(nowhere, STDOUT_FILENO);
		(void)dup2(nowhere, STDERR_FILENO);
		_exit(run_verb(argc, argv));
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &began);
	*ret_over = ns == 0;
	if (ns > 0) {
		(void)nanosleep(&wait, NULL);
		*ret_over = waitpid(pid, &status, WNOHANG) == pid;
		if (!*ret_over)
			(void)kill(pid, SIGKILL);
	}
	if (ns == 0 || !*ret_over)
		(void)waitpid(pid, &status, 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &ended);
	return (uint64_t)(nanoseconds(ended) - nanoseconds(began));
}

static uint64_t hash_tree(int root, const char *folder)
{
	int fd = open_folder(root, *folder ? folder : ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct diff d = {.arena = ARENA_INIT(1 << 24)};
	uint64_t sum = 0;

	for (const struct dirent *e; dir && (e = readdir(dir));) {
		char path[PATH_MAX];
		struct sha256 s;
		uint8_t digest[SHA256_SIZE];
		uint64_t word;

		if (str_equal(e->d_name, ".") || str_equal(e->d_name, ".."))
			continue;
		int n = snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "",
				 e->d_name);
		struct object o = n > 0 && (size_t)n < sizeof(path)
					  ? look(&d, root, path)
					  : (struct object){.type = OBJECT_ABSENT};
		uint64_t facts[2] = {o.type, o.mode};

		sha256_begin(&s);
		sha256_add(&s, span_of_str(path));
		sha256_add(&s, (struct span){(const uint8_t *)facts, sizeof(facts)});
		sha256_add(&s, (struct span){o.digest, sizeof(o.digest)});
		sha256_end(&s, digest);
		memcpy(&word, digest, sizeof(word));
		sum += word; /* in whichever order they come */
		if (o.type == OBJECT_DIR)
			sum += hash_tree(root, path);
	}
	if (dir)
		(void)closedir(dir);
	arena_fini(&d.arena);
	return sum;
}

/* The tree goes to and fro between old and new; after each kill it is one of the two. */
static int do_kills(const char *const *argv, uint64_t count, uint64_t seed)
{
	const char *const land_words[] = {argv[0], "land", argv[2], argv[3], argv[4]};
	const char *const undo_words[] = {argv[0], "undo", argv[2], argv[4]};
	const char *const recover_words[] = {argv[0], "recover", argv[2], argv[4]};
	_cleanup_fd_ int tree = open_folder(AT_FDCWD, argv[2]);
	_cleanup_fd_ int wanted = open_folder(AT_FDCWD, argv[3]);
	uint64_t old = hash_tree(tree, ""), new = hash_tree(wanted, ""), random = seed * 2 + 1;
	uint64_t landed = 0, back = 0;
	bool over = false;
	uint64_t took[2] = {run_and_kill(5, land_words, 0, &over),
			    run_and_kill(4, undo_words, 0, &over)};

	for (uint64_t i = 0; i < count; i++) {
		bool is_old = hash_tree(tree, "") == old;
		uint64_t *whole = &took[!is_old];
		uint64_t ns = 1 + random_next(&random) % (*whole + *whole / 8);

		(void)(is_old ? run_and_kill(5, land_words, ns, &over)
			      : run_and_kill(4, undo_words, ns, &over));
		/* The machine is not always as busy as it was for the first: one of five ends. */
		*whole = over ? *whole - *whole / 16 : *whole + *whole / 64;
		/* Now and then whoever comes to mend it is killed as well. */
		while (random_next(&random) % 4 == 0)
			(void)run_and_kill(4, recover_words,
					   1 + random_next(&random) % (*whole / 2 + 1), &over);
		(void)run_and_kill(4, recover_words, 0, &over);
		uint64_t now = hash_tree(tree, "");

		if (now != old && now != new) {
			(void)printf("kill %llu of %llu (seed %llu): the tree is neither\n",
				     (unsigned long long)i, (unsigned long long)count,
				     (unsigned long long)seed);
			return EXIT_REFUSED;
		}
		landed += now != (is_old ? old : new);
		back += now == (is_old ? old : new);
	}
	(void)printf("# %llu kills: %llu went through, %llu went back\n", (unsigned long long)count,
		     (unsigned long long)landed, (unsigned long long)back);
	return 0;
}

/* --- somebody else in the tree ------------------------------------------------------------ */

/* As editors do it: a new file takes the place of the old. */
static void save_once(struct shared *s, const char *path, const char *temporary)
{
	char text[32];
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int len = snprintf(text, sizeof(text), "saved %u\n", atomic_load(&s->saved) + 1);

	(void)fd_write_all(fd, text, (size_t)len);
	(void)close(fd);
	if (rename(temporary, path) == 0)
		atomic_fetch_add(&s->saved, 1);
}

static void disturb(struct shared *s, const char *how, const char *a, const char *b)
{
	const struct timespec moment = {.tv_nsec = 100000};

	while (!atomic_load(&s->go) && !atomic_load(&s->stop))
		(void)nanosleep(&moment, NULL);
	while (!atomic_load(&s->stop)) {
		if (str_equal(how, "save")) {
			save_once(s, a, b);
			(void)nanosleep(&moment, NULL);
			continue;
		}
		/* To and fro, so that it ends as it began. */
		if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0)
			while (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0 &&
			       errno == EINTR)
				;
	}
}

static int do_race(int argc, const char *const *argv)
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;

	if (s == MAP_FAILED || str_parse_u64(argv[5], &s->when) < 0)
		return EXIT_USAGE;
	shared = s;
	pid_t pid = fork();

	if (pid == 0) {
		disturb(s, argv[2], argv[3], argv[4]);
		_exit(0);
	}
	int r = run_verb(argc - 5, argv + 5);

	atomic_store(&s->stop, 1);
	(void)waitpid(pid, &status, 0);
	(void)printf("saved %u\n", atomic_load(&s->saved));
	return r;
}

static int run_verb(int argc, const char *const *argv)
{
	uint64_t count = 0, seed = 0;

	if (argc > 6 && str_equal(argv[1], "race"))
		return do_race(argc, argv);

	if (argc > 2 && str_equal(argv[1], "plain")) {
		if (make_plain() < 0)
			return EXIT_USAGE;
		return run_verb(argc - 1, argv + 1);
	}
	if (argc == 5 && str_equal(argv[1], "land"))
		return do_land(argv[2], argv[3], argv[4]);
	if (argc == 4 && (str_equal(argv[1], "undo") || str_equal(argv[1], "redo")))
		return do_undo(argv[2], argv[3], str_equal(argv[1], "redo"));
	if (argc == 4 && str_equal(argv[1], "recover"))
		return do_recover(argv[2], argv[3]);
	if (argc == 7 && str_equal(argv[1], "kills") && str_parse_u64(argv[5], &count) == 0 &&
	    str_parse_u64(argv[6], &seed) == 0)
		return do_kills(argv, count, seed);
	(void)fputs(
		"usage: lander [plain] land TREE WANTED JOURNAL | undo|redo|recover TREE JOURNAL | "
		"kills TREE WANTED JOURNAL COUNT SEED | race flip|save A B WHEN ...\n",
		stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	return run_verb(argc, (const char *const *)argv);
}
