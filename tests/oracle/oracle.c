/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tkbundle/finalize.h>

#include "llvm/llvm_module.h"
#include "finalize/finalize_step.h"
#include "finalize/finalize_uses.h"
#include "oracle_sample.h"

enum {
	SEEDS = 2 /* of what freeze chooses, afterwards */
};

static bool differ(struct mismatch *out, const char *format, unsigned input,
                   const char *what, long at)
{
	(void)snprintf(out->what, sizeof(out->what), format, input, what, at);
	return false;
}

/* Rounded otherwise, it is still near. */
static bool is_near(const unsigned char *a, const unsigned char *b)
{
	float x = 0;
	float y = 0;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (isnan(x) && isnan(y)) || x == y ||
	       fabsf(x - y) <= 1e-5F * fmaxf(fabsf(x), fabsf(y));
}

static bool same_memory(const struct oracle *oracle,
                        const struct sample *sample,
                        const struct outcome_of *now, unsigned input,
                        struct mismatch *out)
{
	for (unsigned i = 0; i < GENERATE_POINTERS; i++) {
		const struct outcome_of *const then = &sample->then;

		for (size_t at = 0; at < GENERATE_SIZE; at++) {
			const size_t word = at & ~(size_t)3;

			if (then->poison[i][at] != MACHINE_NUMBER)
				continue;
			if (now->poison[i][at] == MACHINE_POISON)
				return differ(out,
				              "input %u: poison in '%s' at %ld",
				              input, sample_names[i], (long)at);
			if (then->bytes[i][at] == now->bytes[i][at])
				continue;
			if (oracle->is_fast && is_near(then->bytes[i] + word,
			                               now->bytes[i] + word))
				continue;
			return differ(out, "input %u: '%s' differs at %ld",
			              input, sample_names[i], (long)at);
		}
	}
	return true;
}

static bool same_events(const struct sample *sample,
                        const struct outcome_of *now, unsigned input,
                        struct mismatch *out)
{
	const struct outcome_of *const then = &sample->then;

	if (then->event_count != now->event_count)
		return differ(out, "input %u: %s: %ld", input,
		              "another number of accesses that are seen",
		              (long)now->event_count);
	for (size_t i = 0; i < then->event_count; i++) {
		const struct event *old = &then->events[i];
		const struct event *new = &now->events[i];

		if (old->what != new->what)
			return differ(out, "input %u: another %s, %ld", input,
			              "access that is seen", (long)i);
		if (old->value.is_poison || old->value.is_open)
			continue;
		if (new->value.is_poison || old->value.bits != new->value.bits)
			return differ(out, "input %u: another value of %s, %ld",
			              input, "an access that is seen", (long)i);
	}
	return true;
}

static bool compare(struct oracle *oracle, const struct sample *sample,
                    const struct outcome_of *now, unsigned input,
                    struct mismatch *out)
{
	if (now->end == MACHINE_UNKNOWN) {
		oracle->unknown++;
		(void)snprintf(oracle->why, sizeof(oracle->why), "%s",
		               now->why);
		return true;
	}
	if (now->end != MACHINE_DONE)
		return differ(out, "input %u: it becomes undefined: %s (%ld)",
		              input, now->why, (long)now->end);
	return same_memory(oracle, sample, now, input, out) &&
	       same_events(sample, now, input, out);
}

/*
 * The module as code generation makes it: products and sums that it fuses are
 * rounded once. Which ones, depends on what stands in a block.
 */
static LLVMModuleRef as_generated(const struct oracle *oracle,
                                  LLVMModuleRef module)
{
	static const struct finalize_request plain = { .is_wanted = true };
	const struct finalize finalize = {
		.module = LLVMCloneModule(module),
		.machine = oracle->machine,
		.request = &plain,
	};

	/* What may be rounded otherwise is compared as it stands. */
	if (!oracle->is_fast)
		finalize_contract(&finalize);
	return finalize.module;
}

/* The original, on all inputs. */
static bool run_original(struct oracle *oracle, LLVMModuleRef original,
                         struct sample samples[SAMPLE_INPUTS])
{
	AUTO_LLVM(LLVMModuleRef) module = as_generated(oracle, original);
	struct machine machine;
	bool is_known = true;

	machine_open(&machine, module);
	machine.is_settled = true;
	/* What is rounded otherwise is compared by words, each in its place. */
	for (unsigned i = 0; i < SAMPLE_INPUTS && is_known; i++) {
		struct sample *sample = &samples[i];

		sample_make_input(&sample->input,
		                  LLVMGetNamedFunction(module, "kernel"), i);
		sample_run(&machine, &sample->input, i, 0, NULL, &sample->then);
		if (oracle->is_fast && i >= SAMPLE_ALIASED)
			sample->then.end = MACHINE_UNDEFINED;
		is_known = machine.end != MACHINE_UNKNOWN;
		oracle->undefined += sample->then.end != MACHINE_DONE;
	}
	if (!is_known) {
		oracle->unknown++;
		(void)snprintf(oracle->why, sizeof(oracle->why), "%s",
		               machine.unknown);
	}
	machine_close(&machine);
	return is_known;
}

static bool check_module(struct oracle *oracle, LLVMModuleRef finalized,
                         const struct sample samples[SAMPLE_INPUTS],
                         struct mismatch *out)
{
	AUTO_LLVM(LLVMModuleRef) module = as_generated(oracle, finalized);
	struct machine machine;
	struct outcome_of now = { .events = NULL };
	bool is_same = true;

	machine_open(&machine, module);
	machine.step_limit *= 4;
	for (unsigned i = 0; i < SAMPLE_INPUTS && is_same; i++) {
		const struct sample *sample = &samples[i];
		unsigned seeds = 1;

		if (sample->then.end != MACHINE_DONE)
			continue;
		for (unsigned k = 0; k < seeds && is_same; k++) {
			sample_run(&machine, &sample->input, i, k,
			           &sample->then, &now);
			is_same = compare(oracle, sample, &now, i, out);
			seeds = now.has_choices ? SEEDS : 1;
			oracle->runs++;
		}
	}
	free(now.events);
	machine_close(&machine);
	return is_same;
}

/* Lines as "gather: 35 words". */
static void count_steps(struct oracle *oracle, const char *log)
{
	/* Every line ends with a line break. */
	for (; *log != '\0'; log = strchr(log, '\n') + 1) {
		for (size_t i = 0; i < oracle->step_count; i++) {
			const char *name = tkb_finalize_step_name(i);
			const size_t size = strlen(name);

			if (strncmp(log, name, size) == 0 && log[size] == ':')
				oracle->changed[i]++;
		}
	}
}

/* Lines as "rule 'dp4a.s.s' of 'dp4a.ll': 27 times". */
static void count_rules(struct oracle *oracle, const char *log)
{
	for (log = strstr(log, "rule '"); log != NULL;
	     log = strstr(log + 1, "rule '")) {
		const char *const begin = log + strlen("rule '");
		const size_t size = strcspn(begin, "'");
		size_t i = 0;

		while (i < oracle->rule_count &&
		       (strncmp(oracle->rule_names[i], begin, size) != 0 ||
		        oracle->rule_names[i][size] != '\0'))
			i++;
		if (i == ORACLE_RULES || size >= sizeof(*oracle->rule_names))
			continue;
		if (i == oracle->rule_count) {
			memcpy(oracle->rule_names[i], begin, size);
			oracle->rule_count++;
		}
		oracle->rule_counts[i]++;
	}
}

static bool finalize_variant(struct oracle *oracle, LLVMModuleRef module,
                             int variant, const struct bindings *bindings,
                             struct mismatch *out)
{
	const char *names[ORACLE_STEPS];
	struct finalize_request order = { .is_wanted = true,
		                          .is_fast = oracle->is_fast,
		                          .quant = oracle->quant,
		                          .bindings = *bindings,
		                          .rules = oracle->rules };
	TKB_AUTO(tkb_buf_release) struct tkb_buf log = TKB_BUF_INIT(1 << 20);
	const struct tkb_sink sink = tkb_buf_sink(&log);
	struct tkb_error err = { .status = 0 };
	const bool is_all = (size_t)variant == oracle->step_count;

	out->variant = variant;
	out->name = is_all ? "all" : tkb_finalize_step_name((size_t)variant);
	order.without.items = names;
	for (size_t i = 0; !is_all && i + 1 < oracle->step_count; i++) {
		if (i != (size_t)variant)
			names[order.without.count++] =
				tkb_finalize_step_name(i);
	}
	if (finalize_module(module, oracle->machine, &order, &sink, &err) < 0) {
		(void)snprintf(out->what, sizeof(out->what), "%.200s",
		               err.message);
		return false;
	}
	tkb_buf_add_byte(&log, '\0');
	oracle->changed[oracle->step_count] += is_all && log.size > 1;
	count_steps(oracle, (const char *)log.data);
	count_rules(oracle, (const char *)log.data);
	return true;
}

static bool check_variant(struct oracle *oracle, LLVMModuleRef module,
                          int variant,
                          const struct sample samples[SAMPLE_INPUTS],
                          struct mismatch *out)
{
	static const struct bindings none = { NULL, 0 };
	AUTO_LLVM(LLVMModuleRef) after = LLVMCloneModule(module);

	return finalize_variant(oracle, after, variant, &none, out) &&
	       check_module(oracle, after, samples, out);
}

/* Values of arguments and of the grid, and their texts. */
struct bound {
	struct tkb_binding items[SAMPLE_ARGUMENTS + 3];
	size_t count;
	char values[SAMPLE_ARGUMENTS][32];
	unsigned char bytes[GENERATE_POINTERS][GENERATE_SIZE];
};

/* Can it be a constant: only read, by nobody else, and read as that? */
static bool is_constant_memory(LLVMValueRef kernel, const struct input *input,
                               unsigned which)
{
	return !input->is_shared[which] &&
	       finalize_is_only_read(LLVMGetParam(kernel, which));
}

/*
 * Bind about half of the arguments that can be bound to what `input` has, and
 * take these out of it.
 */
static void bind_arguments(struct oracle *oracle, LLVMValueRef kernel,
                           unsigned number, struct input *input,
                           struct bound *out)
{
	static const char *const names[] = { "0", "1", "2", "3", "4", "5" };
	unsigned left = 0;

	for (unsigned i = 0; i < SAMPLE_ARGUMENTS; i++) {
		const bool is_memory = i < GENERATE_POINTERS;
		struct tkb_binding *item = &out->items[out->count];

		if (machine_mix(oracle->modules, i) % 2 == 0 ||
		    (is_memory && !is_constant_memory(kernel, input, i))) {
			input->arguments[left++] = input->arguments[i];
			continue;
		}
		(void)snprintf(out->values[i], sizeof(out->values[i]),
		               is_memory ? "u8[%u]" : "%u",
		               is_memory ? GENERATE_SIZE
		                         : (unsigned)input->arguments[i].bits);
		*item = (struct tkb_binding){ .argument = names[i],
			                      .value = out->values[i] };
		if (is_memory) {
			sample_fill(out->bytes[i], GENERATE_SIZE, i, number);
			item->bytes.data = out->bytes[i];
			item->bytes.size = GENERATE_SIZE;
		}
		oracle->bound[is_memory]++;
		out->count++;
	}
}

/* Bind the grid in every other module, to what the machine has. */
static void bind_grid(const struct oracle *oracle, struct bound *out)
{
	static const struct tkb_binding grid[] = {
		{ .argument = "nctaid.x", .value = "4" },
		{ .argument = "nctaid.y", .value = "1" },
		{ .argument = "nctaid.z", .value = "1" },
	};

	if (machine_mix(oracle->modules, SAMPLE_ARGUMENTS) % 2 != 0)
		return;
	for (size_t i = 0; i < TKB_COUNT_OF(grid); i++)
		out->items[out->count++] = grid[i];
}

/* All steps, with arguments bound to what one of the inputs has. */
static bool check_bound(struct oracle *oracle, LLVMModuleRef module,
                        const struct sample samples[SAMPLE_INPUTS],
                        struct mismatch *out)
{
	const unsigned number = (unsigned)(oracle->modules % SAMPLE_ALIASED);
	const struct sample *const sample = &samples[number];
	AUTO_LLVM(LLVMModuleRef) after = LLVMCloneModule(module);
	AUTO_LLVM(LLVMModuleRef) generated = NULL;
	struct input input = sample->input;
	struct bound bound = { .count = 0 };
	struct outcome_of now = { .events = NULL };
	struct bindings bindings = { .items = bound.items };
	struct machine machine;
	bool is_same;

	if (sample->then.end != MACHINE_DONE)
		return true;
	bind_arguments(oracle, LLVMGetNamedFunction(after, "kernel"), number,
	               &input, &bound);
	bind_grid(oracle, &bound);
	bindings.count = bound.count;
	if (!finalize_variant(oracle, after, (int)oracle->step_count, &bindings,
	                      out))
		return false;
	generated = as_generated(oracle, after);
	machine_open(&machine, generated);
	machine.step_limit *= 4;
	sample_run(&machine, &input, number, 0, &sample->then, &now);
	is_same = compare(oracle, sample, &now, number, out);
	oracle->runs++;
	free(now.events);
	machine_close(&machine);
	return is_same;
}

static void free_samples(struct sample *samples)
{
	for (unsigned i = 0; i < SAMPLE_INPUTS; i++)
		free(samples[i].then.events);
	free(samples);
}

bool oracle_same(struct oracle *oracle, LLVMModuleRef before,
                 LLVMModuleRef after, struct mismatch *out)
{
	struct sample *samples =
		machine_alloc(SAMPLE_INPUTS * sizeof(*samples));
	bool is_same;

	*out = (struct mismatch){ .variant = -1 };
	llvm_set_layout(before, oracle->machine);
	llvm_set_layout(after, oracle->machine);
	is_same = run_original(oracle, before, samples) &&
	          check_module(oracle, after, samples, out);
	free_samples(samples);
	return is_same;
}

bool oracle_check(struct oracle *oracle, LLVMModuleRef module,
                  struct mismatch *out)
{
	struct sample *samples =
		machine_alloc(SAMPLE_INPUTS * sizeof(*samples));
	bool is_same = true;

	*out = (struct mismatch){ .variant = -1 };
	oracle->modules++;
	llvm_set_layout(module, oracle->machine);
	if (run_original(oracle, module, samples)) {
		for (int i = 0; i <= (int)oracle->step_count && is_same; i++) {
			/* The last step only verifies. */
			if (i + 1 == (int)oracle->step_count ||
			    (oracle->only >= 0 && oracle->only != i))
				continue;
			is_same =
				check_variant(oracle, module, i, samples, out);
		}
		is_same = is_same && check_bound(oracle, module, samples, out);
	}
	free_samples(samples);
	return is_same;
}

void oracle_open(struct oracle *oracle)
{
	*oracle = (struct oracle){
		.machine = nvptx(),
		.step_count = tkb_finalize_step_count(),
		.only = -1,
	};
}
