/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_XML_H
#define TKB_REMOTE_NET_XML_H

/*
 * Reads XML from an untrusted peer. A document type is refused, so the only entities
 * are XML's own five. Elements nest at most 16 deep; texts have at most 16 KiB.
 */

#include <tkbundle/bundle.h>

#include "base/base.h"

struct tkb_xml_visitor {
	/*
	 * Called at the end of an element, after its child elements.
	 *
	 * @param name   without a namespace prefix
	 * @param depth  1 is the outermost
	 * @param text   the text since the previous tag
	 * @return 0, or a value that stops the reader
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
