/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PAGE_FILES_H
#define TKBUNDLE_PAGE_FILES_H

/* The files beside this one, which the build embeds: see embed.cmake. */
extern const char page_html[];
extern const char page_css[];
extern const char page_js[];

#endif
