# SPDX-License-Identifier: Apache-2.0
"""How each library is built: static, and of what we use alone."""

import shutil

from place import JOBS, fail, run
from toolchain import FLAGS

# What spends no time is made small: of OpenSSL, what does is assembly.
SMALL = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]

# TLS 1.2 and 1.3 with certificates, and SHA-256. Configuration files of the
# system may name modules that a static library cannot load.
WITHOUT = """
    shared tests apps docs dso module engine legacy async comp dtls quic ssl3
    tls1 tls1_1 srp psk srtp cms cmp ct ocsp ts http rfc3779 weak-ssl-ciphers
    ui-console autoload-config nextprotoneg aria bf blake2 camellia cast des dsa
    ec2m gost idea md4 mdc2 ocb rc2 rc4 rmd160 scrypt argon2 seed siphash siv
    sm2 sm3 sm4 whirlpool ml-dsa slh-dsa thread-pool default-thread-pool hqinterop
    tls-deprecated-ec integrity-only-ciphers ssl-trace sslkeylog multiblock
    padlockeng loadereng filenames
""".split()

# HTTP alone, with names looked up in a thread, proxies and .netrc.
CURL_WITHOUT = """
    ALTSVC AWS DIGEST_AUTH KERBEROS_AUTH NEGOTIATE_AUTH NTLM COOKIES
    DOH FORM_API GETOPTIONS HSTS IPFS LIBCURL_OPTION MIME PROGRESS_METER
    WEBSOCKETS
""".split()


def edit(path, old, new):
    text = path.read_text()
    if old not in text:
        fail(f"{path} does not have the words that a recipe replaces")
    path.write_text(text.replace(old, new))


def build_openssl(tools, source, build, log):
    # It notes when it was built.
    environment = {**tools.environment(), "SOURCE_DATE_EPOCH": "0"}
    shutil.copytree(source, build, symlinks=True)
    # AES in 700 kB of code, for what no network asks for: that for AVX stays.
    edit(build / "crypto/modes/asm/aes-gcm-avx512.pl",
         "if ($avx512vaes>0) { #<<<", "if (0) {")
    # It learns what the processor has by a section .init, which Zig's linker leaves
    # out: SHA-256 would not use the processor's own instructions.
    edit(build / "crypto/cpuid.c",
         "void OPENSSL_cpuid_setup(void)\n{\n    static int trigger",
         "__attribute__((constructor)) void OPENSSL_cpuid_setup(void)\n{\n"
         "    static int trigger")
    # 150 kB of multiples of P-256's generator, which do not compress: without them
    # OpenSSL handles it like any other point.
    edit(build / "crypto/ec/ecp_nistz256.c",
         "preComputedTable = ecp_nistz256_precomputed;", "preComputedTable = NULL;")
    edit(build / "crypto/ec/asm/ecp_nistz256-x86_64.pl",
         "while (@line=splice(@arr,0,16)) {", "while (0) {")
    edit(build / "crypto/ec/asm/ecp_nistz256-armv8.pl", "for(1..37) {", "for(1..0) {")
    run(["./Configure", f"linux-{tools.architecture}",
         *(f"no-{name}" for name in WITHOUT), "--prefix=/usr", "--libdir=lib",
         "--openssldir=/etc/ssl", "-Oz", *FLAGS, *SMALL],
        log=log, cwd=build, env=environment)
    for goal in (["build_libs"], ["install_dev", f"DESTDIR={build}/out"]):
        run(["make", f"-j{JOBS}", *goal], log=log, cwd=build, env=environment)
    shutil.copytree(build / "out" / "usr", tools.prefix, dirs_exist_ok=True)


def cmake_build(folder=".", build_type="MinSizeRel", **options):
    """A function that builds by CMake, and installs."""
    options = {"BUILD_SHARED_LIBS": "OFF", "CMAKE_INSTALL_LIBDIR": "lib",
               "CMAKE_BUILD_TYPE": build_type,
               "CMAKE_C_FLAGS_MINSIZEREL": " ".join(["-Os -DNDEBUG", *SMALL]),
               "CMAKE_POSITION_INDEPENDENT_CODE": "ON", **options}

    def build(tools, source, place, log):
        tools.cmake(source / folder, place,
                    {**options, "CMAKE_INSTALL_PREFIX": tools.prefix},
                    ["install"], log)

    return build


RECIPES = {
    "openssl": build_openssl,
    "libzstd": cmake_build(
        "build/cmake", "Release", ZSTD_BUILD_SHARED="OFF", ZSTD_BUILD_PROGRAMS="OFF",
        ZSTD_BUILD_TESTS="OFF", ZSTD_BUILD_DICTBUILDER="OFF",
        ZSTD_LEGACY_SUPPORT="OFF"),
    "hiredis": cmake_build(DISABLE_TESTS="ON", ENABLE_SSL="OFF"),
    "jansson": cmake_build(
        JANSSON_BUILD_DOCS="OFF", JANSSON_EXAMPLES="OFF",
        JANSSON_WITHOUT_TESTS="ON"),
    "expat": cmake_build(
        "expat", EXPAT_SHARED_LIBS="OFF", EXPAT_BUILD_TOOLS="OFF",
        EXPAT_BUILD_EXAMPLES="OFF", EXPAT_BUILD_TESTS="OFF",
        EXPAT_BUILD_DOCS="OFF"),
    "curl": cmake_build(
        BUILD_CURL_EXE="OFF", BUILD_TESTING="OFF", BUILD_EXAMPLES="OFF",
        BUILD_LIBCURL_DOCS="OFF", BUILD_MISC_DOCS="OFF",
        ENABLE_CURL_MANUAL="OFF", HTTP_ONLY="ON", CURL_USE_OPENSSL="ON",
        CURL_CA_BUNDLE="none", CURL_CA_PATH="none", CURL_CA_FALLBACK="ON",
        CURL_USE_LIBPSL="OFF", CURL_USE_LIBSSH2="OFF", CURL_USE_LIBSSH="OFF",
        CURL_USE_GSSAPI="OFF", CURL_BROTLI="OFF", CURL_ZLIB="OFF",
        CURL_ZSTD="OFF", USE_LIBIDN2="OFF", USE_NGHTTP2="OFF",
        ENABLE_THREADED_RESOLVER="ON", ENABLE_UNIX_SOCKETS="ON",
        **{f"CURL_DISABLE_{name}": "ON" for name in CURL_WITHOUT}),
}
