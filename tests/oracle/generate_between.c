/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

/* What keeps reads apart that would be one, were it not there. */

/* The parameter that a stream reads by, or -1. */
static int parameter_of(const struct stream *stream)
{
	const char *const name = strchr(stream->base, '%');

	return name == NULL ? -1 : name[1] - 'a';
}

static bool may_write(const struct generate *g, const struct stream *stream)
{
	const char *const weight = strstr(stream->base, "@w");
	const int which = parameter_of(stream);

	if (weight != NULL)
		return g->is_variable[weight[2] - '0'];
	return which < 0 || !g->is_read_only[which];
}

/* Another parameter, which may point to the same, or to a few bytes before. */
static struct stream other_stream(struct generate *g,
                                  const struct stream *stream)
{
	struct stream other = *stream;
	unsigned which = pick(g, GENERATE_POINTERS);

	if (g->is_read_only[which])
		which = 2 + pick(g, 2);
	other.base = generate_pointer(g, which);
	return other;
}

/* Is it known of the address that words at it are aligned? */
static bool is_aligned(const struct generate *g, const struct stream *stream,
                       int offset)
{
	const int which = parameter_of(stream);

	return which >= 0 && g->aligns[which] >= 4 && offset % 4 == 0 &&
	       stream->index == NULL;
}

static void write_plainly(struct generate *g, const char *space, const char *at)
{
	static const unsigned widths[] = { 8, 16, 32, 32 };

	emit(g, "  store%s i%u %u, %s %s, align 1\n",
	     chance(g, 20) ? " volatile" : "", widths[pick(g, 4)], pick(g, 200),
	     space, at);
}

/* Bytes of one of the constants, or of a parameter: they may overlap. */
static void copy_to(struct generate *g, const char *space, const char *at)
{
	const struct stream from = generate_stream(g);
	const char *const source = generate_address(g, &from, from.start);

	emit(g,
	     "  call void @llvm.memmove.p%s.p%s.i64(%s %s, %s %s, i64 %u, "
	     "i1 false)\n",
	     strcmp(space, "ptr") == 0 ? "0" : "1",
	     strcmp(generate_space(&from), "ptr") == 0 ? "0" : "1", space, at,
	     generate_space(&from), source, 1 + pick(g, 8));
}

static void write_at(struct generate *g, const struct stream *stream,
                     int offset)
{
	const char *const space = generate_space(stream);
	const char *const at = generate_address(g, stream, offset);
	const bool is_global = strcmp(space, "ptr") != 0;
	unsigned way = pick(g, 10);

	if (way == 0 && is_global) {
		emit(g, "  call void @write(%s %s, i32 %u)\n", space, at,
		     pick(g, 1000));
	} else if (way == 1) {
		copy_to(g, space, at);
	} else if (way == 2) {
		emit(g,
		     "  call void @llvm.memset.p%u.i64(%s %s, i8 %u, i64 "
		     "%u, i1 false)\n",
		     is_global ? 1U : 0U, space, at, pick(g, 256),
		     1 + pick(g, 8));
	} else if (way < 5 && is_aligned(g, stream, offset)) {
		(void)give(g, "%v",
		           "atomicrmw xor %s %s, i32 %u monotonic, align 4",
		           space, at, 1 + pick(g, 90000));
	} else if (way < 7 && is_aligned(g, stream, offset)) {
		emit(g, "  store atomic i32 %u, %s %s monotonic, align 4\n",
		     pick(g, 90000), space, at);
	} else {
		write_plainly(g, space, at);
	}
}

void generate_between(struct generate *g, const struct stream *stream,
                      int offset)
{
	struct stream to = *stream;
	int where = offset - offset % 4 + 4 * (int)pick(g, 2);

	if (!chance(g, g->between))
		return;
	if (chance(g, 30))
		where = offset + (int)pick(g, 8) - 4;
	if (where < 0)
		where = 0;
	switch (pick(g, 12)) {
	case 0:
		emit(g, "  call void "
		        "@llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n");
		return;
	case 1:
		emit(g, "  fence acq_rel\n");
		return;
	case 2:
		emit(g, g->options->for_gpu
		                ? "  fence seq_cst\n"
		                : "  call void @outside(i32 %%n)\n");
		return;
	case 3:
		generate_strong(g);
		return;
	default:
		if (chance(g, 35) || !may_write(g, stream))
			to = other_stream(g, stream);
		write_at(g, &to, where);
		return;
	}
}
