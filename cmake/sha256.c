/* SPDX-License-Identifier: Apache-2.0 */
/* Does libcrypto's archive have SHA-256 that a shared library may contain? */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

int check(SHA256_CTX *context, unsigned char *out);

int check(SHA256_CTX *context, unsigned char *out)
{
	return SHA256_Init(context) && SHA256_Update(context, out, 1) &&
	       SHA256_Final(out, context);
}
