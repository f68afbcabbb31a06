/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds a rule for the network to the user's own config.yaml.  The file is the user's: every line
 * and comment stays as it is, one or two lines are added, and the new file replaces the old one
 * whole or not at all.
 *
 * We read the result again.  It must be what was there and one rule more.  If that is not possible
 * (a list in brackets, a file of somebody else), nothing is written, and the caller shows the line
 * instead.
 */
#ifndef BAWN_CONFIG_EDIT_H
#define BAWN_CONFIG_EDIT_H

#include "buf.h"
#include "error.h"
#include "plan.h"

/* Puts "- allow: \"*.example.org:443\"": the rule as a line of `network:`. */
void config_rule_line(struct buf *into, const struct plan_rule *rule);

/* Writes no file.  *ret_text: the text with that line added; *ret_line: the number of the line.
 * -EOPNOTSUPP: it cannot be added safely; -EALREADY: it is there. */
int config_add_line(const char *name, struct span text, const char *line, struct buf *ret_text,
		    size_t *ret_line, struct error *e);

/* The same for the file at path, which is made if it is missing.  line: gets that line.  If another
 * rule names a port of a host, a deny of that host names every port. */
int config_add_rule(const char *path, const struct plan_rule *rule, struct buf *line,
		    size_t *ret_line, struct error *e);

#endif
