/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_STRIP_H
#define TKB_CACHE_STRIP_H

/*
 * Take the names of source files out of a kernel's files, in place: each letter
 * of a name becomes a dash. Nothing else changes, so offsets, sizes and the
 * structure of debug data stay as they are, and every reader of such a file
 * still reads it.
 *
 *   ttir, ttgir, source   the file in loc("model.py":12:3)
 *   llir                  filename and directory of each !DIFile
 *   ptx                   .file, comments behind .loc, strings of .debug_info
 *   ELF (cubin, hsaco)    the tables of files of .debug_line, with time and
 *                         size of each; strings of .debug_str and .debug_info;
 *                         the PTX in .nv_debug_ptx_txt
 *
 * Lines and columns, and names of functions, stay. Other files are left alone.
 */

#include "base/base.h"

/* The extension of `name` tells what kind of file it is. */
void tkb_strip_locations(const char *name, unsigned char *data, size_t size);

#endif
