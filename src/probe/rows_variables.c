/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of the user's shell.  verify sets a made-up value for each
 * one that is not set, so that there is something to keep out.
 */
#include "attempt.h"

static int variables_attempt(struct probe_run *run)
{
	const char *value = getenv(run->probe->text);

	return value && value[0] ? PROBE_DONE : PROBE_ABSENT;
}

#define VARIABLE(corpus, variable, what)                                                          \
	{                                                                                         \
		.id = (corpus), .name = "env-" variable,                                          \
		.sentence = variable ", " what ", is not set inside.", .promise = PROBE_SECRETS,  \
		.layers = PROBE_LAYER(ENV), .attempt = variables_attempt, .want = {PROBE_ABSENT}, \
		.control = PROBE_CONTROL_SAME, .flags = PROBE_VARIABLE, .text = (variable)        \
	}

static const struct probe rows[] = {
	VARIABLE("SK-02", "DBUS_SESSION_BUS_ADDRESS", "the way to the session bus"),
	VARIABLE("SK-02", "DBUS_SYSTEM_BUS_ADDRESS", "the way to the system bus"),
	VARIABLE("SK-02", "NOTIFY_SOCKET", "the way to the service manager"),
	VARIABLE("SK-03", "SSH_AUTH_SOCK", "the way to the SSH agent"),
	VARIABLE("SK-03", "SSH_AGENT_PID", "the SSH agent's process"),
	VARIABLE("SK-03", "GPG_AGENT_INFO", "the way to the PGP agent"),
	VARIABLE("SK-03", "GNOME_KEYRING_CONTROL", "the way to the keyring"),
	VARIABLE("SK-04", "DISPLAY", "the way to the display"),
	VARIABLE("SK-04", "WAYLAND_DISPLAY", "the way to the Wayland display"),
	VARIABLE("SK-04", "XAUTHORITY", "the display's key"),
	VARIABLE("SK-04", "TMUX", "the way to tmux"),
	VARIABLE("SK-04", "STY", "the way to screen"),
	VARIABLE("SK-04", "VSCODE_IPC_HOOK_CLI", "the way to the editor"),
	VARIABLE("SK-04", "VSCODE_GIT_ASKPASS_NODE", "the editor's password helper"),
	VARIABLE("SK-04", "EMACS_SOCKET_NAME", "the way to Emacs"),
	VARIABLE("SK-01", "DOCKER_HOST", "the way to Docker"),
	VARIABLE("SK-01", "CONTAINER_HOST", "the way to Podman"),
	VARIABLE("SK-01", "LIBVIRT_DEFAULT_URI", "the way to libvirt"),
	VARIABLE("SK-03", "SSH_ASKPASS", "the password helper"),
	VARIABLE("SK-03", "GIT_ASKPASS", "Git's password helper"),
	VARIABLE("PR-03", "ANTHROPIC_API_KEY", "a model provider's key"),
	VARIABLE("PR-03", "OPENAI_API_KEY", "a model provider's key"),
	VARIABLE("PR-03", "GEMINI_API_KEY", "a model provider's key"),
	VARIABLE("PR-03", "GITHUB_TOKEN", "GitHub's token"),
	VARIABLE("PR-03", "GH_TOKEN", "GitHub's token"),
	VARIABLE("PR-03", "GITLAB_TOKEN", "GitLab's token"),
	VARIABLE("PR-03", "NPM_TOKEN", "npm's token"),
	VARIABLE("PR-03", "PYPI_TOKEN", "PyPI's token"),
	VARIABLE("PR-03", "CARGO_REGISTRY_TOKEN", "Cargo's token"),
	VARIABLE("PR-03", "AWS_ACCESS_KEY_ID", "AWS's key"),
	VARIABLE("PR-03", "AWS_SECRET_ACCESS_KEY", "AWS's secret key"),
	VARIABLE("PR-03", "AWS_SESSION_TOKEN", "AWS's session"),
	VARIABLE("PR-03", "AZURE_CLIENT_SECRET", "Azure's secret"),
	VARIABLE("PR-03", "GOOGLE_APPLICATION_CREDENTIALS", "Google Cloud's credentials"),
	VARIABLE("PR-03", "KUBECONFIG", "Kubernetes' credentials"),
	VARIABLE("PR-03", "VAULT_TOKEN", "Vault's token"),
	VARIABLE("PR-03", "DATABASE_URL", "a database with its password"),
	VARIABLE("PR-03", "PGPASSWORD", "a database password"),
	VARIABLE("PR-03", "SLACK_TOKEN", "Slack's token"),
	VARIABLE("PR-03", "STRIPE_SECRET_KEY", "Stripe's key"),
	VARIABLE("PR-03", "HF_TOKEN", "Hugging Face's token"),
	VARIABLE("PR-03", "MY_SERVICE_PASSWORD", "a password of any name"),
	VARIABLE("PR-03", "BAWN_VERIFY_CANARY", "a variable nobody asked for"),
	VARIABLE("PR-03", "LD_PRELOAD_CANARY", "a variable nobody knows"),
};

const struct probe_group probe_rows_variables = PROBE_GROUP(rows);
