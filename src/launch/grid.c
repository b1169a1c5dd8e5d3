/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/grid.h"

#include "launch/print.h"

enum {
	TEXT_LIMIT = 1024,
	DEPTH_LIMIT = 64,
	LENGTH_LIMIT = 100, /* compilers limit the depth of parentheses */
	C_LIMIT = 256 * 1024
};

/* Slightly less than the largest `long long`. */
static const double max_value = 9.2e18;

/* Suffixes of the calls' names, which begin with the launcher's function. */
static const char *const calls[TKB_GRID_CALL_COUNT] = {
	[TKB_GRID_PLUS] = "_plus",        [TKB_GRID_MINUS] = "_minus",
	[TKB_GRID_TIMES] = "_times",      [TKB_GRID_DIVIDE] = "_divide",
	[TKB_GRID_REST] = "_divide_rest",
};

/* A complete operand as C code. */
struct operand {
	const char *c;
	bool is_divisor; /* a constant other than 0 */
	double bound;    /* upper bound of its absolute value */
};

/*
 * Operator precedence parser with two stacks: complete operands, and pending
 * operators. A pending operator is applied before an operator of the same or
 * lower precedence is pushed. 'n' is the unary minus.
 */
struct parser {
	const char *at;
	size_t number; /* index of the expression: 0, 1 or 2 */
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

static int fail_at(const struct parser *parser, const char *what,
                   const char *where, size_t length, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID, "the grid's %c: %s '%.*s'",
	                axes[parser->number], what, (int)length, where);
}

static int push_operand(struct parser *parser, struct tkb_buf *c,
                        bool is_divisor, double bound, struct tkb_error *err)
{
	const char *copy = NULL;
	int rc;

	if (parser->operand_count == DEPTH_LIMIT)
		return fail_at(parser, "is too deep at", parser->at, 1, err);
	rc = tkb_arena_copy_buf(parser->arena, c, &copy, err);
	if (rc < 0)
		return rc;
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
		return fail_at(parser, "is too deep at", parser->at, 1, err);
	parser->operators[parser->operator_count] = sign;
	parser->operator_count++;
	return 0;
}

static int precedence(char sign)
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

/* Upper bound of the absolute value of `left sign right`. */
static double bound_of(char sign, double left, double right)
{
	double bound = left;

	if (sign == '*')
		bound = left * right;
	else if (sign == '+' || sign == '-')
		bound = left + right;
	return bound > max_value ? 2 * max_value : bound;
}

static unsigned call_of(char sign)
{
	static const char signs[] = { '+', '-', '*', '/', '%' };
	unsigned call = 0;

	while (signs[call] != sign)
		call++;
	return call;
}

/* Print the operator itself, or a checked call if it may overflow. */
static void print_applied(struct parser *parser, struct tkb_buf *c,
                          const struct operand *left, char sign,
                          const struct operand *right)
{
	const unsigned call = call_of(sign);
	const bool divides = sign == '/' || sign == '%';
	const bool is_safe = divides ? right->is_divisor
	                             : bound_of(sign, left->bound,
	                                        right->bound) <= max_value;

	if (is_safe) {
		tkb_print(c, "(%s %c %s)", left->c, sign, right->c);
		return;
	}
	parser->calls |= 1u << call;
	tkb_print(c, "%s%s(%s, %s, &tkb_bad)", parser->function, calls[call],
	          left->c, right->c);
}

/* Apply the last pending operator. */
static int apply(struct parser *parser, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf c = TKB_BUF_INIT(C_LIMIT);
	char sign = parser->operators[--parser->operator_count];
	const struct operand right = parser->operands[--parser->operand_count];
	struct operand left = { .c = "0LL" };

	parser->applied_count++;
	if (parser->applied_count > LENGTH_LIMIT)
		return fail_at(parser, "is too long at", parser->at, 1, err);
	if (sign == 'n' && right.bound <= max_value) {
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

/* Apply the pending operators of at least this precedence. */
static int apply_pending(struct parser *parser, int min_precedence,
                         struct tkb_error *err)
{
	int rc = 0;

	while (rc == 0 && parser->operator_count > 0 &&
	       precedence(parser->operators[parser->operator_count - 1]) >=
	               min_precedence)
		rc = apply(parser, err);
	return rc;
}

static int parse_number(struct parser *parser, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf c = TKB_BUF_INIT(64);
	const size_t length = strspn(parser->at, "0123456789");
	double bound = 0;
	size_t zeros = strspn(parser->at, "0");

	/* Leading zeros would make it octal. 18 digits always fit. */
	zeros = zeros == length ? length - 1 : zeros;
	if (length - zeros > 18)
		return fail_at(parser, "there is too large a number",
		               parser->at, length, err);
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

/* List the known names, which are made up if there is no Triton IR. */
static int fail_name(const struct parser *parser, size_t length,
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
		return fail_name(parser, length, err);
	if (!name->is_integer)
		return fail_at(parser, "not an integer:", parser->at, length,
		               err);
	tkb_print(&c, "(long long)%s", name->c);
	parser->at += length;
	return push_operand(parser, &c, false,
	                    name->bits < 63 ? (double)(1ULL << name->bits)
	                                    : 2 * max_value,
	                    err);
}

/* Parse a number or a name, or the start of an operand: a sign or '('. */
static int parse_operand(struct parser *parser, bool *has_operand,
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
	*has_operand = true;
	if (byte >= '0' && byte <= '9')
		return parse_number(parser, err);
	if (name_length(parser->at) > 0)
		return take_name(parser, err);
	*has_operand = false;
	if (byte == '\0' || byte == ',')
		return fail_at(parser, "something is missing at the end", "", 0,
		               err);
	return fail_at(parser, "a name, a number or '(' is expected at",
	               parser->at, 1, err);
}

/* Parse a binary operator or ')'. */
static int take_operator(struct parser *parser, bool *has_operand,
                         struct tkb_error *err)
{
	const char byte = *parser->at;
	int rc;

	if (byte == ')') {
		rc = apply_pending(parser, 1, err);
		if (rc < 0)
			return rc;
		if (parser->operator_count == 0)
			return fail_at(parser, "unmatched", parser->at, 1, err);
		parser->operator_count--;
		parser->at++;
		return 0;
	}
	if (strchr("+-*/%", byte) == NULL)
		return fail_at(parser,
		               "there are + - * / % and parentheses, but no",
		               parser->at, 1, err);
	rc = apply_pending(parser, precedence(byte), err);
	if (rc < 0)
		return rc;
	parser->at++;
	*has_operand = false;
	return push_operator(parser, byte, err);
}

/* Parse one of the three expressions. */
static int parse_size(struct parser *parser, const char **out,
                      struct tkb_error *err)
{
	bool has_operand = false; /* the operator's left side is complete */
	int rc = 0;

	parser->operand_count = 0;
	parser->operator_count = 0;
	parser->applied_count = 0;
	while (rc == 0) {
		parser->at += strspn(parser->at, " ");
		if (has_operand && (*parser->at == ',' || *parser->at == '\0'))
			break;
		rc = has_operand ? take_operator(parser, &has_operand, err)
		                 : parse_operand(parser, &has_operand, err);
	}
	if (rc == 0)
		rc = apply_pending(parser, 1, err);
	if (rc == 0 && parser->operator_count > 0)
		rc = fail_at(parser, "unmatched", "(", 1, err);
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
			return tkb_fail(
				err, TKB_ERR_INVALID,
				"the grid '%s' does not have three sizes, "
				"as in '(n + 1023) / 1024, 1, 1'",
				text);
		parser.at += is_last ? 0 : 1;
	}
	grid.calls = parser.calls;
	*out = grid;
	return 0;
}
