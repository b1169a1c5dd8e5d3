/* SPDX-License-Identifier: Apache-2.0 */
#include "why/advice.h"

#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "why/parts.h"

/* Inductor's workers use another ptxas than their parent. */
static void write_ptxas(const struct advice_case *where, char *out, size_t size)
{
	const char *const own =
		where->facts != NULL ? facts_find(where->facts, "ptxas.triton")
				     : NULL;
	/* "12.8.93 /opt/venv/.../ptxas" */
	const char *const path = own != NULL ? strchr(own, '/') : NULL;

	if (path == NULL) {
		(void)snprintf(out, size,
		               "let all processes use one ptxas: set "
		               "TRITON_PTXAS_PATH to it where both are made, "
		               "for newer GPUs TRITON_PTXAS_BLACKWELL_PATH, "
		               "or start both by 'tkbundle run --engine %s'",
		               where->engine[0] != '\0' ? where->engine
		                                        : "torch");
		return;
	}

	(void)snprintf(out, size,
	               "let all processes use one ptxas: set "
	               "TRITON_PTXAS_PATH=%.300s, or start by 'tkbundle run "
	               "--engine %s', which does",
	               path,
	               where->engine[0] != '\0' ? where->engine : "torch");
}

static void write_home(const struct advice_case *where, char *out, size_t size)
{
	(void)snprintf(out, size,
	               "start by 'tkbundle run --engine %s' with a remote here "
	               "and where it was made, which sets %s alike; or set it "
	               "to one value on both",
	               where->engine[0] != '\0' ? where->engine : "vllm",
	               text_or_empty(where->name));
}

static void write_variable(const struct advice_case *where, char *out,
                           size_t size)
{
	const char *const name = text_or_empty(where->name);

	if (strcmp(name, "VLLM_API_KEY") == 0)
		(void)snprintf(out, size,
		               "give the key as 'vllm serve --api-key', not in "
		               "VLLM_API_KEY, which is part of vLLM's key");
	else if (strcmp(name, "python") == 0)
		(void)snprintf(
			out, size,
			"start it by one Python, as %.300s, with one set "
			"of packages",
			text_or_empty(where->there));
	else if (strcmp(name, PARTS_PLACES) == 0)
		(void)snprintf(out, size,
		               "compile it by the same path, with the same "
		               "folders of headers: lines of the source name "
		               "them");
	else if (text_or_empty(where->there)[0] == '\0')
		(void)snprintf(out, size,
		               "unset %s, or set it where it is made, too",
		               name);
	else if (tkb_name_is_secret(name))
		(void)snprintf(out, size, "set %s alike on both, or on neither",
		               name);
	else
		(void)snprintf(out, size, "set %s=%.300s, as it was made with",
		               name, where->there);
}

static void write_version(const char *what, const struct advice_case *where,
                          char *out, size_t size)
{
	const char *const there = text_or_empty(where->there);

	if (strchr(there, ',') == NULL)
		(void)snprintf(out, size,
		               "install %s %.100s, or let CI push what this "
		               "one compiles",
		               what, there);
	else
		(void)snprintf(out, size,
		               "install one version of %s on both, or let CI "
		               "push what this one compiles",
		               what);
}

static void write_compiler(const struct advice_case *where, char *out,
                           size_t size)
{
	const bool is_of_vllm =
		strcmp(text_or_empty(where->name), PARTS_COMPILER) == 0;

	(void)snprintf(out, size,
	               "install the same %s on both, or let %s push what this "
	               "one compiles",
	               is_of_vllm ? "PyTorch, Triton and CUDA"
	                          : "CUDA and tkbundle",
	               is_of_vllm ? "a machine with this GPU" : "CI");
}

static const char *plain_advice(enum reason reason)
{
	switch (reason) {
	case REASON_TARGET:
		return "let a machine with this GPU's architecture push to the "
		       "ref";
	case REASON_LIBTRITON:
		return "install the same wheel of Triton on both";
	case REASON_GPU:
		return "let a machine with this GPU push to the ref";
	case REASON_DRIVER:
		return "let a machine with this driver push to the ref";
	case REASON_OPTIONS:
	case REASON_SIGNATURE:
	case REASON_CONSTANTS:
	case REASON_NOT_IN_BUNDLE:
		return "nothing here is wrong: let CI, or a first server, run "
		       "what this one runs, and push";
	case REASON_SOURCE:
		return "let CI push after each change of the program";
	case REASON_BYTES:
		return "nothing is wrong if both work: one key may have "
		       "several "
		       "bytes; 'tkbundle verify' finds damage";
	case REASON_UNTRUSTED:
		return "let somebody whom the policy trusts sign it, as by "
		       "'tkbundle sign'; 'tkbundle doctor' says what is wrong";
	case REASON_NOT_PULLED:
		return "correct what failed, or give the pull more time, with "
		       "--wait";
	case REASON_DAMAGED:
		return "look for the damage with 'tkbundle verify', in the "
		       "remote with '--remote - --repair'";
	default:
		return "";
	}
}

void advice_write(enum reason reason, const struct advice_case *where,
                  char *out, size_t size)
{
	switch (reason) {
	case REASON_PTXAS:
		write_ptxas(where, out, size);
		break;
	case REASON_HOME:
		if (strcmp(text_or_empty(where->name), "HOME") == 0)
			write_variable(where, out, size);
		else
			write_home(where, out, size);
		break;
	case REASON_PATH:
	case REASON_ENVIRONMENT:
		write_variable(where, out, size);
		break;
	case REASON_TRITON:
		write_version("Triton", where, out, size);
		break;
	case REASON_COMPILER:
		write_compiler(where, out, size);
		break;
	case REASON_ENGINE:
		write_version("the engine", where, out, size);
		break;
	case REASON_TORCH:
		(void)snprintf(out, size,
		               "install the same version of PyTorch, or let CI "
		               "push what this one compiles");
		break;
	default:
		(void)snprintf(out, size, "%s", plain_advice(reason));
	}
}
