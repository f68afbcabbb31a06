/* SPDX-License-Identifier: Apache-2.0 */
#include "credential.h"

#include "str.h"

#include <strings.h>

/* Anywhere in a name, whatever its case. */
static const char *const credential_parts[] = {
	"SECRET",    "PASSWORD", "PASSWD",     "PASSPHRASE",       "CREDENTIAL", "APIKEY",
	"ACCESSKEY", "PRIVKEY",  "PRIVATEKEY", "CONNECTIONSTRING", "TOKEN",
};

/* As one of the words between underscores. */
static const char *const credential_words[] = {
	"KEY",           "KEYS", "PAT",   "PASS",  "PWD",     "PW",     "AUTH",
	"AUTHORIZATION", "CRED", "CREDS", "JWT",   "BEARER",  "COOKIE", "DSN",
	"OAUTH",         "PIN",  "OTP",   "NETRC", "WEBHOOK",
};

/* Families that are about an account and nothing else. */
static const char *const credential_families[] = {
	"AWS_",    "AZURE_", "ARM_",    "BW_",     "CONSUL_", "DBUS_",   "GCLOUD_",  "GCP_",
	"GOOGLE_", "GPG_",   "KRB5",    "NOMAD_",  "OP_",     "PG",      "MYSQL_",   "REDIS",
	"SLACK_",  "SSH_",   "STRIPE_", "TWILIO_", "VAULT_",  "CI_JOB_", "ACTIONS_",
};

/* How the value of a known kind of credential begins. */
static const char *const credential_starts[] = {
	"-----BEGIN",  "AGE-SECRET-KEY-",
	"AKIA",        "ASIA",
	"AIza",        "ATATT",
	"Basic ",      "Bearer ",
	"SG.",         "dapi",
	"dckr_pat_",   "dop_v1_",
	"eyJ",         "gho_",
	"ghp_",        "ghr_",
	"ghs_",        "ghu_",
	"github_pat_", "glpat-",
	"gsk_",        "hf_",
	"hvs.",        "lin_api_",
	"npm_",        "nvapi-",
	"pplx-",       "pypi-",
	"rk_live_",    "sbp_",
	"shpat_",      "sk-",
	"sk_live_",    "sk_test_",
	"sq0",         "tskey-",
	"xai-",        "xapp-",
	"xox",         "ya29.",
};

enum { CREDENTIAL_WORD_LEAST = 20, CREDENTIAL_KINDS_LEAST = 8 };

static bool credential_word_matches(const char *word, size_t len)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(credential_words); i++)
		if (strlen(credential_words[i]) == len &&
		    strncasecmp(word, credential_words[i], len) == 0)
			return true;
	return false;
}

bool credential_in_name(const char *name)
{
	char joined[256];
	size_t len = 0;

	/* PWD and OLDPWD are folders. */
	if (str_equal(name, "PWD") || str_equal(name, "OLDPWD"))
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(credential_families); i++)
		if (strncasecmp(name, credential_families[i], strlen(credential_families[i])) == 0)
			return true;
	for (const char *word = name; *word;) {
		size_t n = strcspn(word, "_");

		if (credential_word_matches(word, n))
			return true;
		word += n;
		word += strspn(word, "_");
	}
	/* Without separators, so that API_KEY and apiKey are the same. */
	for (const char *c = name; *c && len + 1 < sizeof(joined); c++)
		if (*c != '_')
			joined[len++] = *c;
	joined[len] = '\0';
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(credential_parts); i++)
		if (strcasestr(joined, credential_parts[i]))
			return true;
	return false;
}

/* scheme://user:password@host */
static bool credential_in_url(const char *value)
{
	const char *at = strstr(value, "://");

	for (; at; at = strstr(at, "://")) {
		at += 3;
		size_t len = strcspn(at, "/?#@ ");

		if (at[len] == '@' && memchr(at, ':', len))
			return true;
	}
	return false;
}

enum credential_kind { CREDENTIAL_OTHER, CREDENTIAL_LOWER, CREDENTIAL_UPPER, CREDENTIAL_DIGIT };

static enum credential_kind credential_kind(char c)
{
	if (c >= 'a' && c <= 'z')
		return CREDENTIAL_LOWER;
	if (c >= 'A' && c <= 'Z')
		return CREDENTIAL_UPPER;
	return c >= '0' && c <= '9' ? CREDENTIAL_DIGIT : CREDENTIAL_OTHER;
}

/* Whether the kind of character changes: letter to digit, or lower case to upper case.  That
 * happens between words, and everywhere in random text. */
static bool credential_is_seam(enum credential_kind before, enum credential_kind now)
{
	if (before == CREDENTIAL_OTHER || now == CREDENTIAL_OTHER)
		return false;
	return (before == CREDENTIAL_DIGIT) != (now == CREDENTIAL_DIGIT) ||
	       (before == CREDENTIAL_LOWER && now == CREDENTIAL_UPPER);
}

/*
 * Whether one word of letters and digits looks random: names and versions have few such
 * changes, random text has one at every second or third character.
 */
static bool credential_is_random(const char *value)
{
	size_t len = strlen(value);
	size_t seams = 0;
	size_t different = 0;
	bool seen[256] = {false};
	bool digit = false;
	enum credential_kind before = CREDENTIAL_OTHER;

	if (len < CREDENTIAL_WORD_LEAST || value[0] == '/' || value[0] == '~' || value[0] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		enum credential_kind kind = credential_kind(value[i]);

		if (kind == CREDENTIAL_OTHER && !strchr("-_.+/=", value[i]))
			return false;
		if (!seen[(unsigned char)value[i]]) {
			seen[(unsigned char)value[i]] = true;
			different++;
		}
		digit = digit || kind == CREDENTIAL_DIGIT;
		seams += credential_is_seam(before, kind);
		before = kind == CREDENTIAL_OTHER ? before : kind;
	}
	return digit && different >= CREDENTIAL_KINDS_LEAST && seams * 5 >= len;
}

bool credential_in_value(const char *value)
{
	value += strspn(value, " \t\n\"'");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(credential_starts); i++)
		if (str_after(value, credential_starts[i]))
			return true;
	return credential_in_url(value) || strstr(value, "PRIVATE KEY-----") ||
	       credential_is_random(value);
}
