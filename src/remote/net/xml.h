/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_XML_H
#define TKB_REMOTE_NET_XML_H

/*
 * Reads XML from an untrusted peer. There must be no document type, so there
 * are no entities but XML's own five. Elements lie in at most 16 others, texts have at
 * most 16 KiB.
 */

#include <tkbundle/bundle.h>

#include "base/base.h"

struct tkb_xml_visitor {
	/*
	 * An element has ended; those in it did so before.
	 *
	 * @param name   without what stands before a colon
	 * @param depth  1 is the outermost
	 * @param text   from the last tag in it, or its own, up to its end
	 * @return 0, or what ends the reading
	 */
	int (*on_element)(void *self, const char *name, size_t depth,
	                  const char *text, struct tkb_error *err);
	void *self;
};

/*
 * Read a whole document. Returns 0, TKB_ERR_CORRUPT, TKB_ERR_NOMEM or what the
 * visitor returned.
 */
TKB_NODISCARD int tkb_xml_read(struct tkb_bytes document,
                               const struct tkb_xml_visitor *visitor,
                               struct tkb_error *err);

#endif
