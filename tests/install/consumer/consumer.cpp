/* SPDX-License-Identifier: Apache-2.0 */
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <tkbundle/tkbundle.h>

/* The same as consumer.c, as one would write it in C++. */
namespace
{

struct closer {
	void operator()(tkb_bundle *bundle) const
	{
		tkb_bundle_close(bundle);
	}
};

void check(int rc, const tkb_error &err)
{
	if (rc != 0)
		throw std::runtime_error(err.message);
}

std::vector<char> collect(const std::string &cache)
{
	std::vector<char> memory;
	tkb_collect_report report{};
	report.struct_size = sizeof(report);
	tkb_error err{};
	tkb_sink sink{};

	sink.self = &memory;
	sink.write = [](void *self, tkb_bytes bytes, tkb_error *) -> int {
		auto *to = static_cast<std::vector<char> *>(self);
		auto *from = static_cast<const char *>(bytes.data);

		try {
			to->insert(to->end(), from, from + bytes.size);
		} catch (const std::bad_alloc &) {
			return TKB_ERR_NOMEM;
		}
		return 0;
	};
	check(tkb_collect(cache.c_str(), nullptr, &sink, &report, &err), err);
	std::printf("collected %u, left out %u\n",
	            static_cast<unsigned>(report.collected_count),
	            static_cast<unsigned>(report.left_out_count));
	return memory;
}

void emit(const std::vector<char> &memory, const std::string &root)
{
	tkb_emit_report report{};
	report.struct_size = sizeof(report);
	tkb_bundle *opened = nullptr;
	tkb_error err{};

	check(tkb_bundle_open_memory({ memory.data(), memory.size() }, "memory",
	                             &opened, &err),
	      err);
	const std::unique_ptr<tkb_bundle, closer> bundle{ opened };
	check(tkb_bundle_verify(bundle.get(), nullptr, nullptr, &err), err);
	check(tkb_emit(bundle.get(), root.c_str(), nullptr, &report, &err),
	      err);
	std::printf("holds %u, emitted %u, failed %u\n",
	            static_cast<unsigned>(tkb_bundle_entry_count(bundle.get())),
	            static_cast<unsigned>(report.emitted_count),
	            static_cast<unsigned>(report.failed_count));
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc != 3)
		return 2;

	std::printf("headers %d.%d.%d, library %s\n", TKB_VERSION_MAJOR,
	            TKB_VERSION_MINOR, TKB_VERSION_PATCH, tkb_version());
	emit(collect(argv[1]), argv[2]);
	return 0;
} catch (const std::exception &error) {
	std::fprintf(stderr, "consumer: %s\n", error.what());
	return 1;
}
