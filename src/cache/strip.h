/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_STRIP_H
#define TKB_CACHE_STRIP_H

/*
 * Strip the names of source files from a kernel's files, in place: each letter
 * of a name becomes a dash. Nothing else changes, so offsets, sizes and the
 * structure of debug data stay, and every program that reads such a file can
 * still read it.
 *
 *   ttir, ttgir, source   the file in loc("model.py":12:3)
 *   llir                  filename and directory of each !DIFile
 *   ptx                   .file, comments behind .loc, strings of .debug_info
 *   ELF (cubin, hsaco)    the tables of files of .debug_line, with time and
 *                         size of each; strings of .debug_str and .debug_info;
 *                         the PTX in .nv_debug_ptx_txt
 *
 * Line numbers, columns and names of functions stay. Other files are left
 * alone.
 */

#include "base/base.h"

/* Strip a file; the extension of `name` says what kind of file it is. */
void tkb_strip_locations(const char *name, unsigned char *data, size_t size);

#endif
