/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A worker that lies: it answers each source with the source itself. Of its tools
 * it says what the variable TOOLS has.
 */

#include <stdio.h>
#include <stdlib.h>

#include <tkbundle/pool.h>

#include "compile/pool/fields.h"

static int answer_source(void *self, struct tkb_bytes request,
                         const struct tkb_sink *answer,
                         const struct tkb_sink *log, struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = request };
	struct tkb_bytes said = tkb_text(getenv("TOOLS"));
	enum tkb_field field;
	struct tkb_bytes bytes;
	int rc;

	(void)self;
	(void)log;
	do {
		rc = tkb_fields_next(&fields, &field, &bytes, err);
		if (rc == 0 && field == TKB_FIELD_SOURCE)
			said = bytes;
	} while (rc == 0);
	return rc < 0 ? rc : answer->write(answer->self, said, err);
}

int main(void)
{
	const struct tkb_worker_handler handler = { answer_source, NULL };
	struct tkb_error err = { 0 };

	if (tkb_worker_serve(&handler, &err) == 0)
		return 0;
	(void)fprintf(stderr, "%s\n", err.message);
	return 1;
}
