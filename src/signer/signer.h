/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signer: for the box it looks like an ssh agent, but it holds no key.  The process runs
 * outside, between a socket in the box and the user's own agent.  It passes on only requests for
 * a login at a host that a rule names for ssh.
 *
 *	list	only on a connection that is bound to such a host; without comments, and
 *		without keys that its rule does not name, when it names one
 *	bind	ssh says which host it talks to, and shows that host's signature over the
 *		session; the key must be one that the plan has for a named host, the
 *		signature good, and the connection for a login, not for forwarding
 *	sign	a login in that very session, nothing else: no file, no commit, no other host.
 *		What is signed names the host's key (publickey-hostbound-v00@openssh.com), unless
 *		the rule says `unbound`: the host's signature over the session alone does not
 *		show where the login goes, for a host can sign a session that it only relays
 *
 * The signer answers everything else with a failure, as an agent does for unknown requests.  The
 * host's key counts, not its name: another host at the address of a named one
 * cannot show the right signature.
 *
 * May: serve the box's socket, use connections to the agent that the keeper passes on.  Must
 * not: open files, make connections itself, hold a private key.
 */
#ifndef BAWN_SIGNER_H
#define BAWN_SIGNER_H

/* Serves the keeper until it is gone; returns the exit code. */
int signer_run(int keeper, int plan_fd);

#endif
