/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/xml.h"

#include <limits.h>
#include <string.h>

#include <expat.h>

#include "base/buf.h"

enum {
	DEPTH_LIMIT = 16,
	TEXT_LIMIT = 16 * 1024
};

struct reading {
	XML_Parser parser; /* owned */
	const struct tkb_xml_visitor *visitor;
	size_t depth;
	struct tkb_buf text;
	int rc; /* what ended it */
	struct tkb_error *err;
};

static void reading_release(struct reading *reading)
{
	if (reading->parser != NULL)
		XML_ParserFree(reading->parser);
	tkb_buf_release(&reading->text);
}

static void stop(struct reading *reading, int rc)
{
	if (reading->rc == 0)
		reading->rc = rc;
	(void)XML_StopParser(reading->parser, XML_FALSE);
}

static void refuse_xml(struct reading *reading, const char *what)
{
	if (reading->rc == 0)
		stop(reading, tkb_fail(reading->err, TKB_ERR_CORRUPT,
		                       "the XML %s", what));
}

static void begin_element(void *self, const XML_Char *name,
                          const XML_Char **attributes)
{
	struct reading *reading = self;

	(void)name, (void)attributes;
	reading->depth++;
	if (reading->depth > DEPTH_LIMIT)
		refuse_xml(reading, "goes too deep");
	tkb_buf_reset(&reading->text);
}

static void add_xml_text(void *self, const XML_Char *text, int size)
{
	struct reading *reading = self;

	tkb_buf_add(&reading->text, (struct tkb_bytes){ text, (size_t)size });
	if (reading->text.failure == TKB_ERR_NOMEM)
		stop(reading, tkb_fail_nomem(reading->err));
	else if (reading->text.failure != 0)
		refuse_xml(reading, "holds a text that is too long");
}

static void end_element(void *self, const XML_Char *name)
{
	struct reading *reading = self;
	const char *colon = strrchr(name, ':');
	int rc;

	add_xml_text(self, "", 1); /* the final NUL */
	if (reading->rc != 0)
		return; /* expat may call once more after it was stopped */
	rc = reading->visitor->on_element(
		reading->visitor->self, colon == NULL ? name : colon + 1,
		reading->depth, (const char *)reading->text.data, reading->err);
	if (rc != 0)
		stop(reading, rc);
	reading->depth--;
	tkb_buf_reset(&reading->text);
}

static void refuse_type(void *self, const XML_Char *name,
                        const XML_Char *system_id, const XML_Char *public_id,
                        int has_subset)
{
	(void)name, (void)system_id, (void)public_id, (void)has_subset;
	refuse_xml(self, "has a document type");
}

int tkb_xml_read(struct tkb_bytes document,
                 const struct tkb_xml_visitor *visitor, struct tkb_error *err)
{
	TKB_AUTO(reading_release)
	struct reading reading = { .parser = XML_ParserCreate("UTF-8"),
		                   .visitor = visitor,
		                   .text = TKB_BUF_INIT(TEXT_LIMIT),
		                   .err = err };
	enum XML_Error error;

	if (reading.parser == NULL)
		return tkb_fail_nomem(err);
	if (document.size > INT_MAX)
		return tkb_fail(err, TKB_ERR_CORRUPT, "the XML is too long");
	XML_SetUserData(reading.parser, &reading);
	XML_SetElementHandler(reading.parser, begin_element, end_element);
	XML_SetCharacterDataHandler(reading.parser, add_xml_text);
	XML_SetStartDoctypeDeclHandler(reading.parser, refuse_type);
	if (XML_Parse(reading.parser, document.data, (int)document.size,
	              XML_TRUE) == XML_STATUS_OK)
		return 0;
	error = XML_GetErrorCode(reading.parser);
	if (reading.rc != 0)
		return reading.rc;
	if (error == XML_ERROR_NO_MEMORY)
		return tkb_fail_nomem(err);
	return tkb_fail(err, TKB_ERR_CORRUPT, "the XML is damaged: %s",
	                XML_ErrorString(error));
}
