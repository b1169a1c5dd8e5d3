/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PAGE_H
#define TKBUNDLE_PAGE_H

#include <stdio.h>

#include <tkbundle/tkbundle.h>

#include "cli/json_out.h"
#include "report/source.h"

/*
 * A report as one page of HTML that needs no other file. page.html, page.css
 * and page.js beside this file are built into the program; they show the data
 * of a JSON document.
 *
 *     page_begin(&json, "ref", "model/h100");
 *     page_add_source(&json, &source, &facts, &err);
 *     page_begin_starts(&json);   page_add_start() of each
 *     page_end(&json);
 *     rc = page_write(&json, stream, &err);
 *
 * Names from outside stay data: they are in a block that is not executed, with
 * <, > and & escaped; the page shows them as text only, and its content
 * security policy lets it load nothing.
 */

struct json_t;

/* Facts that the entries' source does not contain. */
struct page_facts {
	/* How long an entry took to compile, in milliseconds, and in which part
	   it is; may be NULL. */
	void (*of_entry)(void *self, size_t index, uint32_t *time_ms_out,
	                 uint64_t *part_out);
	void *self;
	const char *root; /* uses of a cache; NULL: unknown */
};

/* Begin the document. `kind` is "ref", "bundle" or "cache". */
void page_begin(struct json_out *json, const char *kind, const char *name);

/* Add the entries. @return 0 or TKB_ERR_NOMEM */
TKB_NODISCARD int page_add_source(struct json_out *json,
                                  const struct source *source,
                                  const struct page_facts *facts,
                                  struct tkb_error *err);

/* Add the list of parts: frames of a bundle, or records of a ref. */
void page_begin_parts(struct json_out *json);
void page_add_part(struct json_out *json, const char *name, uint64_t packed,
                   uint64_t size, uint64_t entry_count);
void page_end_parts(struct json_out *json, uint64_t packed);

/*
 * Begin the list of starts; then add the report of each start; NULL is skipped.
 */
void page_begin_starts(struct json_out *json);
void page_add_start(struct json_out *json, const struct json_t *report);
void page_end(struct json_out *json);

/*
 * Write the page that shows the document.
 *
 * @return 0, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int page_write(struct json_out *json, FILE *to,
                             struct tkb_error *err);

#endif
