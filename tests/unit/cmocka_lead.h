/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka.h wants these four in front of it. */
#ifndef BAWN_TEST_CMOCKA_LEAD_H
#define BAWN_TEST_CMOCKA_LEAD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
