/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds a rule for the network to the user's own config.yaml.  The file is the user's: every
 * line and comment of it stays as it is, one or two lines are added, and the new file
 * takes the old one's place whole or not at all.
 *
 * What comes out is read again, and must be what was there and one rule more.  Where
 * that cannot be had (a list in brackets, a file of somebody else), nothing is
 * written, and the caller shows the line instead.
 */
#ifndef BAWN_CONFIG_EDIT_H
#define BAWN_CONFIG_EDIT_H

#include "buf.h"
#include "error.h"
#include "plan.h"

/* "- allow: \"*.example.org:443\"": the rule as a line of `network:`. */
void config_rule_line(struct buf *into, const struct plan_rule *rule);

/* Pure: text with that line more; the number of the line where it stands.  -EOPNOTSUPP when it
 * cannot be put in safely; -EALREADY when it stands there. */
int config_add_line(const char *name, struct span text, const char *line, struct buf *ret_text,
		    size_t *ret_line, struct error *e);

/*
 * The same to the file at path, which is made when it is missing.  line: where that line goes; a
 * deny of a host of which another rule names a port says so of every port.
 */
int config_add_rule(const char *path, const struct plan_rule *rule, struct buf *line,
		    size_t *ret_line, struct error *e);

#endif
