/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/elf.h"

#include "fuzz.h"

/*
 * Runs every check of an ELF file on the same bytes. A cubin that is valid for
 * an architecture and a symbol is valid without them; a file is for one machine
 * only.
 */

static bool is_right(int rc, const struct tkb_error *err)
{
	if (rc == 0)
		return true;
	MUST(rc == TKB_ERR_CORRUPT && err->reason == TKB_REASON_BINARY);
	MUST(err->message[0] != '\0');
	return false;
}

static bool is_cubin(struct tkb_bytes elf, uint64_t arch, const char *symbol)
{
	struct tkb_error err = { 0 };

	return is_right(tkb_elf_check_cubin(elf, "k.cubin", arch, symbol, &err),
	                &err);
}

static bool is_hsaco(struct tkb_bytes elf)
{
	struct tkb_error err = { 0 };

	return is_right(
		tkb_elf_check_hsaco(elf, "k.hsaco", "gfx942", "kernel", &err),
		&err);
}

static void check_module(struct tkb_bytes elf, const char *name)
{
	static const struct tkb_gpu_here here = { 0 };
	TKB_AUTO(tkb_buf_release) struct tkb_buf platform = TKB_BUF_INIT(256);
	struct tkb_error err = { 0 };

	if (!is_right(tkb_elf_check_module(elf, name, &platform, &err), &err))
		return;
	MUST(platform.size != 0);
	tkb_buf_add_byte(&platform, '\0');
	MUST(platform.failure == 0);
	MUST(strlen((const char *)platform.data) == platform.size - 1);
	(void)tkb_platform_fits((const char *)platform.data, &here);
}

static const char symbol[] = "add_kernel";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tkb_bytes elf = { data, size };
	const bool cubin = is_cubin(elf, 0, NULL);

	MUST(!is_cubin(elf, 90, NULL) || cubin);
	MUST(!is_cubin(elf, 0, symbol) || cubin);
	MUST(!is_cubin(elf, 0, symbol) ||
	     memmem(data, size, symbol, sizeof(symbol)) != NULL);
	MUST(!is_cubin(elf, 90, symbol) ||
	     (is_cubin(elf, 90, NULL) && is_cubin(elf, 0, symbol)));
	MUST(!is_cubin(elf, 90, NULL) || !is_cubin(elf, 100, NULL) ||
	     data[8] < 7 || data[8] > 8); /* an ABI version not known */
	MUST(!is_hsaco(elf) || !cubin);
	check_module(elf, "cuda_utils.so");
	check_module(elf, "cuda_utils.cpython-312-x86_64-linux-gnu.so");
	return 0;
}
