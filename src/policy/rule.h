/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rule of `network:`, from the text to struct plan_rule: the host in
 * its one spelling, the ports and the scheme written out.  And comparisons of rules,
 * which a ceiling needs.
 */
#ifndef BAWN_RULE_H
#define BAWN_RULE_H

#include "name.h"
#include "yaml_tree.h"
#include "value.h"

/* The keys of a rule: one of the first five, and the others beside it. */
extern const char *const rule_keys[]; /* NULL-terminated */

/* One item of the list in a file; added to value. */
int rule_read(const struct value_site *s, const struct tree_node *n, struct grammar_value *value);

/* The same from the command line: word is allow, deny, ask, ssh or use. */
int rule_read_flag(const struct value_site *s, const char *word, const char *text,
		   struct grammar_value *value);

/* The lists that a rule and a secret both have. */
int rule_read_methods(const struct value_site *s, const struct tree_node *n,
		      const struct plan_string **ret_items, size_t *ret_count);
int rule_read_paths(const struct value_site *s, const struct tree_node *n,
		    const struct plan_string **ret_items, size_t *ret_count);

/* "allow *.example.org ports 443, 8443 scheme tls": as a person would write it in one line. */
const char *rule_show(const struct plan_rule *rule, struct arena *arena);

/* Whether rules of list give everything that inner gives. */
bool rule_is_given(const struct plan_rule *list, size_t count, const struct plan_rule *inner);

/* A name that the rule is about and that, of a wildcard, no other rule names.  False: none fits. */
bool rule_example(const struct plan_rule *rule, struct name *ret_name);

/*
 * Words of warning for a rule that opens all names beneath one where anyone can get a name, such as
 * *.com; else NULL.  It knows the usual ones, not all.
 */
const char *rule_is_wide(const struct plan_rule *rule);

#endif
