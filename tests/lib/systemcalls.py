# SPDX-License-Identifier: Apache-2.0
"""The names of system calls, and which of them are not made to fail."""

import re

from bawntest import read

# A close that fails has closed all the same; brk says no in another way; the rest does not fail, or has no
# result to fail with.
NEVER = {"close", "exit", "exit_group", "rt_sigreturn", "restart_syscall", "getpid", "gettid", "getuid", "geteuid",
         "getgid", "getegid", "getppid", "umask", "sched_yield", "arch_prctl", "set_tid_address", "set_robust_list",
         "rseq", "getrandom", "clock_gettime", "brk", "rt_sigaction", "rt_sigprocmask"}


def call_names():
    names = {}
    for header in ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h"):
        for name, number in re.findall(r"#define __NR_(\w+)\s+(\d+)", read(header)):
            names.setdefault(int(number), name)
    return names


def moment(n, name):
    """For nth: this call, at its place or the next one that there is."""
    number = next((k for k, v in call_names().items() if v == name), None)
    return f"{n}:{number}" if number is not None else str(n)
