/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_AUTO_H
#define TKBUNDLE_AUTO_H

/* Call `release` with the variable's address when its scope ends. */
#define TKB_AUTO(release) __attribute__((cleanup(release)))

/* Define name(), which calls release() on a pointer to `type`, for TKB_AUTO. */
#define TKB_AUTO_POINTER(name, type, release)                                  \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type has none */      \
	static inline void name(type **pointer)                                \
	{                                                                      \
		release(*pointer);                                             \
	}

#endif
