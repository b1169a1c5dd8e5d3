/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_GRANT_H
#define TKB_REMOTE_NET_GRANT_H

/* Advice for messages if a remote may be read but not written. */
#define TKB_REMOTE_GRANT                                                       \
	"grant the right to write there, or do not push (push=never)"

#endif
