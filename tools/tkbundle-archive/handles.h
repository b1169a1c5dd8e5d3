/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_HANDLES_H
#define TKBUNDLE_ARCHIVE_HANDLES_H

#include <archive.h>
#include <archive_entry.h>

#include "base/base.h"

/* Release functions for libarchive's objects, for TKB_AUTO. */

static inline void handles_close_reader(struct archive **archive)
{
	(void)archive_read_free(*archive);
}

static inline void handles_close_writer(struct archive **archive)
{
	(void)archive_write_free(*archive);
}

static inline void handles_close_entry(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

#endif
