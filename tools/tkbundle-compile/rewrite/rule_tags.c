/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_ATTRIBUTES = 64
};

/* An attribute whose name begins with "tkb.". */
struct tag {
	char name[64];
	char value[64];
};

/*
 * Copy one of LLVM's strings, which have no NUL. A truncated string could be
 * valid, so a long one is replaced.
 */
static void copy_tag_text(const char *text, unsigned size, char out[64])
{
	static const char too_long[] = "(more than 63 bytes)";

	if (size > 63) {
		text = too_long;
		size = sizeof(too_long) - 1;
	}
	if (size > 0)
		memcpy(out, text, size);
	out[size] = '\0';
}

/* Find our next attribute, from `*at` on; false if there is none. */
static bool next_tag(const LLVMAttributeRef *attributes, unsigned count,
                     unsigned *at, struct tag *out)
{
	while (*at < count) {
		LLVMAttributeRef attribute = attributes[(*at)++];
		const char *text;
		unsigned size = 0;

		if (!LLVMIsStringAttribute(attribute))
			continue;
		text = LLVMGetStringAttributeKind(attribute, &size);
		copy_tag_text(text, size, out->name);
		if (strncmp(out->name, "tkb.", 4) != 0)
			continue;
		text = LLVMGetStringAttributeValue(attribute, &size);
		copy_tag_text(text, size, out->value);
		return true;
	}
	return false;
}

static int list_attributes(const struct rule *rule, LLVMValueRef function,
                           LLVMAttributeIndex index,
                           LLVMAttributeRef out[MAX_ATTRIBUTES],
                           unsigned *count_out, struct tkb_error *err)
{
	const unsigned count = LLVMGetAttributeCountAtIndex(function, index);

	if (count > MAX_ATTRIBUTES)
		return rule_fail(rule, err, "it has too many attributes");
	LLVMGetAttributesAtIndex(function, index, out);
	*count_out = count;
	return 0;
}

/* Read a number that takes up all of `text`. */
static bool read_integer(const char *text, const char *end, int64_t *out)
{
	char *stop = NULL;

	errno = 0;
	*out = strtoll(text, &stop, 10);
	return errno == 0 && stop != text && stop == end;
}

/* Intersect the filter's range with another one. */
static bool narrow(struct rule_filter *filter, int64_t low, int64_t high)
{
	if (!filter->has_range || filter->low < low)
		filter->low = low;
	if (!filter->has_range || filter->high > high)
		filter->high = high;
	filter->has_range = true;
	return filter->low <= filter->high;
}

static bool read_range(const char *text, struct rule_filter *filter)
{
	const char *comma = strchr(text, ',');
	int64_t low = 0;
	int64_t high = 0;

	return comma != NULL && read_integer(text, comma, &low) &&
	       read_integer(comma + 1, comma + strlen(comma), &high) &&
	       narrow(filter, low, high);
}

static bool read_magnitude(const char *text, struct rule_filter *filter)
{
	char *comma = NULL;
	char *end = NULL;

	filter->is_constant = true;
	filter->has_magnitude = true;
	filter->least = strtod(text, &comma);
	if (comma == text || *comma != ',')
		return false;
	filter->most = strtod(comma + 1, &end);
	return end != comma + 1 && *end == '\0' &&
	       filter->least <= filter->most;
}

static bool read_reciprocal(const char *text, uint32_t parameter_count,
                            struct rule_filter *filter)
{
	int64_t number = 0;

	filter->is_constant = true;
	filter->is_reciprocal = true;
	if (!read_integer(text, text + strlen(text), &number) || number < 0 ||
	    number >= parameter_count)
		return false;
	filter->reciprocal_of = (uint32_t)number;
	return true;
}

static bool read_filter(const struct tag *tag, uint32_t parameter_count,
                        struct rule_filter *filter)
{
	filter->is_set = true;
	if (strcmp(tag->name, "tkb.range") == 0)
		return read_range(tag->value, filter);
	if (strcmp(tag->name, "tkb.magnitude") == 0)
		return read_magnitude(tag->value, filter);
	if (strcmp(tag->name, "tkb.reciprocal-of") == 0)
		return read_reciprocal(tag->value, parameter_count, filter);
	if (tag->value[0] != '\0')
		return false;
	if (strcmp(tag->name, "tkb.constant") == 0) {
		filter->is_constant = true;
		return true;
	}
	if (strcmp(tag->name, "tkb.power-of-two") == 0) {
		filter->is_constant = true;
		filter->is_power_of_two = true;
		return true;
	}
	if (strcmp(tag->name, "tkb.non-negative") == 0)
		return narrow(filter, 0, INT64_MAX);
	return false;
}

static int read_filters(struct rule *rule, uint32_t index,
                        struct tkb_error *err)
{
	LLVMAttributeRef attributes[MAX_ATTRIBUTES];
	struct tag tag;
	unsigned count = 0;
	unsigned at = 0;
	int rc;

	rc = list_attributes(rule, rule->pattern, index + 1, attributes, &count,
	                     err);
	if (rc < 0)
		return rc;
	while (next_tag(attributes, count, &at, &tag)) {
		if (!read_filter(&tag, rule->parameter_count,
		                 &rule->filters[index]))
			return rule_fail(rule, err,
			                 "parameter %u has the filter '%s' "
			                 "with the value '%s', which is "
			                 "invalid",
			                 (unsigned)index, tag.name, tag.value);
	}
	return 0;
}

static bool read_arch(const char *text, uint32_t *out)
{
	int64_t number = 0;

	if (strncmp(text, ">=", 2) != 0 ||
	    !read_integer(text + 2, text + strlen(text), &number) ||
	    number < 1 || number > 9999)
		return false;
	*out = (uint32_t)number;
	return true;
}

static bool read_tag(const struct tag *tag, struct rule *rule, bool *has_kind)
{
	if (strcmp(tag->name, "tkb.rule") == 0) {
		*has_kind = true;
		rule->is_fast = strcmp(tag->value, "fast") == 0;
		return rule->is_fast || strcmp(tag->value, "exact") == 0;
	}
	if (strcmp(tag->name, "tkb.terms") == 0) {
		rule->is_sum = true;
		return strcmp(tag->value, "any") == 0;
	}
	if (strcmp(tag->name, "tkb.arch") == 0)
		return read_arch(tag->value, &rule->arch);
	return false;
}

/* Refuse tags on the replacement: they would have no effect. */
static int check_replacement(const struct rule *rule, struct tkb_error *err)
{
	LLVMAttributeRef attributes[MAX_ATTRIBUTES];
	struct tag tag;

	for (uint32_t i = 0; i <= rule->parameter_count; i++) {
		const LLVMAttributeIndex index =
			i == 0 ? llvm_function_index : i;
		unsigned count = 0;
		unsigned at = 0;
		int rc;

		rc = list_attributes(rule, rule->replacement, index, attributes,
		                     &count, err);
		if (rc < 0)
			return rc;
		if (next_tag(attributes, count, &at, &tag))
			return rule_fail(rule, err,
			                 "its replacement has the tag '%s', "
			                 "which belongs to the pattern",
			                 tag.name);
	}
	return 0;
}

int rule_read_tags(struct rule *rule, struct tkb_error *err)
{
	LLVMAttributeRef attributes[MAX_ATTRIBUTES];
	bool has_kind = false;
	struct tag tag;
	unsigned count = 0;
	unsigned at = 0;
	int rc;

	rc = list_attributes(rule, rule->pattern, llvm_function_index,
	                     attributes, &count, err);
	if (rc < 0)
		return rc;
	while (next_tag(attributes, count, &at, &tag)) {
		if (!read_tag(&tag, rule, &has_kind))
			return rule_fail(rule, err,
			                 "it has the tag '%s' with the value "
			                 "'%s', which is invalid",
			                 tag.name, tag.value);
	}
	if (!has_kind)
		return rule_fail(rule, err,
		                 "it has no tag \"tkb.rule\", exact or fast");
	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		rc = read_filters(rule, i, err);
		if (rc < 0)
			return rc;
	}
	return check_replacement(rule, err);
}
