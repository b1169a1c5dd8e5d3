/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include "remote/net/xml.h"

/* XML that nobody trusts. */

/* Each element as "depth name=text;". */
struct notes {
	struct tkb_buf text;
	int rc; /* to return at an element named "stop" */
};

static int note(void *self, const char *name, size_t depth, const char *text,
                struct tkb_error *err)
{
	struct notes *notes = self;

	tkb_buf_add_number(&notes->text, depth);
	tkb_buf_add_byte(&notes->text, ' ');
	tkb_buf_add_text(&notes->text, name);
	tkb_buf_add_byte(&notes->text, '=');
	tkb_buf_add_text(&notes->text, text);
	tkb_buf_add_byte(&notes->text, ';');
	if (strcmp(name, "stop") == 0)
		return tkb_fail(err, notes->rc, "enough");
	return 0;
}

static int read_xml(const char *document, size_t size, struct notes *notes,
                    struct tkb_error *err)
{
	const struct tkb_xml_visitor visitor = { note, notes };

	notes->text = (struct tkb_buf)TKB_BUF_INIT(TKB_MIB);
	int rc = tkb_xml_read((struct tkb_bytes){ document, size }, &visitor,
	                      err);
	tkb_buf_add_byte(&notes->text, '\0');
	return rc;
}

static void check_read(const char *document, const char *wanted)
{
	struct notes notes = { .rc = 0 };

	OK(read_xml(document, strlen(document), &notes, ERR));
	CHECK_STR((const char *)notes.text.data, wanted);
	tkb_buf_release(&notes.text);
}

static void check_refused(const char *document, size_t size, const char *part)
{
	struct notes notes = { .rc = 0 };

	FAILS(read_xml(document, size, &notes, ERR), TKB_ERR_CORRUPT, part);
	tkb_buf_release(&notes.text);
}

static void check_refused_text(const char *document, const char *part)
{
	check_refused(document, strlen(document), part);
}

TEST(xml, elements_are_told_with_depth_and_text)
{
	check_read("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	           "<A xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
	           "<B>one</B><C x='y'><D/>two</C></A>",
	           "2 B=one;3 D=;2 C=two;1 A=;");
	check_read("<s3:A xmlns:s3='x'><s3:B>&lt;&amp;&gt;&quot;&apos;&#65;"
	           "<![CDATA[<z>]]></s3:B></s3:A>",
	           "2 B=<&>\"'A<z>;1 A=;");
	check_read("<A><!-- no --><?no no?>yes</A>", "1 A=yes;");
}

TEST(xml, entities_are_not_for_it)
{
	check_refused_text("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
	                   "has a document type");
	check_refused_text("<!DOCTYPE a SYSTEM '/etc/passwd'><a/>",
	                   "has a document type");
	check_refused_text("<!DOCTYPE a><a/>", "has a document type");
	check_refused_text("<a>&b;</a>", "undefined entity");
	check_refused_text("<a>&#0;</a>", "damaged");
}

TEST(xml, what_is_damaged_is_refused)
{
	static const char whole[] =
		"<A><B>one</B><C x=\"y\">two</C><!-- x --></A>";
	static const char *const cases[] = {
		"",        " ",           "one",         "<A>",
		"<A></B>", "<A/><A/>",    "<A x=1/>",    "<A/>z",
		"A</A>",   "<A>\x01</A>", "<A>\xff</A>", "<A><B></A></B>",
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_refused_text(cases[i], "the XML is damaged");
	for (size_t size = 0; size < sizeof(whole) - 1; size++)
		check_refused(whole, size, "the XML is damaged");
	check_refused("<A>\0</A>", 8, "the XML is damaged");
}

static const char *nested(size_t depth)
{
	char *document = test_alloc(depth * 7 + 1);
	size_t used = 0;

	for (size_t i = 0; i < depth; i++, used += 3)
		memcpy(document + used, "<a>", 3);
	for (size_t i = 0; i < depth; i++, used += 4)
		memcpy(document + used, "</a>", 4);
	document[used] = '\0';
	return document;
}

static const char *with_text(size_t size)
{
	char *document = test_alloc(size + 8);

	memcpy(document, "<a>", 3);
	memset(document + 3, 'x', size);
	memcpy(document + 3 + size, "</a>", 5);
	return document;
}

TEST(xml, depth_and_texts_have_limits)
{
	struct notes notes = { .rc = 0 };
	const char *document = nested(16);

	OK(read_xml(document, strlen(document), &notes, ERR));
	tkb_buf_release(&notes.text);
	check_refused_text(nested(17), "goes too deep");
	check_refused_text(nested(100000), "goes too deep");
	document = with_text(16383);
	OK(read_xml(document, strlen(document), &notes, ERR));
	tkb_buf_release(&notes.text);
	check_refused_text(with_text(16384), "a text that is too long");
	check_refused_text(with_text(TKB_MIB), "a text that is too long");
}

TEST(xml, what_a_visitor_returns_ends_it)
{
	static const char document[] = "<a><b/><stop/><c/></a>";
	struct notes notes = { .rc = TKB_ERR_LEFT_OUT };

	FAILS(read_xml(document, sizeof(document) - 1, &notes, ERR),
	      TKB_ERR_LEFT_OUT, "enough");
	CHECK_STR((const char *)notes.text.data, "2 b=;2 stop=;");
	tkb_buf_release(&notes.text);
}
