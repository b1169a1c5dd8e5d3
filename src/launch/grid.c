/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/grid.h"

#include "launch/names.h"
#include "launch/print.h"

enum {
	TEXT_LIMIT = 1024,
	DEPTH_LIMIT = 64,
	LENGTH_LIMIT = 100, /* compilers limit how deep parentheses go */
	C_LIMIT = 256 * 1024
};

/* A `long long` may be so large, nearly. */
static const double most = 9.2e18;

const char *const tkb_grid_calls[TKB_GRID_CALL_COUNT] = {
	[TKB_GRID_PLUS] = "_plus",        [TKB_GRID_MINUS] = "_minus",
	[TKB_GRID_TIMES] = "_times",      [TKB_GRID_DIVIDE] = "_divide",
	[TKB_GRID_REST] = "_divide_rest",
};

/* A part that is complete: what it is in C. */
struct operand {
	const char *c;
	bool is_divisor; /* a constant other than 0 */
	double bound;    /* it, or its opposite, is no larger */
};

/*
 * Two stacks, of what is complete and of what waits for its right side. An
 * operator that waits is applied before one that binds no closer comes in.
 * 'n' is the sign of a negative.
 */
struct parser {
	const char *at;
	size_t number; /* of the three */
	const struct tkb_grid_name *names;
	size_t name_count;
	const char *function;
	struct tkb_arena *arena;
	unsigned calls;
	struct operand operands[DEPTH_LIMIT];
	size_t operand_count;
	char operators[DEPTH_LIMIT];
	size_t operator_count;
	size_t applied_count;
};

static const char axes[] = "xyz";

static int fail(const struct parser *parser, const char *what,
                const char *where, size_t length, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID, "the grid's %c: %s '%.*s'",
	                axes[parser->number], what, (int)length, where);
}

static int push_operand(struct parser *parser, struct tkb_buf *c,
                        bool is_divisor, double bound, struct tkb_error *err)
{
	const int rc = tkb_buf_check(c, err);
	const char *copy;

	if (rc < 0)
		return rc;
	if (parser->operand_count == DEPTH_LIMIT)
		return fail(parser, "is too deep at", parser->at, 1, err);
	copy = tkb_arena_string(parser->arena, tkb_buf_bytes(c));
	if (copy == NULL)
		return tkb_fail_nomem(err);
	parser->operands[parser->operand_count] = (struct operand){
		.c = copy, .is_divisor = is_divisor, .bound = bound
	};
	parser->operand_count++;
	return 0;
}

static int push_operator(struct parser *parser, char sign,
                         struct tkb_error *err)
{
	if (parser->operator_count == DEPTH_LIMIT)
		return fail(parser, "is too deep at", parser->at, 1, err);
	parser->operators[parser->operator_count] = sign;
	parser->operator_count++;
	return 0;
}

static int binds(char sign)
{
	switch (sign) {
	case 'n':
		return 3;
	case '*':
	case '/':
	case '%':
		return 2;
	case '+':
	case '-':
		return 1;
	default:
		return 0; /* a parenthesis */
	}
}

/* What `left sign right` is at most. */
static double bound_of(char sign, double left, double right)
{
	double bound = left;

	if (sign == '*')
		bound = left * right;
	else if (sign == '+' || sign == '-')
		bound = left + right;
	return bound > most ? 2 * most : bound;
}

static unsigned call_of(char sign)
{
	static const char signs[] = { '+', '-', '*', '/', '%' };
	unsigned call = 0;

	while (signs[call] != sign)
		call++;
	return call;
}

/* The operator itself, or a call where that may go wrong. */
static void print_applied(struct parser *parser, struct tkb_buf *c,
                          const struct operand *left, char sign,
                          const struct operand *right)
{
	const unsigned call = call_of(sign);
	const bool divides = sign == '/' || sign == '%';
	const bool is_safe =
		divides ? right->is_divisor
			: bound_of(sign, left->bound, right->bound) <= most;

	if (is_safe) {
		tkb_print(c, "(%s %c %s)", left->c, sign, right->c);
		return;
	}
	parser->calls |= 1u << call;
	tkb_print(c, "%s%s(%s, %s, &tkb_bad)", parser->function,
	          tkb_grid_calls[call], left->c, right->c);
}

/* Apply the operator that waits last. */
static int apply(struct parser *parser, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf c = TKB_BUF_INIT(C_LIMIT);
	char sign = parser->operators[--parser->operator_count];
	const struct operand right = parser->operands[--parser->operand_count];
	struct operand left = { .c = "0LL" };

	parser->applied_count++;
	if (parser->applied_count > LENGTH_LIMIT)
		return fail(parser, "is too long at", parser->at, 1, err);
	if (sign == 'n' && right.bound <= most) {
		tkb_print(&c, "(-%s)", right.c);
		return push_operand(parser, &c, false, right.bound, err);
	}
	if (sign != 'n')
		left = parser->operands[--parser->operand_count];
	sign = sign == 'n' ? '-' : sign;
	print_applied(parser, &c, &left, sign, &right);
	return push_operand(parser, &c, false,
	                    bound_of(sign, left.bound, right.bound), err);
}

/* Apply what waits and binds at least so closely. */
static int apply_waiting(struct parser *parser, int closely,
                         struct tkb_error *err)
{
	int rc = 0;

	while (rc == 0 && parser->operator_count > 0 &&
	       binds(parser->operators[parser->operator_count - 1]) >= closely)
		rc = apply(parser, err);
	return rc;
}

static int take_number(struct parser *parser, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf c = TKB_BUF_INIT(64);
	const size_t length = strspn(parser->at, "0123456789");
	double bound = 0;
	size_t zeros = strspn(parser->at, "0");

	/* 0 before other digits would be octal; 18 digits always fit. */
	zeros = zeros == length ? length - 1 : zeros;
	if (length - zeros > 18)
		return fail(parser, "there is too large a number", parser->at,
		            length, err);
	for (size_t i = zeros; i < length; i++)
		bound = bound * 10 + (parser->at[i] - '0');
	tkb_print(&c, "%.*sLL", (int)(length - zeros), parser->at + zeros);
	parser->at += length;
	return push_operand(parser, &c, bound != 0, bound, err);
}

static size_t name_length(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyz"
	                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

/* Say which names there are: without Triton's IR they are made up. */
static int refuse_name(const struct parser *parser, size_t length,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf names = TKB_BUF_INIT(C_LIMIT);
	int rc;

	for (size_t i = 0; i < parser->name_count; i++) {
		tkb_buf_add_text(&names, i == 0 ? ", but " : ", ");
		tkb_buf_add_text(&names, parser->names[i].given);
	}
	tkb_buf_add_byte(&names, '\0');
	rc = tkb_buf_check(&names, err);
	if (rc < 0)
		return rc;
	return tkb_fail(err, TKB_ERR_INVALID,
	                "the grid's %c: the kernel takes no argument '%.*s'%s",
	                axes[parser->number], (int)length, parser->at,
	                (const char *)names.data);
}

static int take_name(struct parser *parser, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf c = TKB_BUF_INIT(C_LIMIT);
	const size_t length = name_length(parser->at);
	const struct tkb_grid_name *name = NULL;

	for (size_t i = 0; i < parser->name_count && name == NULL; i++) {
		if (strlen(parser->names[i].given) == length &&
		    strncmp(parser->names[i].given, parser->at, length) == 0)
			name = &parser->names[i];
	}
	if (name == NULL)
		return refuse_name(parser, length, err);
	if (!name->is_integer)
		return fail(parser, "no integer is", parser->at, length, err);
	tkb_print(&c, "(long long)%s", name->c);
	parser->at += length;
	return push_operand(
		parser, &c, false,
		name->bits < 63 ? (double)(1ULL << name->bits) : 2 * most, err);
}

/* A number, a name, or what stands before one. */
static int take_operand(struct parser *parser, bool *is_taken,
                        struct tkb_error *err)
{
	const char byte = *parser->at;

	if (byte == '(' || byte == '-' || byte == '+') {
		parser->at++;
		return byte == '+'
		               ? 0
		               : push_operator(parser, byte == '-' ? 'n' : byte,
		                               err);
	}
	*is_taken = true;
	if (byte >= '0' && byte <= '9')
		return take_number(parser, err);
	if (name_length(parser->at) > 0)
		return take_name(parser, err);
	*is_taken = false;
	if (byte == '\0' || byte == ',')
		return fail(parser, "something is missing at the end", "", 0,
		            err);
	return fail(parser, "a name, a number or '(' must stand at", parser->at,
	            1, err);
}

/* An operator, or a closing parenthesis. */
static int take_operator(struct parser *parser, bool *is_taken,
                         struct tkb_error *err)
{
	const char byte = *parser->at;
	int rc;

	if (byte == ')') {
		rc = apply_waiting(parser, 1, err);
		if (rc < 0)
			return rc;
		if (parser->operator_count == 0)
			return fail(parser, "nothing opens", parser->at, 1,
			            err);
		parser->operator_count--;
		parser->at++;
		return 0;
	}
	if (strchr("+-*/%", byte) == NULL)
		return fail(parser,
		            "there are + - * / % and parentheses, but no",
		            parser->at, 1, err);
	rc = apply_waiting(parser, binds(byte), err);
	if (rc < 0)
		return rc;
	parser->at++;
	*is_taken = false;
	return push_operator(parser, byte, err);
}

/* One of the three expressions. */
static int parse_size(struct parser *parser, const char **out,
                      struct tkb_error *err)
{
	bool is_taken = false; /* the left side of an operator is there */
	int rc = 0;

	parser->operand_count = 0;
	parser->operator_count = 0;
	parser->applied_count = 0;
	while (rc == 0) {
		parser->at += strspn(parser->at, " ");
		if (is_taken && (*parser->at == ',' || *parser->at == '\0'))
			break;
		rc = is_taken ? take_operator(parser, &is_taken, err)
		              : take_operand(parser, &is_taken, err);
	}
	if (rc == 0)
		rc = apply_waiting(parser, 1, err);
	if (rc == 0 && parser->operator_count > 0)
		rc = fail(parser, "nothing closes", "(", 1, err);
	if (rc == 0)
		*out = parser->operands[0].c;
	return rc;
}

int tkb_grid_parse(const char *text, const struct tkb_grid_name *names,
                   size_t name_count, const char *function,
                   struct tkb_arena *arena, struct tkb_grid *out,
                   struct tkb_error *err)
{
	struct parser parser = { .at = text,
		                 .names = names,
		                 .name_count = name_count,
		                 .function = function,
		                 .arena = arena };
	struct tkb_grid grid = { .calls = 0 };
	int rc;

	if (strlen(text) > TEXT_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "the grid is longer than %d bytes", TEXT_LIMIT);
	for (; parser.number < TKB_COUNT_OF(grid.sizes); parser.number++) {
		const bool is_last =
			parser.number + 1 == TKB_COUNT_OF(grid.sizes);

		rc = parse_size(&parser, &grid.sizes[parser.number], err);
		if (rc < 0)
			return rc;
		if (*parser.at != (is_last ? '\0' : ','))
			return tkb_fail(err, TKB_ERR_INVALID,
			                "the grid '%s' has not three sizes, "
			                "as in '(n + 1023) / 1024, 1, 1'",
			                text);
		parser.at += is_last ? 0 : 1;
	}
	grid.calls = parser.calls;
	*out = grid;
	return 0;
}
