/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs.  A new option is a row of `options` (options.c) and a bit in the verbs that take it; a
 * new verb is a row of `verbs` and a file verb_NAME.c.  Nothing else needs a change: parse.c,
 * help.c, man.c and verb_completion.c read them.
 *
 * tests/unit/test_verbs.c checks: names and letters are unique, one-line texts fit on a line and
 * end without a full stop, everything is plain ASCII.
 */
#include "verbs.h"

#define BIT(option) OPTION_BIT(OPTION_##option)

/* The options that shape a plan: every verb that makes one takes them. */
#define OPTIONS_OF_PLAN                                                                           \
	(BIT(PRESET) | BIT(BACKEND) | BIT(WORKSPACE) | BIT(READ_ONLY) | BIT(READ) | BIT(WRITE) |  \
	 BIT(HIDE) | BIT(ALLOW) | BIT(DENY) | BIT(USE) | BIT(SSH) | BIT(ENV) | BIT(LIMIT) |       \
	 BIT(WITHOUT) | BIT(DEBUG) | BIT(DIRECT) | BIT(REVIEW) | BIT(SYSTEM) | BIT(KEEP_SYSTEM) | \
	 BIT(PUBLISH) | BIT(HOST_PORT))

static const char *const shell_words[] = {"bash", "zsh", "fish"};
static const char *const secret_words[] = {"add", "ls", "rm", "test"};
static const char *const record_words[] = {"verify", "anchor", "proof",    "key",
					   "export", "send",   "compress", "prune"};
static const char *const policy_words[] = {"test", "check", "reload"};
static const char *const system_words[] = {"create", "ls", "rm"};
static const char *const snapshots_words[] = {"rm"};

#define EXITS_OF_COMMAND                                                                          \
	"0 to 255\tthe command's own exit code; 128 and the number of the signal that ended it\n" \
	"125\tbawn failed, or was told nonsense, or the session or the output was lost\n"         \
	"126\tthe command was found and cannot be run\n"                                          \
	"127\tthe command was not found"

#define EXITS_OF_REVIEW                                                           \
	"0\tdone\n"                                                               \
	"1\tnothing was done: something is in conflict or held, or you said no\n" \
	"2\tthe command line makes no sense\n"                                    \
	"125\tthere is no such session, or it could not be read or written"

#define EXITS_OF_QUESTION "0\tdone\n2\tthe command line makes no sense"

const struct verb verbs[] = {
	{
		.name = "run",
		.usage = "[OPTIONS] [--] COMMAND [ARGUMENT...]",
		.summary = "run a command in the box",
		.description =
			"Runs COMMAND in a box of its own and ends with the command's exit code. "
			"The command can write this folder, the workspace; it can read the "
			"system's programs and your own tool folders; the rest of your files does "
			"not exist for it, and the network is closed. In a subfolder of a git "
			"repository of yours the workspace is the repository, and the command "
			"starts in the subfolder; --workspace . gives that folder alone.\n\n"
			"With --allow it reaches the hosts that you name and no others; --use "
			"names the hosts of a whole ecosystem by one word. Programs need no proxy "
			"setting for it. What is refused fails at once, and is summed up at the "
			"end with the lines that would allow it. 'bawn policy test' asks the same "
			"rules without running anything.\n\n"
			"It has a home of its own, kept from run to run for each workspace. What "
			"it writes to the workspace is kept apart: 'bawn diff' shows it, 'bawn "
			"apply' lands it, 'bawn discard' forgets it. Run in the same folder "
			"again, bawn goes on with these changes; --fresh begins with the folder "
			"as it is, --continue names one of several sessions. With --direct writes "
			"land at once, and 'bawn undo' takes them back. --worktree lets it work "
			"on a branch of its own, with that branch's files whatever you have "
			"checked out, and 'bawn apply' brings its commits; --system on a root "
			"filesystem "
			"that 'bawn system' made. A banner on standard error says what the "
			"command may do; 'bawn explain' with the same options says it at "
			"length.\n\n"
			"If a layer of the box cannot be had on this machine, nothing is run and "
			"the layer is named. To go on without it, name it with --without: the "
			"weaker level is then shown on every screen.\n\n"
			"The terminal, signals, job control and pipes work as without bawn. "
			"Standard streams are carried, never lent: the command has pipes of its "
			"own. From a pipe or a file nothing is taken that the command does not "
			"read; from a socket more may be taken, so say </dev/null where it should "
			"read nothing. With "
			"--stdio the command gets pipes and never a terminal, for programs that "
			"speak a protocol on their standard streams.\n\n"
			"A run is a session, which has a name: two words, or what --name says (2 "
			"to 31 letters from a to z, digits and '-', and no number alone after the "
			"last '-'); --name begins a new session, as --fresh does. With --detach "
			"the session goes on by itself from the "
			"start, and its name is printed; a command that cannot be started fails as "
			"without --detach. Where logging out would end such a session it is said, "
			"and what to do.\n\n"
			"--host-port lets the command reach a service of this machine, as "
			"host.bawn:PORT, at 127.0.0.1 or else ::1, and no other port. --publish "
			"is the other direction: you reach a server in the box.\n\n"
			"Your terminal gets text, colours, cursor and keyboard modes, and links to "
			"hosts that rules allow. Writes to the clipboard, titles, notices, images, "
			"printing, changes of the window and questions whose answers could reach "
			"your "
			"shell are left out, and told at the end in one line where that is worth "
			"it; "
			"terminal.allow in bawn-policy(5) names exceptions.",
		.examples =
			"bawn run -- bash\ta shell in the box\n"
			"bawn run make -j4\tthe first word ends the options\n"
			"bawn run --read ~/data -- ./job\tone more folder to read\n"
			"bawn run --allow example.org -- ./job\tone host to reach\n"
			"bawn run --limit wall-time=1h -- ./job\tat most an hour\n"
			"bawn run --direct -- make\tchanges are made in place\n"
			"bawn run --publish 3000 -- npm run dev\ta server that you reach\n"
			"bawn run --host-port 5432 -- claude\ta database of yours that it reaches\n"
			"bawn run --worktree feat/x -- claude\ton a branch of its own",
		.exits = EXITS_OF_COMMAND,
		.options = BIT(HELP) | BIT(QUIET) | OPTIONS_OF_PLAN | BIT(STDIO) | BIT(CONTINUE) |
			   BIT(FRESH) | BIT(WORKTREE) | BIT(DETACH) | BIT(DETACH_KEY) | BIT(NAME),
		.command = true,
		.arguments_min = 1,
		.arguments_max = -1,
	},
	{
		.name = "shell",
		.usage = "[OPTIONS]",
		.summary = "open your own shell in the box",
		.description =
			"Opens your login shell in the box that 'bawn run' would make, to look "
			"around in it and to try what is there and what is not.",
		.examples = "bawn shell\tlook around in the box\n"
			    "bawn shell --read-only\twithout writing to this folder\n"
			    "bawn shell -w ~/project\twith another folder as the workspace",
		.exits = EXITS_OF_COMMAND,
		.options = BIT(HELP) | BIT(QUIET) | OPTIONS_OF_PLAN | BIT(CONTINUE) | BIT(FRESH) |
			   BIT(WORKTREE) | BIT(DETACH_KEY) | BIT(NAME),
	},
	{
		.name = "attach",
		.usage = "[OPTIONS] [SESSION]",
		.summary = "see the terminal of a running session, and type there",
		.description =
			"Shows the terminal of a session that is running, as it is now, and types "
			"there what you type. Without a name it is the session of this folder, or "
			"the only one that is running.\n\n"
			"A session goes on without a terminal when it was started with 'bawn run "
			"--detach', when you press Ctrl-\\ (--detach-key chooses another), and "
			"when its terminal is closed. Several can be attached at once. Who typed "
			"last decides how large the terminal is. With --watch you only look. The "
			"key is known as well where a program has your terminal report keys in "
			"another way (kitty's, xterm's), and is no key in what you paste.\n\n"
			"When the session ends, so does attach, with the exit code of the "
			"session's command.",
		.examples = "bawn attach\tthe session of this folder\n"
			    "bawn attach --watch calm-otter\tlook on",
		.exits = "0\tyou detached; the session goes on\n" EXITS_OF_COMMAND,
		.options = BIT(HELP) | BIT(DETACH_KEY) | BIT(WATCH),
		.arguments_max = 1,
	},
	{
		.name = "exec",
		.usage = "[OPTIONS] [SESSION] -- COMMAND [ARGUMENT...]",
		.summary = "run another command in the box of a running session",
		.description =
			"Runs the command in the box of a session that is running: it has the "
			"same files, the same network, the same placeholders of secrets and the "
			"same limits as what runs there already, and the session's record has "
			"what it does. Without a name it is the session of this folder, or "
			"the only one that is running.\n\n"
			"It starts in this folder where that is in the session's workspace, else "
			"in the folder in which the session began. The terminal, signals, job "
			"control and pipes work as with 'bawn run'.\n\n"
			"The command ends with the session: when the session's own command ends, "
			"the box does, too. When your terminal is closed, the command is told "
			"(SIGHUP).",
		.examples = "bawn exec -- git status\tin the session of this folder\n"
			    "bawn exec calm-otter -- npm test\tby its name\n"
			    "bawn exec -- cat log | less\twhat a pipe brings and takes",
		.exits = EXITS_OF_COMMAND,
		.options = BIT(HELP) | BIT(SESSION) | BIT(STDIO),
		.arguments_min = 1,
		.arguments_max = -1,
		.command = true,
	},
	{
		.name = "enter",
		.usage = "[OPTIONS] [SESSION]",
		.summary = "open a shell in the box of a running session",
		.description =
			"Opens your shell in the box of a session that is running, to look at "
			"what it does: its files as it has them, its processes, its network. "
			"Without a name it is the session of this folder, or the only one that "
			"is running. What you do there the session could do, too, and it is in "
			"its record. 'exit' leaves; the session goes on.",
		.examples = "bawn enter\tthe session of this folder\n"
			    "bawn enter calm-otter\tby its name",
		.exits = EXITS_OF_COMMAND,
		.options = BIT(HELP),
		.arguments_max = 1,
	},
	{
		.name = "forward",
		.usage = "[SESSION] PORT[:[ADDRESS:]HOSTPORT]",
		.summary = "reach a server in a running session from this machine",
		.description =
			"Listens at a port of this machine and carries each connection to a "
			"server that listens in the box of a session: a development server, with "
			"its WebSockets. Without a name it is the session of this folder, or the "
			"only one that is running. It ends with Ctrl-C, or with the session.\n\n"
			"It listens at 127.0.0.1, where only this machine connects, unless you "
			"name another ADDRESS. Without HOSTPORT it is the same number, or, where "
			"that is taken, one that is free: the first line says which. So two "
			"sessions can both have a server at port 3000.\n\n"
			"The session's record has each connection, and whether a server took it; "
			"its bytes count for limits.network-bytes. 'bawn run --publish' does the "
			"same from a session's start.",
		.examples = "bawn forward 3000\tthe session of this folder\n"
			    "bawn forward calm-otter 3000:8080\thttp://127.0.0.1:8080",
		.exits = "0\tthe session has ended\n",
		.options = BIT(HELP),
		.arguments_min = 1,
		.arguments_max = 2,
	},
	{
		.name = "open",
		.usage = "[SESSION] PORT[:[ADDRESS:]HOSTPORT]",
		.summary = "open a server in a running session in your browser",
		.description =
			"As 'bawn forward', and opens the address in your browser (xdg-open). The "
			"browser runs outside of the box, as always.",
		.examples = "bawn open 3000\tthe session of this folder",
		.exits = "0\tthe session has ended\n",
		.options = BIT(HELP),
		.arguments_min = 1,
		.arguments_max = 2,
	},
	{
		.name = "stop",
		.usage = "[SESSION]",
		.summary = "end a running session",
		.description =
			"Asks the session's command to end (SIGTERM, and after a second SIGHUP "
			"where it has a terminal). When it has not ended after 10 seconds, the box "
			"and all that "
			"runs in it is killed. Its changes and its record stay. Without a name it "
			"is the session of this folder, or the only one that is running.",
		.examples = "bawn stop\tthe session of this folder\n"
			    "bawn stop calm-otter\tby its name",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it does not answer",
		.options = BIT(HELP),
		.arguments_max = 1,
	},
	{
		.name = "kill",
		.usage = "[SESSION]",
		.summary = "end a running session at once",
		.description = "Kills every process of the session's box, without asking them. Its "
			       "changes and its record stay.",
		.examples = "bawn kill calm-otter\tby its name",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it does not answer",
		.options = BIT(HELP),
		.arguments_max = 1,
	},
	{
		.name = "wait",
		.usage = "[SESSION]",
		.summary = "wait until a session has ended",
		.description = "Waits until the session ends, and ends with the exit code of its "
			       "command.",
		.examples = "bawn wait calm-otter\tin a script, after 'bawn run --detach'",
		.exits = EXITS_OF_COMMAND,
		.options = BIT(HELP),
		.arguments_max = 1,
	},
	{
		.name = "pause",
		.usage = "[SESSION]",
		.summary = "hold a running session still",
		.description = "Stops every process of the session's box, until 'bawn resume'. Its "
			       "connections stay open as far as the other side keeps them.",
		.examples = "bawn pause calm-otter\tby its name",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it does not answer",
		.options = BIT(HELP),
		.arguments_max = 1,
	},
	{
		.name = "resume",
		.usage = "[SESSION]",
		.summary = "let a paused session go on",
		.description = "Lets a session go on that 'bawn pause' holds still.",
		.examples = "bawn resume calm-otter\tby its name",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it does not answer",
		.options = BIT(HELP),
		.arguments_max = 1,
	},
	{
		.name = "send",
		.usage = "[OPTIONS] [SESSION] -- TEXT...",
		.summary = "type into the terminal of a running session",
		.description =
			"Types the text into the session's terminal, and Enter after it. With - "
			"it types what comes on standard input, as it is and without Enter.",
		.examples = "bawn send calm-otter -- run the tests\ta line for the agent\n"
			    "printf '\\003' | bawn send -\tCtrl-C",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it does not answer",
		.options = BIT(HELP) | BIT(SESSION),
		.arguments_min = 1,
		.arguments_max = -1,
		.command = true,
	},
	{
		.name = "explain",
		.usage = "[OPTIONS] [--] [COMMAND [ARGUMENT...]]",
		.summary = "say what the box may do, and why",
		.description =
			"Prints the plan of the box that 'bawn run' with the same options would "
			"make: what it can read, write, run and reach, what is hidden, what "
			"protects it and what does not. Each value names the file and line, or "
			"the option, that it came from.\n\n"
			"Nothing is started and nothing is written. The plan that is printed is "
			"the plan that the launcher is given; --json prints it whole.",
		.examples = "bawn explain\tthe box for this folder\n"
			    "bawn explain --write ~/out -- make\twhat one more option changes\n"
			    "bawn explain --json\tthe whole plan, for programs",
		.exits = "0\tthe plan was printed\n"
			 "2\tthe command line makes no sense\n"
			 "125\tno plan could be made",
		.options = BIT(HELP) | BIT(JSON) | OPTIONS_OF_PLAN,
		.command = true,
		.arguments_max = -1,
	},
	{
		.name = "verify",
		.usage = "[OPTIONS]",
		.summary = "try to break out of the box, and report",
		.description =
			"Makes the box that 'bawn run' with the same options would make and runs "
			"probes in it: attempts that must fail, each with a control outside that "
			"succeeds, so that a probe cannot pass by being broken. Prints a table by "
			"promise.\n\n"
			"A probe is closed when it was refused in exactly the way that is "
			"expected, and open otherwise.",
		.examples = "bawn verify\tthe box for this folder\n"
			    "bawn verify --without seccomp\tdoes it hold without seccomp?\n"
			    "bawn verify --json\tfor programs",
		.exits = "0\teverything is closed\n"
			 "1\tsomething is open\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthe box could not be started",
		.options = BIT(HELP) | BIT(JSON) | OPTIONS_OF_PLAN,
	},
	{
		.name = "sessions",
		.usage = "[OPTIONS]",
		.summary = "list what runs, and what has ended with changes",
		.description =
			"Lists your live sessions: the name of each, for how long "
			"it has been running, its workspace and its command, and at which ports "
			"servers listen in it; and those that have "
			"ended and whose changes wait, or can be undone. One whose end nobody "
			"meant, because bawn, a part of it or the machine was killed, is "
			"interrupted; 'bawn run --continue' goes on with it. The name, or the "
			"beginning of it, is what --session takes (the whole name in scripts and "
			"with --yes); of one that 'bawn rename' gave "
			"another name that is shown. A run without a box (--backend host) is no "
			"session.\n\n"
			"With --all every run that is recorded has a line, the newest first: when "
			"it began, its name, how it ended, how many paths it left changed and how "
			"often something was refused (a dash: not known), its folder, and the "
			"preset or the command. At the end stands how much room all that bawn "
			"keeps takes on the disk. A session that was gone on with has a line for "
			"each run.\n\n"
			"What a killed session has left in the folder of sockets is removed. "
			"'bawn ls' is the same verb.",
		.examples = "bawn sessions\twhat runs, and what waits\n"
			    "bawn sessions --all\twhat ran, and how it ended\n"
			    "bawn sessions --json\tfor programs: pid, backend, all",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthe sessions could not be looked for",
		.options = BIT(HELP) | BIT(JSON) | BIT(ALL),
	},
	{
		.name = "top",
		.usage = "[OPTIONS]",
		.summary = "watch all sessions on one screen, and act on them",
		.description =
			"Shows all your sessions, those that run and those that have ended and "
			"left changes, and keeps the screen up to date until you press q. A row "
			"has the session's name, its state (runs, detached, paused, ended, cut "
			"off; silent: it does not answer), its age, the number of processes in "
			"the box, the memory that these alone have, the bytes of connections that "
			"were closed, how often something was refused, how many changed files wait "
			"to be applied, the preset or the first word of the command, and the "
			"folder. A dash stands for what is not known. At the bottom stand the "
			"folder and the command of the chosen session at length.\n\n"
			"Arrow keys choose. Enter looks inside: the tree of processes, and the "
			"last events of the record. a attaches (Ctrl-\\ comes back), p pauses "
			"and lets go on, s stops and asks first, + allows a host, d shows the "
			"changes, o sorts by name, age, memory or refusals, ? lists the keys and q "
			"quits.\n\n"
			"It needs a terminal, of 80 columns and 24 lines or more, and no colours. "
			"It looks about once in a second, and writes nothing to the terminal when "
			"nothing is different.",
		.examples = "bawn top\tall sessions",
		.exits = "0\tyou quit\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no terminal, or the sessions could not be looked for",
		.options = BIT(HELP),
		.program = "bawn-top",
	},
	{
		.name = "rename",
		.usage = "SESSION NAME",
		.summary = "give a session another name",
		.description =
			"Gives a session, running or ended, a name of your own. Every verb that "
			"takes a session takes it, and what bawn prints has it. The session's own "
			"name goes on working, and its record keeps it: a record is never "
			"changed. A session has one such name; its own name as NAME takes it "
			"away.\n\n"
			"A name has 2 to 31 letters from a to z, digits and '-', begins with a "
			"letter, and has no number alone after its last '-'. 'bawn run --name "
			"NAME' begins a session under a name.",
		.examples = "bawn rename calm-otter fix-login\tthen: bawn attach fix-login\n"
			    "bawn rename fix-login calm-otter\tits own name again",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it cannot be called so",
		.options = BIT(HELP),
		.arguments_min = 2,
		.arguments_max = 2,
	},
	{
		.name = "rm",
		.usage = "[OPTIONS] SESSION...",
		.summary = "forget sessions that have ended",
		.description =
			"Removes all that is kept of a session that has ended: its changes, as "
			"'bawn discard' does, or what 'bawn undo' would need; its records, which "
			"the ledger then has as removed; and the name that you gave it. It asks "
			"first, and says what was not applied. Your folder is not touched, and "
			"snapshots with a name stay.",
		.examples = "bawn rm calm-otter\task, and remove it\n"
			    "bawn rm --yes calm-otter\twithout asking",
		.exits = "0\tdone\n"
			 "1\tsomething stays: you said no\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, it runs, or it could not be removed",
		.options = BIT(HELP) | BIT(YES) | BIT(DRY_RUN),
		.arguments_min = 1,
		.arguments_max = -1,
	},
	{
		.name = "allow",
		.usage = "[OPTIONS] HOST[:PORT]...",
		.summary = "let a running session reach a host",
		.description =
			"Adds rules to a session while it runs: what is in the box can reach each "
			"HOST from now on, at ports 443 and 80 unless one is named. Without "
			"--session it is the session of this folder, or the only one that is "
			"running.\n\n"
			"It holds until the session ends. With --for always the rule is also "
			"written into your config.yaml, whose lines and comments stay as they "
			"are; where that cannot be done safely the line is shown for you to "
			"paste.\n\n"
			"The administrator's ceiling bounds it like any other rule. When another "
			"rule stands against it, nothing is changed and that rule is named. The "
			"session itself shows each change.",
		.examples = "bawn allow example.org\tfor the session of this folder\n"
			    "bawn allow --for always example.org\tand for those to come\n"
			    "bawn allow --session calm-otter db.test:5432\tby its name",
		.exits = "0\tit is allowed\n"
			 "1\tanother rule stands against it; nothing was changed\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it could not be changed",
		.options = BIT(HELP) | BIT(SESSION) | BIT(FOR),
		.arguments_min = 1,
		.arguments_max = -1,
	},
	{
		.name = "deny",
		.usage = "[OPTIONS] HOST[:PORT]...",
		.summary = "close a host to a running session",
		.description =
			"Adds rules to a session while it runs: what is in the box can no longer "
			"reach HOST, at any port unless one is named. Connections that were "
			"allowed before and are not any more end at once. 'bawn allow' takes it "
			"back.\n\n"
			"Which session, for how long, and what is written: as 'bawn allow'.",
		.examples = "bawn deny example.org\tclose it, and end its connections\n"
			    "bawn deny --for always example.org\tand for sessions to come",
		.exits = "0\tit is denied\n"
			 "1\ta more specific rule still allows it; nothing was changed\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it could not be changed",
		.options = BIT(HELP) | BIT(SESSION) | BIT(FOR),
		.arguments_min = 1,
		.arguments_max = -1,
	},
	{
		.name = "why",
		.usage = "[OPTIONS] HOST[:PORT]... | EVENT... | PATH...",
		.summary = "say why a host, a path or an event was decided so",
		.description =
			"Says for each HOST what a running session decides about it: the rule, "
			"with its file and line, the reason, how often it was refused and when "
			"last, and what would allow it: the line of policy and the command. "
			"Without a port it is asked for the port that was refused last, or for "
			"443, and refusals at every port are counted.\n\n"
			"Without --session it is the session of this folder, or the only one that "
			"is running; when there is none, the policy files answer. Nothing is "
			"looked up.\n\n"
			"An EVENT is a number that 'bawn log' shows, of the last session of this "
			"folder, or SESSION:NUMBER: who did it, the verdict, the rule with its "
			"file and "
			"line, what would allow it, and how it is known.\n\n"
			"A PATH has a slash in it, begins with a dot, is there in this folder, or "
			"was made by its last session: what a command in the box can do with it, "
			"which entry of the plan says so, and what the record of the last session "
			"of this folder (or --session) says about it.",
		.examples = "bawn why example.org\tin the session of this folder\n"
			    "bawn why 417\tan event of the last session here\n"
			    "bawn why ~/.ssh/id_ed25519\ta path\n"
			    "bawn why --session calm-otter db.test:5432\tby its name\n"
			    "bawn why --json example.org\tfor programs",
		.exits = "0\tall of it is allowed\n"
			 "1\tat least one HOST is denied\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or the policy could not be read",
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION),
		.arguments_min = 1,
		.arguments_max = -1,
	},
	{
		.name = "policy",
		.usage = "[OPTIONS] test HOST[:PORT]|URL... | check | reload",
		.summary = "ask the rules for the network",
		.description =
			"'bawn policy test' says for each HOST whether a box with the same "
			"options could reach it: the verdict, the rule that decides with its file "
			"and line, the reason, and the line to add where there is none. Without a "
			"port it is asked for port 443. A URL is asked for as a request, with the "
			"method GET or the one of --method; a method can also stand in front of "
			"it as a word of its own. Nothing is looked up and nothing is run.\n\n"
			"'bawn policy check' reads all policy files as 'bawn run' would and "
			"prints the rules for the network that came out, with their origins, and "
			"what was not given. bawn-policy(5) says what can stand in the files.\n\n"
			"'bawn policy reload' reads them again for a session that is running: its "
			"rules for the network become what the files say now, with its own "
			"options and what 'bawn allow' and 'bawn deny' have added. What is under "
			"way and not allowed by them any more ends, connections as well as single "
			"requests and WebSockets, and it says in how many connections. The rest of "
			"a box does not change while it runs.",
		.examples = "bawn policy test github.com\tcan it be reached?\n"
			    "bawn policy test --use npm github.com:22\twith one more option\n"
			    "bawn policy test PUT https://example.org/a\tone request\n"
			    "bawn policy check\tread the files, show the rules\n"
			    "bawn policy reload\tfor the session of this folder",
		.exits = "0\tall of it is allowed; the files are good\n"
			 "1\tat least one HOST or request is denied\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthe policy could not be read",
		.options = BIT(HELP) | BIT(JSON) | BIT(METHOD) | OPTIONS_OF_PLAN | BIT(SESSION),
		.arguments_min = 1,
		.arguments_max = -1,
		.words = policy_words,
		.word_count = BAWN_ARRAY_SIZE(policy_words),
		.first_word = true,
	},
	{
		.name = "secret",
		.usage = "[OPTIONS] add NAME | ls | rm NAME | test NAME [URL]",
		.summary = "keep values that the agent uses and never sees",
		.description =
			"A secret works in the box at the hosts that it is bound to: programs "
			"there have a placeholder of its shape, in a variable or a file, and the "
			"gate puts the value in, outside. It is never inside. A secret opens "
			"nothing by itself: a box has it where a rule (--allow, --use) leads to "
			"its hosts.\n\n"
			"'bawn secret add' takes the value from a prompt that does not show it, "
			"or from standard input, and keeps it in your keyring where there is one, "
			"else in a file that only you can read. With --from-env, --from-file or "
			"--from-command nothing is kept: the value is read at each start, and "
			"again after --refresh. A command runs without a shell. Names that are "
			"known, as ANTHROPIC_API_KEY or GITHUB_TOKEN, need no option; others need "
			"--host.\n\n"
			"'bawn secret ls' shows what there is, never a value. 'bawn secret test' "
			"reads the value, says what shape it has, and whether it would be put in "
			"a request for URL; nothing is sent. bawn-policy(5) has the same as a "
			"section of a file, and what each part means.",
		.examples = "bawn secret add ANTHROPIC_API_KEY\task for the value, keep it\n"
			    "bawn secret add GH_TOKEN --from-file ~/.gh\tread it each time\n"
			    "bawn secret add MINE --host api.example.org\tone of your own\n"
			    "bawn secret test MINE https://api.example.org/\twould it be put in?\n"
			    "bawn secret rm MINE\tforget it",
		.exits = "0\tdone\n"
			 "1\tthere is no such secret, or it would not be put in\n"
			 "2\tthe command line makes no sense\n"
			 "125\tit could not be read or kept",
		.options = BIT(HELP) | BIT(JSON) | BIT(METHOD) | BIT(HOST) | BIT(PATH) |
			   BIT(HEADER) | BIT(IN) | BIT(KIND) | BIT(VARIABLE) | BIT(FILE) |
			   BIT(FROM_ENV) | BIT(FROM_FILE) | BIT(FROM_COMMAND) | BIT(EXPIRES) |
			   BIT(REFRESH),
		.arguments_min = 1,
		.arguments_max = 3,
		.words = secret_words,
		.word_count = BAWN_ARRAY_SIZE(secret_words),
		.first_word = true,
	},
	{
		.name = "diff",
		.usage = "[OPTIONS] [PATH...]",
		.summary = "what a session changed, and what is held of it",
		.description =
			"Shows what a session in review mode changed of the workspace: what was "
			"added, changed, deleted, renamed or given another mode, text line by "
			"line, anything else by its size and type. It "
			"is read from the session's layers; nothing is run and no link is "
			"followed.\n\n"
			"The changes come in groups: ordinary ones; flagged ones, which land and "
			"are worth a look; held ones, which would run something later on this "
			"machine and land only when you release them; dropped ones, which never "
			"land (sockets, devices, bits beyond 0777). Names, links and lines are "
			"shown with control and invisible characters written out, as \\x1b or "
			"\\u{202e}.\n\n"
			"Commits come first, then your files. A tree that git ignores or that a "
			"package manager owns (node_modules, .venv, target) is one line, with how "
			"many files it has; PATH looks into it. A file that was renamed and edited "
			"is one change.\n\n"
			"PATH picks what is shown: a file, a folder, or a pattern such as '*.c'. "
			"Objects, refs, index and logs of a git repository are told in a few "
			"lines unless PATH names .git.\n\n"
			"In a file (bawn diff > x.patch), or with --patch, it is a patch that 'git "
			"apply' takes, and what has no form in one is named on standard error. On "
			"a terminal it is shown by $PAGER, or by less. --tool hands both sides of "
			"each file to your own tool: $BAWN_DIFF_TOOL, a command that takes two "
			"folders, or diff.tool of your ~/.gitconfig; a repository's own settings "
			"do not count.\n\n"
			"Without --session it is the only session that has changes here. Of one "
			"that runs you see what it has changed so far. A file that you changed "
			"since, too, is said to be, and compared with yours as it is now. Of a "
			"direct session, whose writes have landed, the paths are listed.\n\n"
			"Colour is used at a terminal, and with CLICOLOR_FORCE=1 in a pipe, too, "
			"as for 'less -R'.\n\n"
			"With --between, the first two arguments are sessions, and what is shown "
			"is which paths both have changed, and whether they made the same of it.",
		.examples =
			"bawn diff\tall of it\n"
			"bawn diff --stat\thow much in each file\n"
			"bawn diff --count\thow many files and commits\n"
			"bawn diff src '*.md'\tonly these\n"
			"bawn diff node_modules\tlook into what is one line\n"
			"bawn diff > x.patch\tfor git apply\n"
			"bawn diff --held\twhat your own commands would run\n"
			"bawn diff --json\twith digests, for programs\n"
			"bawn diff --between calm-otter odd-heron\twhat two sessions both changed",
		.exits = "0\tnothing is held; with --between, nothing differs\n"
			 "1\tsomething is held; with --between, both changed a path differently\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such session, or it could not be read",
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(WORKSPACE) | BIT(STAT) |
			   BIT(HELD) | BIT(BETWEEN) | BIT(ANYWAY) | BIT(PATCH) | BIT(NAME_ONLY) |
			   BIT(HOW_MANY) | BIT(TEXT) | BIT(WORD) | BIT(TOOL) | BIT(NO_PAGER),
		.arguments_max = -1,
		.program = "bawn-review",
	},
	{
		.name = "apply",
		.usage = "[OPTIONS] [PATH...]",
		.summary = "let a session's changes land",
		.description =
			"Lands what a session changed in the folder it worked on, all of it or "
			"nothing, and shows it first. With PATHs only what is named: files, "
			"directories, or patterns ('*.c' is any such file at any depth, 'src/*.c' "
			"is from the top, '**' crosses directories). What is left out stays with "
			"the session.\n\n"
			"A session that runs is paused until it is done. Everything is hashed "
			"before it is shown and again as it lands: what is no longer what was "
			"shown ends it, and nothing is changed. It goes through a journal, so "
			"that a kill or a power cut leaves the folder as it was or as it was to "
			"be. Modes beyond 0777, owners and special files never land.\n\n"
			"A file that you changed too since the session began is a conflict: both "
			"sides are named, and nothing lands until each is decided with --theirs, "
			"--ours or --merge. A merge whose sides changed the same lines says "
			"which, and lands only with --markers. The side that is not taken is not "
			"lost: it stays in the session, or comes back with 'bawn undo'.\n\n"
			"A folder that was removed and made again (a fresh clone) is not the one "
			"that the session worked on, and nothing lands. With --anyway it does: "
			"where the new folder is not what the session found, it is a conflict.\n\n"
			"Held changes would make one of your own programs run something later. "
			"Each is released by its own path, its folder or its rule, or asked about "
			"at the terminal, where 'v' shows it and 'a' takes all of its rule; --yes "
			"never releases any. A folder or a rule releases what 'bawn diff' has "
			"shown. A version of a file that only a "
			"commit has is released by PATH@OBJECT, as 'bawn diff' shows it. Who "
			"decided what is written to "
			"the record first, "
			"with digests: 'bawn log apply'.",
		.examples = "bawn apply\tall of it but what is held\n"
			    "bawn apply src '*.md'\twhat is beneath src, and all such\n"
			    "bawn apply -n\tonly say what would land\n"
			    "bawn apply -p\tchoose by file and hunk\n"
			    "bawn apply --merge '*'\tput both sides together\n"
			    "bawn apply --release .envrc\tthis held file too\n"
			    "bawn apply --release .venv/\tall that is held there",
		.exits = EXITS_OF_REVIEW,
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(WORKSPACE) | BIT(YES) |
			   BIT(DRY_RUN) | BIT(THEIRS) | BIT(OURS) | BIT(MERGE) | BIT(MARKERS) |
			   BIT(RELEASE) | BIT(SEEN) | BIT(PATCH) | BIT(ANYWAY),
		.arguments_max = -1,
		.program = "bawn-review",
	},
	{
		.name = "discard",
		.usage = "[OPTIONS] [PATH...]",
		.summary = "forget a session's changes",
		.description =
			"Forgets what a session changed, or what it changed at the named PATHs. "
			"The folder itself is not touched, because nothing of it was there. It "
			"cannot be taken back; 'bawn snapshot' keeps a session before that. The "
			"session must have ended; its folder may have been replaced since. Where "
			"its folder is gone, --session names it from anywhere.\n\n"
			"The private home stays: it is kept from run to run. With --home it "
			"becomes what it was before the session's last run, or, when no session "
			"has changes, before the last run that wrote in it.",
		.examples = "bawn discard\tall of it\n"
			    "bawn discard build '*.log'\twhat is beneath build, and every log\n"
			    "bawn discard --home\tand of the private home, too\n"
			    "bawn discard -n\tonly list it",
		.exits = EXITS_OF_REVIEW,
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(WORKSPACE) | BIT(YES) |
			   BIT(DRY_RUN) | BIT(HOME),
		.arguments_max = -1,
		.program = "bawn-review",
	},
	{
		.name = "undo",
		.usage = "[OPTIONS] [PATH...]",
		.summary = "take back what landed last",
		.description =
			"Takes back the last apply to this folder: every path is what it was "
			"before, byte for byte, with its mode and time. When a path is no longer "
			"what apply left there, because you changed it since, it is named and "
			"nothing is done; --leave-changed leaves it, and takes back the rest. "
			"With PATHs only what is named. What is left can be taken back by another "
			"undo. Objects of git's that landed stay, for 'git gc' to tidy up: a "
			"branch of yours may need them. What was undone is pending again where its "
			"session still stands, and what you had decided is in conflict again. A "
			"session of which everything had landed is gone, and nothing of it is "
			"pending; --redo applies again what was undone, whether the session stands "
			"or not, where your files are still what undo left there.\n\n"
			"After a direct session it takes back what that did, from the versions "
			"that were kept before each first change, and leaves alone, and names, "
			"what is not as the session left it, or cannot be read. The versions of "
			"what is left are kept, for another undo.",
		.examples = "bawn undo\tthe last apply\n"
			    "bawn undo -n\tonly say what would come back\n"
			    "bawn undo src\tonly what landed beneath src\n"
			    "bawn undo --redo\tapply it again",
		.exits = EXITS_OF_REVIEW,
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(WORKSPACE) | BIT(YES) |
			   BIT(DRY_RUN) | BIT(REDO) | BIT(LEAVE_CHANGED),
		.arguments_max = -1,
		.program = "bawn-review",
	},
	{
		.name = "snapshot",
		.usage = "[OPTIONS] [NAME]",
		.summary = "keep a session as it is now",
		.description =
			"Gives a name to what a session has changed so far, and to the home that "
			"it has, so that 'bawn restore' can go back to it and 'bawn fork' can "
			"begin another session from it. Without NAME it is called after the "
			"session, with a number, and a NAME that ends in '-' gets a number too. "
			"The name is printed.\n\n"
			"Of a session that does not run nothing is copied, however large it is: "
			"its layers are sealed, and what comes next is written to a new one. A "
			"session that runs stands still while the layers that it writes are "
			"copied (shared with the copy, where the filesystem can), in proportion "
			"to what it has changed, and then goes on.\n\n"
			"With several sessions in this folder --session says which is meant.\n\n"
			"Inside a box it asks for a snapshot of that box, where the policy says "
			"workspace.snapshots: true: one in ten seconds, fifty in a session, each "
			"with a name that begins with 'agent-'. Earlier ones are then there to be "
			"read, in /run/bawn/snapshots. There is no way to go back from inside.",
		.examples = "bawn snapshot\twith a name of its own\n"
			    "bawn snapshot before-tests\ta name that you will know again",
		.exits = EXITS_OF_REVIEW,
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(WORKSPACE),
		.arguments_max = 1,
		.program = "bawn-review",
	},
	{
		.name = "snapshots",
		.usage = "[OPTIONS] [rm NAME...]",
		.summary = "list the snapshots of this folder",
		.description =
			"Lists the snapshots of this folder, the oldest first: name, session, "
			"age, and what their layers take on the disk, which several of them may "
			"share. 'rm' removes some; what nothing else needs of their layers is "
			"removed with them.\n\n"
			"bawn makes some by itself, and keeps the newest few: start-SESSION-N, "
			"what was there when a session began that wrote something, and "
			"before-restore-N, what was there before a restore.",
		.examples = "bawn snapshots\tthe oldest first\n"
			    "bawn snapshots rm before-tests\tone goes",
		.exits = EXITS_OF_REVIEW,
		.options = BIT(HELP) | BIT(JSON) | BIT(WORKSPACE),
		.arguments_max = -1,
		.words = snapshots_words,
		.word_count = BAWN_ARRAY_SIZE(snapshots_words),
		.first_word = true,
		.program = "bawn-review",
	},
	{
		.name = "restore",
		.usage = "[OPTIONS] [SNAPSHOT]",
		.summary = "take a session back to a snapshot",
		.description =
			"What a session has changed, and the home that it has, are again as they "
			"were in SNAPSHOT. Without SNAPSHOT: as they were before the last session "
			"of this folder began, or the one that --session names. An agent that "
			"removed everything it could reach, here and in its home, is undone by "
			"this one command.\n\n"
			"The session must not run. Nothing is copied, so it takes no time, and "
			"nothing is lost: what was there is kept as the snapshot "
			"before-restore-N, and restoring that takes the restore back. Your own "
			"files are not touched: what was applied is taken back by 'bawn undo', "
			"and so is what a session with --direct wrote. What you edited, and the "
			"session did not see by then, is a conflict of 'bawn apply'.\n\n"
			"While another session of this folder runs the home stays as it is, and "
			"that is said.",
		.examples = "bawn restore\tas it was before the last session\n"
			    "bawn restore before-tests\tas it was then\n"
			    "bawn restore --yes before-restore-1\tthe last restore is taken back",
		.exits = EXITS_OF_REVIEW,
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(WORKSPACE) | BIT(YES),
		.arguments_max = 1,
		.program = "bawn-review",
	},
	{
		.name = "fork",
		.usage = "[OPTIONS] [SNAPSHOT]",
		.summary = "make a new session from a snapshot",
		.description =
			"Makes a session that begins with what SNAPSHOT has, or the newest one "
			"that was asked for, and prints its name. 'bawn run --continue' with that "
			"name starts it. It goes its own way from there: what it changes is its "
			"own, and so is its home, which begins as that of the snapshot. Several "
			"forks of one snapshot can run at once.",
		.examples = "bawn fork before-tests\tand the line that starts it",
		.exits = EXITS_OF_REVIEW,
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(WORKSPACE),
		.arguments_max = 1,
		.program = "bawn-review",
	},
	{
		.name = "system",
		.usage = "[OPTIONS] create|ls|rm [NAME]",
		.summary = "base systems for boxes, other than the host's",
		.description =
			"'bawn run --system NAME' gives a box a root filesystem of its own "
			"instead of the host's programs. Inside, the user is root there, and "
			"package managers work: what they install goes to a layer of the session, "
			"which is gone when it ends, or is kept for the workspace (policy key "
			"system.keep).\n\n"
			"'create' makes one, with the user's own rights and the user's own "
			"network. --from says what from: debian (of this machine's release when it "
			"is one, else stable), debian:SUITE, 'debian:deb ...' (a line as in "
			"sources.list), oci:DIR[:TAG] (an image in a folder), docker://NAME (an "
			"image of a registry), a folder, or a tar archive. Without --from the NAME "
			"says it: debian, or a release of Debian (bookworm, trixie, sid); any "
			"other name needs --from. "
			"Debian needs mmdebstrap, images need umoci, a registry's also skopeo; "
			"'bawn doctor' says what is there. No subordinate ids are needed: every "
			"file belongs to the user.\n\n"
			"'ls' lists them with their sizes, what they were made from, and who "
			"stands on them. 'rm' removes one; not while a session runs on it, and "
			"where something was kept or stopped upon it only with --yes. It also "
			"removes what a killed 'create' left unfinished.",
		.examples = "bawn system create bookworm\ta small Debian, of that release\n"
			    "bawn system create node --from oci:images/node:20\tfrom an image\n"
			    "bawn system ls\twhat there is\n"
			    "bawn system rm node\tno longer needed",
		.exits = "0\tdone\n"
			 "1\tnothing was removed: it is in use\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such system, or it could not be made",
		.options = BIT(HELP) | BIT(JSON) | BIT(QUIET) | BIT(FROM) | BIT(YES),
		.arguments_min = 1,
		.arguments_max = 2,
		.words = system_words,
		.word_count = BAWN_ARRAY_SIZE(system_words),
		.first_word = true,
		.program = "bawn-review",
	},
	{
		.name = "log",
		.usage = "[OPTIONS] [SESSION|all]",
		.summary = "show what happened in a session, event by event",
		.description =
			"Prints the record of a session, one line for each event: its number, "
			"when, which program and execution, what, and to what. A SESSION is a "
			"name (the newest of that name), the beginning of one, or 'last', the "
			"newest of any folder. Without one it is the last session of this folder, "
			"or of the nearest folder above that has one. A day (2026-11-17, today, "
			"yesterday) means the session of that day, of this folder where it has "
			"one; several are named. 'all' goes through every "
			"record. What apply, undo, snapshot and the like did is recorded by their "
			"own names, "
			"as in 'bawn log apply'. 'bawn why NUMBER' says more about one event.\n\n"
			"Options narrow it down; several of one kind are alternatives. --path "
			"takes a file, a folder or a pattern as '*.c'; --host a name or a "
			"pattern; --process a program as git, or the number of an execution. "
			"Seals, and confirmations of an event before, are left out unless their "
			"kind is asked for.\n\n"
			"--tree shows the processes as a tree instead, with what each one did. "
			"--json prints every event as it is recorded, with its session, one on a "
			"line.\n\n"
			"Names that the box chose are shown escaped. Filters are answered with "
			"the help of an index beside the records, which is made as it is needed "
			"and can be deleted at any time.",
		.examples = "bawn log\tthe last session of this folder\n"
			    "bawn log -f\tand go on while it runs\n"
			    "bawn log --verdict refused\twhat was refused\n"
			    "bawn log --process git --path src\twhat git did beneath src\n"
			    "bawn log --tree calm-otter\tits processes",
		.exits = "0\tdone\n"
			 "1\tthe record could not be read to its end\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such record, or it cannot be opened",
		.options = BIT(HELP) | BIT(JSON) | BIT(SESSION) | BIT(FOLLOW) | BIT(LAST) |
			   BIT(TREE) | BIT(EVENT_KIND) | BIT(EVENT_HOST) | BIT(EVENT_PATH) |
			   BIT(PROCESS) | BIT(VERDICT) | BIT(SINCE) | BIT(UNTIL),
		.arguments_max = 1,
		.program = "bawn-history",
	},
	{
		.name = "show",
		.usage = "[OPTIONS] [SESSION]",
		.summary = "a summary of a session on one screen",
		.description =
			"Sums up the record of a session: what was run and how it ended, which "
			"files it changed and where, what it read outside of its workspace, the "
			"hosts it reached, the secrets that were used, what was refused, how "
			"often, and the line of policy that would allow it, alarms, and how "
			"complete the record is. All runs of the session are summed up, and "
			"listed; the name of a record, as 20261115-084532-calm-otter, is about "
			"that one run. A SESSION is meant as in 'bawn log'; without one "
			"it is the last of this folder.\n\n"
			"'whole' means that the record goes on to the session's end; whether it "
			"is as it was written is what 'bawn record verify' says.",
		.examples = "bawn show\tthe last session of this folder\n"
			    "bawn show calm-otter\tanother one\n"
			    "bawn show yesterday\tthe one of that day\n"
			    "bawn show --json\tfor programs, with more of each list",
		.exits = "0\tdone\n"
			 "1\tthe record could not be read to its end\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no such record, or it cannot be opened",
		.options = BIT(HELP) | BIT(JSON),
		.arguments_max = 1,
		.program = "bawn-history",
	},
	{
		.name = "prune",
		.usage = "[OPTIONS]",
		.summary = "make room: let go of what is old",
		.description =
			"Removes what bawn keeps and nobody needs by your rule: records of "
			"sessions that are over, what undo of an apply or of a direct session "
			"would bring back, and snapshots that bawn made by itself of sessions "
			"that are gone. The rule is 'keep.days' and 'keep.size' of your "
			"configuration, or --older-than and --keep-size in their place. With a "
			"size the oldest goes first, whatever it is, until all that bawn keeps "
			"fits. Nothing is removed by itself: only this command does.\n\n"
			"What waits to be applied stays, and so do sessions that run, forks, "
			"snapshots to which you gave a name, private homes, and the records of "
			"sessions that stay. That a record was removed is entered in the ledger: "
			"'bawn record verify' says then that you removed it, and when.\n\n"
			"It shows first what would go and how much room comes back, and asks.",
		.examples = "bawn prune -n\twhat would go, by your configuration\n"
			    "bawn prune --older-than 90d\tby age\n"
			    "bawn prune --keep-size 10G --yes\tby size, without a question",
		.exits = "0\tdone\n"
			 "1\tnothing was removed: you said no\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthere is no rule, or something could not be removed",
		.options = BIT(HELP) | BIT(JSON) | BIT(YES) | BIT(OLDER_THAN) | BIT(KEEP_SIZE) |
			   BIT(DRY_RUN),
	},
	{
		.name = "record",
		.usage = "[OPTIONS] verify|anchor|proof|key|export|send|compress|prune",
		.summary = "verify, export and keep what was recorded",
		.description =
			"Each session has a record: a chain of events outside the box, sealed "
			"with a key that only goes forward, and entered in a ledger of all "
			"sessions. A SESSION is a name (the newest of that name), the beginning "
			"of one, or 'last'.\n\n"
			"'bawn record verify' reads records whole and says for each: valid (what "
			"was kept elsewhere agrees with it), unanchored (it agrees with itself, "
			"and nothing from elsewhere was at hand), interrupted (it stops without "
			"an end), running, or exactly what is wrong and where. --key takes the "
			"file with the verification key, --anchor one that 'record anchor' "
			"made.\n\n"
			"'bawn record anchor' prints a signed checkpoint of the ledger, and so of "
			"all sessions that ended, or of one session as it is now: keep it on "
			"another machine. It is a note as transparency logs have it, for --anchor "
			"and for other tools. 'bawn record proof' prints why an event is part of "
			"its session's tree, or a session's end part of the ledger's.\n\n"
			"'bawn record key' shows the verification key, once, and removes it from "
			"this machine: who has it can tell sealed events from forged ones.\n\n"
			"'bawn record export' prints the events of one session, the last of any "
			"folder unless one is named, in the words of others: jsonl (as they were "
			"recorded), "
			"otlp (OpenTelemetry's logs as JSON) or ocsf. docs/EXPORT.md says what "
			"becomes what.\n\n"
			"Where OTEL_EXPORTER_OTLP_ENDPOINT names a collector, sessions are sent "
			"there as they run. 'bawn record send' sends what could not be sent then, "
			"or all of the session that is named.\n\n"
			"'bawn record compress' packs finished sessions with zstd; everything "
			"reads them as before. 'bawn record prune' removes records of finished "
			"sessions by --older-than and --keep-size, or those of the sessions that "
			"are named, and enters in the ledger what was removed. Nothing else "
			"removes a record.",
		.examples = "bawn record verify\tall of them\n"
			    "bawn record verify last --key FILE\twith the key you kept\n"
			    "bawn record anchor --to FILE\ta head to keep elsewhere\n"
			    "bawn record export --format ocsf\tthe newest, for a SIEM\n"
			    "bawn record send\twhat the collector does not have yet\n"
			    "bawn record prune --older-than 90d -n\twhat would be removed",
		.exits = "0\tdone; verify: nothing is wrong\n"
			 "1\tverify: something is wrong, or missing; send: some is left\n"
			 "2\tthe command line makes no sense\n"
			 "3\tverify: nothing is wrong but that a session was interrupted\n"
			 "125\tthe records could not be read or written",
		.options = BIT(HELP) | BIT(JSON) | BIT(FORMAT) | BIT(KEY) | BIT(ANCHOR) | BIT(TO) |
			   BIT(YES) | BIT(OLDER_THAN) | BIT(KEEP_SIZE) | BIT(DRY_RUN),
		.arguments_min = 1,
		.arguments_max = -1,
		.words = record_words,
		.word_count = BAWN_ARRAY_SIZE(record_words),
		.first_word = true,
		.program = "bawn-history",
	},
	{
		.name = "doctor",
		.usage = "[OPTIONS]",
		.summary = "check that this machine can run the sandbox",
		.description =
			"Tries on this machine, as this user, each thing that the box is built "
			"from, and says for each one that is missing what to do. The checks run "
			"in short-lived processes of their own and leave nothing behind.",
		.examples = "bawn doctor\ta table, with the ways out\n"
			    "bawn doctor --json\tfor programs",
		.exits = "0\tthis machine can run the sandbox\n"
			 "1\tat least one check failed; bawn would refuse to start\n"
			 "2\tthe command line makes no sense",
		.options = BIT(HELP) | BIT(JSON),
	},
	{
		.name = "completion",
		.usage = "bash|zsh|fish",
		.summary = "print the completions for a shell",
		.description =
			"Prints the script that lets a shell complete bawn's verbs, options, "
			"their values and the command that is to be run.",
		.examples = "source <(bawn completion bash)\tfor this bash\n"
			    "bawn completion zsh > ~/.zfunc/_bawn\tfor zsh, in a folder of "
			    "$fpath\n"
			    "bawn completion fish | source\tfor this fish",
		.exits = EXITS_OF_QUESTION,
		.options = BIT(HELP),
		.arguments_min = 1,
		.arguments_max = 1,
		.words = shell_words,
		.word_count = BAWN_ARRAY_SIZE(shell_words),
	},
	{
		.name = "help",
		.usage = "[VERB]",
		.summary = "show what there is, or one verb's options",
		.description =
			"Shows the verbs, or the examples and options of one verb: the same as "
			"'bawn --help' and 'bawn VERB --help'.",
		.examples = "bawn help\tthe verbs\n"
			    "bawn help run\tthe examples and options of 'run'",
		.exits = EXITS_OF_QUESTION,
		.options = BIT(HELP),
		.arguments_max = 1,
	},
	{
		.name = "version",
		.usage = "[OPTIONS]",
		.summary = "print the version",
		.description = "Prints the version of bawn: the same as 'bawn --version'.",
		.examples = "bawn version\tas words\n"
			    "bawn version --json\tfor programs",
		.exits = EXITS_OF_QUESTION,
		.options = BIT(HELP) | BIT(JSON),
	},
	{
		.name = "man",
		.usage = "[VERB]",
		.summary = "print the source of a manual page",
		.description =
			"Prints the manual page of bawn, or of one verb, as troff source. The "
			"build makes the installed pages with it.",
		.examples = "bawn man run | man -l -\tread the page of 'run'",
		.exits = EXITS_OF_QUESTION,
		.options = BIT(HELP),
		.arguments_max = 1,
		.hidden = true,
	},
	{
		.name = "ls",
		.usage = "[OPTIONS]",
		.summary = "another name for sessions",
		.description = "The same as 'bawn sessions'.",
		.examples = "bawn ls\twhat is running",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthe sessions could not be looked for",
		.options = BIT(HELP) | BIT(JSON) | BIT(ALL),
		.hidden = true,
	},
	{
		.name = "tally",
		.usage = "[OPTIONS]",
		.summary = "count what the records of running sessions say",
		.description = "A part of 'bawn top', which starts it.",
		.examples = "bawn tally\tas 'bawn top' starts it",
		.exits = EXITS_OF_QUESTION,
		.options = BIT(HELP),
		.program = "bawn-history",
		.hidden = true,
	},
	{
		.name = "ps",
		.usage = "[OPTIONS]",
		.summary = "another name for sessions",
		.description = "The same as 'bawn sessions'.",
		.examples = "bawn ps\twhat is running",
		.exits = "0\tdone\n"
			 "2\tthe command line makes no sense\n"
			 "125\tthe sessions could not be looked for",
		.options = BIT(HELP) | BIT(JSON) | BIT(ALL),
		.hidden = true,
	},
};

const size_t verb_count = BAWN_ARRAY_SIZE(verbs);
