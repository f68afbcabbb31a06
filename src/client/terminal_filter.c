/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal_filter.h"

#include "str.h"

#include <stdlib.h>
#include <strings.h>

enum filter_state {
	FILTER_TEXT,
	FILTER_ESCAPE,     /* ESC */
	FILTER_ESCAPE_MID, /* ESC and bytes of 0x20 to 0x2f */
	FILTER_SEQUENCE,   /* CSI */
	FILTER_STRING,     /* OSC, DCS, APC, PM, SOS, and the titles of screen and tmux */
	FILTER_STRING_ESCAPE,
	FILTER_PALETTE, /* OSC P of the Linux console: seven digits and no end */
	FILTER_PASS,    /* of a string whose bytes pass as they come: `string` says which may */
	FILTER_PASS_ESCAPE,
};

enum {
	FILTER_ENQ = 0x05,
	FILTER_CAN = 0x18,
	FILTER_SUB = 0x1a,
	FILTER_ESC = 0x1b,
	FILTER_DEL = 0x7f,
	FILTER_SEQUENCE_MAX = 128,
	FILTER_NUMBER_DIGITS = 5,
	FILTER_PALETTE_DIGITS = 7,
	FILTER_SAID_MAX = 512, /* bytes of a title or notice */
};

#define ST "\033\\"

static void filter_keep(struct terminal_filter *f, enum terminal_class class)
{
	f->kept[class]++;
}

static bool filter_is_allowed(const struct terminal_filter *f, enum terminal_class class)
{
	return (f->allow >> class & 1) != 0;
}

static bool filter_has(const char *set, char byte)
{
	return byte != '\0' && strchr(set, byte) != NULL;
}

/* --- sequences (CSI) ------------------------------------------------------------------ */

struct filter_row {
	char first;         /* '?', '>', '<', '=', or 0 */
	char mid;           /* of 0x20 to 0x2f, before the last; or 0 */
	const char *finals; /* its last byte */
};

/* What acts on the screen, or on how keys are reported; no terminal answers it. */
static const struct filter_row filter_silent[] = {
	{0, 0, "@ABCDEFGHIJKLMPSXZ`abdefgjkmrsu"}, /* cursor, erase, scroll, tabs, colours */
	{0, ' ', "q@A"},                           /* shape of the cursor; columns */
	{0, '!', "p"},                             /* soft reset */
	{0, '"', "q"},                             /* protection from erasing */
	{0, '#', "{}pq"},                          /* colours of text, put aside */
	{0, '$', "rtvxz{"},                        /* rectangles */
	{0, '\'', "}~"},                           /* columns */
	{'?', 0, "JKc"},                           /* erase; cursor of the Linux console */
	{'>', 0, "umn"},                           /* protocols of the keyboard */
	{'<', 0, "u"},
	{'=', 0, "u"},
};

/* Of these, what is over once it is done: colours are undone for whoever has the terminal. */
static const struct filter_row filter_passing[] = {{0, 0, "@ABCDEFGHIJKLMPSXZ`abdefm"}};

/* What programs ask, and the terminal answers in words of its own: numbers, or its name. */
static const struct filter_row filter_questions[] = {
	{0, 0, "cnt"}, {'?', 0, "num"}, {'>', 0, "cq"}, {0, '$', "p"}, {'?', '$', "p"},
};

/* Modes of DEC (CSI ? ... h and l) that may be set and reset. */
static const unsigned int filter_modes[] = {
	1,    5,    6,    7,    12,   25,                           /* keys, look, wrapping */
	45,   47,   66,   69,   1047, 1048, 1049,                   /* margins, the other screen */
	9,    1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, /* mouse, focus */
	2004, 2026, 2027, 2031, 2048, /* pasting; drawn at once; letters */
};

static bool filter_is_in(const struct filter_row *rows, size_t count, char first, char mid,
			 char final)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].first == first && rows[i].mid == mid &&
		    filter_has(rows[i].finals, final))
			return true;
	return false;
}

/* "12;345678" as "12;9999": no screen is larger, and some terminals count so far. */
static void filter_put_sequence(const struct terminal_filter *f, char final, struct buf *into)
{
	buf_put_str(into, "\033[");
	for (size_t at = 0; at < f->len;) {
		size_t digits = strspn(f->words + at, "0123456789");

		if (digits > FILTER_NUMBER_DIGITS)
			buf_put_str(into, "9999");
		else
			buf_put(into, f->words + at, digits ? digits : 1);
		at += digits ? digits : 1;
	}
	buf_put_char(into, final);
}

static void filter_put_mode(struct terminal_filter *f, unsigned long mode, char final, bool *some,
			    struct buf *into)
{
	if (mode == 47 || mode == 1047 || mode == 1049)
		f->other = final == 'h';
	if (final == 'h' && (mode == 9 || (mode >= 1000 && mode < 1047) || mode > 2000))
		f->reports = true;
	/* Terminals differ in whether it is on: the user's choice comes back at the end. */
	if (mode == 1007 && !f->wheeled) {
		f->wheeled = true;
		if (*some)
			buf_put_char(into, final);
		*some = false;
		buf_put_str(into, "\033[?1007s");
	}
	buf_putf(into, "%s%lu", *some ? ";" : "\033[?", mode);
	*some = true;
}

/* "?1049;25": of these modes those that may be changed. */
static void filter_private_modes(struct terminal_filter *f, char final, struct buf *into)
{
	bool some = false;

	for (const char *at = f->words + 1; at < f->words + f->len;) {
		char *end = NULL;
		unsigned long mode = strtoul(at, &end, 10);
		bool known = false;

		for (size_t i = 0; i < BAWN_ARRAY_SIZE(filter_modes); i++)
			known = known || filter_modes[i] == mode;
		if (known && end > at)
			filter_put_mode(f, mode, final, &some, into);
		else if (mode == 3 && final == 'h')
			filter_keep(f, TERMINAL_WINDOW);
		else if (end > at && (final == 'h' || mode == 2)) /* off is how most begin */
			filter_keep(f, TERMINAL_OTHER);
		at = end > at ? end : at + 1;
		at += *at == ';';
	}
	if (some)
		buf_put_char(into, final);
}

/* CSI 4 h: inserting; CSI 20 h: Enter types two bytes. */
static void filter_ansi_modes(struct terminal_filter *f, char final, struct buf *into)
{
	unsigned long mode = strtoul(f->words, NULL, 10);

	if ((mode == 4 || mode == 20) && strspn(f->words, "0123456789") == f->len)
		filter_put_sequence(f, final, into);
	else
		filter_keep(f, TERMINAL_OTHER);
}

/* Whether a sequence of filter_questions is one whose answer has nothing of the box's in it. */
static bool filter_is_fair(const struct terminal_filter *f, char final)
{
	unsigned long number = strtoul(f->words + (f->words[0] == '?'), NULL, 10);

	if (final == 'c') /* what it is */
		return number == 0;
	if (final == 'n' && f->words[0] == '?') /* where the cursor is; dark or light */
		return number == 6 || number == 996;
	if (final == 'n') /* whether it is well; where the cursor is */
		return number == 5 || number == 6;
	if (final == 't') /* its size */
		return number == 14 || number == 16 || number == 18;
	return true; /* modes, keyboard, name */
}

static enum terminal_class filter_class_of_sequence(const struct terminal_filter *f, char mid,
						    char final)
{
	unsigned long number = strtoul(f->words, NULL, 10);

	if (final == 't' && !mid)
		return f->words[0] == '>' || number == 20 || number == 21 || number == 22 ||
				       number == 23
			       ? TERMINAL_TITLE
			       : TERMINAL_WINDOW;
	if (final == 'i' && !mid)
		return TERMINAL_PRINTING;
	if (final == 'S' && f->words[0] == '?')
		return TERMINAL_IMAGES;
	if ((filter_has("cnqxy", final) && !mid) || (mid == '*' && final == 'y') ||
	    (mid == '$' && filter_has("uw", final)) || (mid == '#' && final == '|') ||
	    (mid == '\'' && final == '|'))
		return TERMINAL_QUESTIONS;
	return TERMINAL_OTHER;
}

/* Numbers, after at most one of <=>? and before at most one of 0x20 to 0x2f. */
static bool filter_is_well_made(const struct terminal_filter *f, char *ret_first, char *ret_mid)
{
	size_t at = f->len > 0 && filter_has("<=>?", f->words[0]);

	*ret_first = at ? f->words[0] : '\0';
	at += strspn(f->words + at, "0123456789;:");
	*ret_mid = at < f->len ? f->words[at] : '\0';
	return !f->cut && (at == f->len || (at + 1 == f->len && *ret_mid < '0'));
}

static void filter_end_sequence(struct terminal_filter *f, char final, struct buf *into)
{
	char first = '\0', mid = '\0';

	f->words[f->len] = '\0';
	f->state = FILTER_TEXT;
	bool well = filter_is_well_made(f, &first, &mid);

	/* With more numbers it starts a way of the mouse that waits for an answer. */
	bool scrolls = !first && !mid && final == 'T' && !strchr(f->words, ';');
	bool tabs = final == 'W' && !mid && str_equal(f->words, "?5");
	/* A mode of a terminal that another program uses; or modes are put aside, which is ours to do. */
	bool not_theirs = (f->behind && !scrolls &&
			   !filter_is_in(filter_passing, BAWN_ARRAY_SIZE(filter_passing), first,
					 mid, final)) ||
			  (first == '?' && !mid && (final == 's' || final == 'r'));

	if (!well)
		filter_keep(f, TERMINAL_OTHER);
	else if (not_theirs)
		return;
	else if (first == '?' && !mid && (final == 'h' || final == 'l'))
		filter_private_modes(f, final, into);
	else if (!first && !mid && (final == 'h' || final == 'l'))
		filter_ansi_modes(f, final, into);
	else if (scrolls || tabs ||
		 filter_is_in(filter_silent, BAWN_ARRAY_SIZE(filter_silent), first, mid, final) ||
		 (f->questions &&
		  filter_is_in(filter_questions, BAWN_ARRAY_SIZE(filter_questions), first, mid,
			       final) &&
		  (mid || filter_is_fair(f, final))))
		filter_put_sequence(f, final, into);
	else
		filter_keep(f, filter_class_of_sequence(f, mid, final));
}

/* --- strings -------------------------------------------------------------------------- */

/* What a string of DCS is: parameters, then what is asked, then a letter. */
static enum terminal_class filter_class_of_dcs(const struct terminal_filter *f)
{
	size_t at = strspn(f->words, "0123456789;:");

	if (f->words[at] == 'q')
		return TERMINAL_IMAGES;
	if (filter_has("$+", f->words[at]))
		return TERMINAL_QUESTIONS;
	return f->words[at] == '|' ? TERMINAL_KEYS : TERMINAL_OTHER;
}

static enum terminal_class filter_class_of_1337(const char *what)
{
	if (str_after(what, "Copy"))
		return TERMINAL_CLIPBOARD;
	if (str_after(what, "File=") || str_after(what, "MultipartFile="))
		return TERMINAL_IMAGES;
	if (str_after(what, "CurrentDir=") || str_after(what, "SetMark") ||
	    str_after(what, "RemoteHost=") || str_after(what, "ShellIntegrationVersion="))
		return TERMINAL_MARKS;
	return TERMINAL_OTHER;
}

static enum terminal_class filter_class_of_osc(const struct terminal_filter *f)
{
	char *end = NULL;
	unsigned long number = strtoul(f->words, &end, 10);

	if (f->words[0] < '0' || f->words[0] > '9')
		return filter_has("lLI", f->words[0]) ? TERMINAL_TITLE : TERMINAL_OTHER;
	if (number <= 2)
		return TERMINAL_TITLE;
	if (number == 4 || number == 5 || (number >= 10 && number <= 19) || number == 21 ||
	    (number >= 104 && number <= 119))
		return TERMINAL_COLOURS;
	switch (number) {
	case 7:
	case 133:
	case 633:
		return TERMINAL_MARKS;
	case 8:
		return TERMINAL_LINKS;
	case 9:
	case 99:
	case 777:
		return TERMINAL_NOTICES;
	case 52:
	case 5522:
		return TERMINAL_CLIPBOARD;
	case 1337:
		return filter_class_of_1337(*end == ';' ? end + 1 : end);
	default:
		return TERMINAL_OTHER;
	}
}

static enum terminal_class filter_class_of_string(const struct terminal_filter *f)
{
	switch (f->string) {
	case ']':
		return filter_class_of_osc(f);
	case 'P':
		return filter_class_of_dcs(f);
	case 'k':
		return TERMINAL_TITLE;
	case '_':
		return f->words[0] == 'G' ? TERMINAL_IMAGES : TERMINAL_OTHER;
	default:
		return TERMINAL_OTHER;
	}
}

/* --- links */

/* "https://host:port/..." */
static bool filter_is_link(const struct terminal_filter *f, const char *uri)
{
	bool tls = strncasecmp(uri, "https://", 8) == 0;

	if (!f->link || (!tls && strncasecmp(uri, "http://", 7) != 0))
		return false;
	for (const char *at = uri; *at; at++)
		if (*at <= ' ' || *at >= FILTER_DEL || filter_has("\\\"<>^`{|}", *at))
			return false;
	const char *host = uri + (tls ? 8 : 7);
	size_t len = strcspn(host, "/?#");

	return len > 0 && !memchr(host, '@', len) &&
	       f->link(f->context, tls, (struct span){(const uint8_t *)host, len});
}

/* "8;id=1:x=2;https://..." of which the id stays. */
static void filter_end_link(struct terminal_filter *f, struct buf *into)
{
	const char *parameters = f->words + 2;
	const char *uri = f->words[1] == ';' ? strchr(parameters, ';') : NULL;
	const char *id = parameters;

	/* A link that goes on would cover the text of the one that is left out. */
	if (f->cut || !uri || uri[1] == '\0' || !filter_is_link(f, uri + 1)) {
		if (f->cut || !uri || uri[1] != '\0')
			filter_keep(f, TERMINAL_LINKS);
		buf_put_str(into, "\033]8;;" ST);
		return;
	}
	while (id < uri && !(str_after(id, "id="))) {
		id += strcspn(id, ":;");
		id += *id == ':';
	}
	size_t len = id < uri ? strcspn(id, ":;") : 0;

	for (size_t i = 0; i < len; i++)
		if (id[i] <= ' ' || id[i] >= FILTER_DEL)
			len = 0;
	buf_put_str(into, "\033]8;");
	buf_put(into, id, len);
	buf_putf(into, ";%s" ST, uri + 1);
}

/* --- what a plan allows */

/* A title, a notice: f->words has letters and nothing else (filter_in_string). */
static void filter_end_words(struct terminal_filter *f, enum terminal_class class, struct buf *into)
{
	bool known = class == TERMINAL_TITLE
			     ? f->words[0] >= '0' && f->words[0] <= '2' && f->words[1] == ';'
			     : str_after(f->words, "9;") || str_after(f->words, "777;notify;");

	if (f->cut || !known || f->len > FILTER_SAID_MAX) {
		filter_keep(f, class);
		return;
	}
	if (class == TERMINAL_TITLE && !f->titled)
		buf_put_str(into, "\033[22;0t");
	f->titled = f->titled || class == TERMINAL_TITLE;
	buf_putf(into, "\033]%s" ST, f->words);
}

/* "4;1;?" or "11;?": only asks. */
static bool filter_asks_colour(const struct terminal_filter *f)
{
	char *end = NULL;
	unsigned long number = strtoul(f->words, &end, 10);

	if (f->cut || f->len > FILTER_SAID_MAX || (number != 4 && (number < 10 || number > 19)))
		return false;
	while (*end == ';') {
		if (number == 4) {
			size_t digits = strspn(end + 1, "0123456789");

			if (digits == 0 || digits > 3 || end[1 + digits] != ';')
				return false;
			end += 1 + digits;
		}
		if (end[1] != '?')
			return false;
		end += 2;
	}
	return *end == '\0' && end[-1] == '?';
}

static void filter_end_colour(struct terminal_filter *f, struct buf *into)
{
	unsigned long number = strtoul(f->words, NULL, 10);
	bool set = filter_is_allowed(f, TERMINAL_COLOURS) && !f->cut && f->len <= FILTER_SAID_MAX &&
		   number != 21 &&
		   strspn(f->words, "0123456789;:#/.,-abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == f->len;

	if (set || (f->questions && filter_asks_colour(f)))
		buf_putf(into, "\033]%s" ST, f->words);
	else if (number < 104) /* how they were: so they are */
		filter_keep(f, TERMINAL_COLOURS);
}

/* Ended as it should be: some strings may pass. */
static void filter_end_string(struct terminal_filter *f, struct buf *into)
{
	f->words[f->len] = '\0';
	f->state = FILTER_TEXT;
	enum terminal_class class = filter_class_of_string(f);
	bool osc = f->string == ']';

	if (osc && class == TERMINAL_LINKS)
		filter_end_link(f, into);
	else if (osc && class == TERMINAL_COLOURS)
		filter_end_colour(f, into);
	else if (osc && (class == TERMINAL_TITLE || class == TERMINAL_NOTICES) &&
		 filter_is_allowed(f, class))
		filter_end_words(f, class, into);
	else if (f->string == 'P' && (str_equal(f->words, "=1s") || str_equal(f->words, "=2s")))
		; /* an old way to draw at once */
	else
		filter_keep(f, class);
}

/* Broken off: no part of it passes. */
static void filter_abort_string(struct terminal_filter *f)
{
	f->words[f->len] = '\0';
	f->state = FILTER_TEXT;
	filter_keep(f, filter_class_of_string(f));
}

/* --- strings whose bytes pass as they come */

static bool filter_may_pass(const struct terminal_filter *f, char byte)
{
	if (f->string == 'P')
		return byte >= ' ' && byte < FILTER_DEL;
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || filter_has("+/=", byte);
}

/* Whether the string so far, with this byte, is one that passes: sixel, or into the clipboard. */
static bool filter_begins_pass(struct terminal_filter *f, char byte, struct buf *into)
{
	f->words[f->len] = '\0';
	if (f->string == 'P' && filter_is_allowed(f, TERMINAL_IMAGES) && byte == 'q' &&
	    strspn(f->words, "0123456789;") == f->len && f->len < FILTER_SEQUENCE_MAX) {
		buf_putf(into, "\033P%sq", f->words);
		return true;
	}
	const char *to = str_after(f->words, "52;");

	if (f->string != ']' || !filter_is_allowed(f, TERMINAL_CLIPBOARD) || !to ||
	    !filter_may_pass(f, byte))
		return false;
	size_t len = strspn(to, "cpqs01234567");

	if (to[len] != ';' || to[len + 1] != '\0' || f->len > FILTER_SEQUENCE_MAX)
		return false;
	buf_putf(into, "\033]%s%c", f->words, byte);
	return true;
}

/* --- the parser ----------------------------------------------------------------------- */

static void filter_begin(struct terminal_filter *f, enum filter_state state, uint8_t string)
{
	f->state = (unsigned char)state;
	f->string = string;
	f->len = 0;
	f->cut = false;
	f->words[0] = '\0';
}

/* Leaves the screen as ESC c does. */
static void filter_reset(struct terminal_filter *f, struct buf *into)
{
	/* Not every terminal knows the soft reset. */
	buf_put_str(into, "\033[!p\033[?1;6l\033[?7;25h\033[4l\033>");
	if (f->other)
		buf_put_str(into, "\033[?1049l");
	if (f->reports)
		buf_put_str(into, "\033[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004l");
	f->other = f->reports = false;
	buf_put_str(into, "\033[m\033(B\017\033[r\033[H\033[2J");
}

static void filter_escape(struct terminal_filter *f, uint8_t byte, struct buf *into)
{
	f->state = FILTER_TEXT;
	if (byte == '[')
		filter_begin(f, FILTER_SEQUENCE, byte);
	else if (filter_has("]PX^_k", (char)byte))
		filter_begin(f, FILTER_STRING, byte);
	else if (byte >= 0x20 && byte < 0x30) {
		filter_begin(f, FILTER_ESCAPE_MID, byte);
		f->words[f->len++] = (char)byte;
	} else if (byte == 'c') {
		if (!f->behind)
			filter_reset(f, into);
	} else if (filter_has(f->behind ? "DEM" : "78=>DEHM69", (char)byte)) {
		buf_put_char(into, FILTER_ESC);
		buf_put_char(into, (char)byte);
	} else if (byte != '\\' &&
		   !(f->behind &&
		     filter_has("78=>H69", (char)byte))) /* the end of a string that is none */
		filter_keep(f, byte == 'Z' ? TERMINAL_QUESTIONS : TERMINAL_OTHER);
}

/* Sets of letters for ESC ( and its like; sizes of lines. */
static void filter_escape_mid(struct terminal_filter *f, uint8_t byte, struct buf *into)
{
	bool sets = f->len == 1 && filter_has("()*+", f->words[0]) && filter_has("0AB", (char)byte);
	bool sizes = f->len == 1 && f->words[0] == '#' && filter_has("34568", (char)byte);

	if (byte < 0x30) {
		f->len = 2; /* none of these has two */
		return;
	}
	f->state = FILTER_TEXT;
	if (!sets && !sizes) {
		filter_keep(f, TERMINAL_OTHER);
		return;
	}
	if (f->behind)
		return;
	buf_put_char(into, FILTER_ESC);
	buf_put_char(into, f->words[0]);
	buf_put_char(into, (char)byte);
}

static void filter_in_sequence(struct terminal_filter *f, uint8_t byte, struct buf *into)
{
	if (byte >= 0x40)
		filter_end_sequence(f, (char)byte, into);
	else if (f->len < FILTER_SEQUENCE_MAX)
		f->words[f->len++] = (char)byte;
	else
		f->cut = true;
}

static void filter_in_string(struct terminal_filter *f, const uint8_t *letter, size_t len,
			     struct buf *into)
{
	char byte = (char)letter[0];

	if (f->string == ']' && f->len == 0 && (byte == 'P' || byte == 'R')) {
		/* The Linux console's own; it has no end. */
		f->state = byte == 'P' ? FILTER_PALETTE : FILTER_TEXT;
		return;
	}
	if (len == 1 && !f->cut && filter_begins_pass(f, byte, into)) {
		f->state = FILTER_PASS;
		return;
	}
	if (f->len + len < sizeof(f->words)) {
		memcpy(f->words + f->len, letter, len);
		f->len += len;
	} else {
		f->cut = true;
	}
}

/* What was begun ends here, without its own end; the rest of it is read as something new. */
static void filter_break_off(struct terminal_filter *f, struct buf *into)
{
	switch ((enum filter_state)f->state) {
	case FILTER_STRING:
	case FILTER_STRING_ESCAPE:
		filter_abort_string(f);
		break;
	case FILTER_PASS:
	case FILTER_PASS_ESCAPE:
		buf_put_str(into, ST);
		break;
	case FILTER_PALETTE:
		filter_keep(f, TERMINAL_COLOURS);
		break;
	case FILTER_SEQUENCE:
	case FILTER_ESCAPE_MID:
		filter_keep(f, TERMINAL_OTHER);
		break;
	case FILTER_ESCAPE:
	case FILTER_TEXT:
		break;
	}
	f->state = FILTER_TEXT;
}

/* A letter: a printable byte, or a whole character beyond ASCII. */
static void filter_letter(struct terminal_filter *f, const uint8_t *letter, size_t len,
			  struct buf *into)
{
	bool ascii = len == 1 && letter[0] < 0x80;
	bool after_escape = f->state == FILTER_STRING_ESCAPE || f->state == FILTER_PASS_ESCAPE;

	if (f->state == FILTER_STRING_ESCAPE && letter[0] == '\\') {
		filter_end_string(f, into);
		return;
	}
	if (f->state == FILTER_STRING) {
		filter_in_string(f, letter, len, into);
		return;
	}
	if (f->state == FILTER_PASS) {
		if (ascii && filter_may_pass(f, (char)letter[0]))
			buf_put_char(into, (char)letter[0]);
		return;
	}
	if (f->state == FILTER_PALETTE && ascii &&
	    filter_has("0123456789abcdefABCDEF", (char)letter[0])) {
		if (++f->len == FILTER_PALETTE_DIGITS)
			filter_break_off(f, into);
		return;
	}
	if (after_escape || f->state == FILTER_PALETTE || !ascii)
		filter_break_off(f, into);
	if (after_escape && ascii)
		f->state = FILTER_ESCAPE; /* an ST is none by itself */
	if (f->state == FILTER_ESCAPE)
		filter_escape(f, letter[0], into);
	else if (f->state == FILTER_ESCAPE_MID)
		filter_escape_mid(f, letter[0], into);
	else if (f->state == FILTER_SEQUENCE)
		filter_in_sequence(f, letter[0], into);
	else
		buf_put(into, letter, len);
}

/* Bell to shift-in; other letters, which shift-out begins, would stay. */
static bool filter_is_shown(const struct terminal_filter *f, uint8_t control)
{
	return control >= '\a' && control <= 0x0f && !(f->behind && control == 0x0e);
}

/* A byte below 0x20, or DEL.  Within a sequence terminals obey it at once. */
static void filter_control(struct terminal_filter *f, uint8_t byte, struct buf *into)
{
	bool string = f->state == FILTER_STRING || f->state == FILTER_PASS;
	bool ends = byte == '\a' && (f->string == ']' || f->string == 'k');

	if (byte == FILTER_ESC && string) {
		f->state = f->state == FILTER_PASS ? FILTER_PASS_ESCAPE : FILTER_STRING_ESCAPE;
		return;
	}
	if (f->state == FILTER_STRING && ends) {
		filter_end_string(f, into);
		return;
	}
	if (byte == FILTER_ESC || byte == FILTER_CAN || byte == FILTER_SUB ||
	    (f->state == FILTER_PASS && ends)) {
		filter_break_off(f, into);
		f->state = byte == FILTER_ESC ? FILTER_ESCAPE : FILTER_TEXT;
		return;
	}
	if (string)
		return;
	if (f->state == FILTER_STRING_ESCAPE || f->state == FILTER_PASS_ESCAPE) {
		filter_break_off(f, into);
		f->state = FILTER_ESCAPE;
	}
	if (f->state == FILTER_PALETTE)
		filter_break_off(f, into);
	if (filter_is_shown(f, byte))
		buf_put_char(into, (char)byte);
	else if (byte == FILTER_ENQ)
		filter_keep(f, TERMINAL_QUESTIONS);
}

/* --- letters -------------------------------------------------------------------------- */

static void filter_no_letter(struct terminal_filter *f, struct buf *into)
{
	f->need = 0;
	f->letter_len = 0;
	filter_letter(f, (const uint8_t *)(f->bytes ? "?" : "\xef\xbf\xbd"), f->bytes ? 1 : 3,
		      into);
}

static void filter_whole_letter(struct terminal_filter *f, struct buf *into)
{
	size_t len = f->letter_len;

	f->need = 0;
	f->letter_len = 0;
	if (len == 2 && f->letter[0] == 0xc2 && f->letter[1] < 0xa0) {
		const uint8_t same = (uint8_t)(f->letter[1] - 0x40);

		filter_control(f, FILTER_ESC, into);
		filter_letter(f, &same, 1, into);
		return;
	}
	filter_letter(f, f->letter, len, into);
}

/* The first byte of a character: how many follow, and what the next may be (Unicode, table 3-7). */
static bool filter_leads(struct terminal_filter *f, uint8_t byte)
{
	if (byte < 0xc2 || byte > 0xf4)
		return false;
	f->need = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	f->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
	f->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
	f->letter[0] = byte;
	f->letter_len = 1;
	return true;
}

static void filter_byte(struct terminal_filter *f, uint8_t byte, struct buf *into)
{
	if (f->need > 0 && byte >= f->low && byte <= f->high) {
		f->letter[f->letter_len++] = byte;
		f->low = 0x80;
		f->high = 0xbf;
		if (--f->need == 0)
			filter_whole_letter(f, into);
		return;
	}
	if (f->need > 0)
		filter_no_letter(f, into);
	if (byte < 0x20 || byte == FILTER_DEL)
		filter_control(f, byte, into);
	else if (byte < 0x80 || (f->bytes && byte >= 0xa0))
		filter_letter(f, &byte, 1, into);
	else if (f->bytes || !filter_leads(f, byte))
		filter_no_letter(f, into);
}

static bool filter_goes_on(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The length of a letter beyond ASCII that is surely one; 0: filter_byte finds out. */
static size_t filter_sure_letter(const uint8_t *at, size_t len)
{
	if (len >= 2 && at[0] >= 0xc3 && at[0] < 0xe0 && filter_goes_on(at[1]))
		return 2;
	if (len >= 3 && at[0] > 0xe0 && at[0] < 0xf0 && at[0] != 0xed && filter_goes_on(at[1]) &&
	    filter_goes_on(at[2]))
		return 3;
	return 0;
}

/* How many bytes from here are plain text.  Most of it is, so this is fast. */
static size_t filter_plain(const struct terminal_filter *f, const uint8_t *bytes, size_t len)
{
	size_t n = 0;

	while (n < len) {
		uint8_t byte = bytes[n];
		size_t letter = (byte >= 0x20 && byte < FILTER_DEL) || filter_is_shown(f, byte) ? 1
				: byte < 0xc3 || f->bytes                                       ? 0
							  : filter_sure_letter(bytes + n, len - n);

		if (letter == 0)
			return n;
		n += letter;
	}
	return n;
}

void terminal_filter_feed(struct terminal_filter *f, const uint8_t *bytes, size_t len,
			  struct buf *into)
{
	for (size_t at = 0; at < len;) {
		size_t plain = f->state == FILTER_TEXT && f->need == 0
				       ? filter_plain(f, bytes + at, len - at)
				       : 0;

		buf_put(into, bytes + at, plain);
		at += plain;
		if (at < len)
			filter_byte(f, bytes[at++], into);
	}
}

void terminal_filter_undone(struct terminal_filter *f)
{
	f->titled = f->wheeled = f->other = f->reports = false;
	/* The rest of what passed is no text. */
	if (f->state == FILTER_PASS || f->state == FILTER_PASS_ESCAPE) {
		f->state = FILTER_STRING;
		f->len = 0;
		f->cut = true;
	}
}

/* --- what was left out ---------------------------------------------------------------- */

void terminal_filter_say(const struct terminal_filter *f, struct buf *into)
{
	static const struct {
		enum terminal_class class;
		const char *one, *several;
	} words[] = {
		{TERMINAL_CLIPBOARD, "write to the clipboard", "writes to the clipboard"},
		{TERMINAL_NOTICES, "notice", "notices"},
		{TERMINAL_IMAGES, "image", "images"},
		{TERMINAL_WINDOW, "change of the window", "changes of the window"},
		{TERMINAL_PRINTING, "order to print", "orders to print"},
		{TERMINAL_KEYS, "redefinition of keys", "redefinitions of keys"},
	};
	size_t left = 0;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
		left += f->kept[words[i].class] > 0;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++) {
		uint64_t count = f->kept[words[i].class];

		if (count == 0)
			continue;
		left--;
		buf_putf(into, "%s%llu %s",
			 into->len == 0 ? ""
			 : left         ? ", "
					: " and ",
			 (unsigned long long)count, count == 1 ? words[i].one : words[i].several);
	}
}
