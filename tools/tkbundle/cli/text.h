/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TEXT_H
#define TKBUNDLE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Text for people.
 *
 * Keys, names and paths come from outside and may contain any bytes. Whole
 * lines are escaped when they are printed, so that no caller can forget it.
 */

/*
 * Print a line, as tkb_text_show() writes it: control characters and the like
 * come out as "\x1b". The newline is added.
 */
__attribute__((format(printf, 2, 3))) void text_line(FILE *to,
                                                     const char *format, ...);

/* The same between `prefix` and `suffix`, which may be empty. */
__attribute__((format(printf, 4, 0))) void text_line_around(FILE *to,
                                                            const char *prefix,
                                                            const char *suffix,
                                                            const char *format,
                                                            va_list values);

/* The size of a buffer for text_size(). */
#define TEXT_SIZE_SIZE 16

/* Write "913 B", "1.2 kB", "64 MB": powers of 1000, as disks are sold. */
void text_size(uint64_t size, char out[TEXT_SIZE_SIZE]);

/* The size of a buffer for text_age(). */
#define TEXT_AGE_SIZE 24

/* Write "45s", "12m", "3h", "40d": the largest unit that fits, rounded down. */
void text_age(uint64_t seconds, char out[TEXT_AGE_SIZE]);

/* The size of a buffer for text_time(). */
#define TEXT_TIME_SIZE 24

/* Write milliseconds as tkb_time_parse() reads them: "500ms", "30s", "2d". */
void text_time(uint64_t time_ms, char out[TEXT_TIME_SIZE]);

/* A word, and how often it was counted. */
struct text_count {
	const char *word;
	uint64_t count;
};

/* Write ", skipped 2, busy 1": the counts that are not 0. */
void text_counts(const struct text_count *counts, size_t count, char *out,
                 size_t size);

/* "entry" for 1, "entries" for any other number. */
const char *text_plural(uint64_t count, const char *one, const char *many);

/* `text`, or "" for NULL. */
const char *text_or_empty(const char *text);

/* Is it one of `count` words? */
bool text_is_among(const char *text, const char *const *words, size_t count);

bool text_ends_with(const char *text, const char *end);

/*
 * The text that printf() would write, owned by the caller; NULL: out of memory.
 */
__attribute__((format(printf, 1, 2))) char *text_format(const char *format,
                                                        ...);

/* For TKB_AUTO: free what a `char *` points to. */
void text_free(char **text);

/*
 * The path `file`, relative to the folder that contains the file `from`. Owned
 * by the caller; NULL: out of memory.
 */
char *text_beside(const char *from, const char *file);

#endif
