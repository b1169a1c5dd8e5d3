/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/triton/triton_depends.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fd.h"
#include "compile/pool/fields.h"
#include "compile/triton/triton_look.h"

enum {
	ENVIRONMENT_LIMIT = 4 * 1024 * 1024
};

/* Time stamps of files are rounded down to the kernel's last clock tick. */
#define TICK_NS INT64_C(20000000)

/*
 * Add the state of a path. Leave out the identity if the file may still change
 * without a new time stamp.
 */
static void add_state(struct tkb_buf *out, unsigned field,
                      const struct tkb_look *state, const char *path)
{
	const struct tkb_bytes name = tkb_text(path);
	unsigned char room[sizeof(*state) + TKB_FIELD_PATH_SIZE];
	struct tkb_look kept = *state;

	if (tkb_look_changed_ns(&kept.identity) > tkb_wall_ns() - TICK_NS)
		kept.identity = (struct tkb_file_identity){ 0 };
	memcpy(room, &kept, sizeof(kept));
	memcpy(room + sizeof(kept), name.data, name.size);
	tkb_field_add(out, field,
	              (struct tkb_bytes){ room, sizeof(kept) + name.size });
}

/* Add a variable and its value; for "*", the digest of all variables. */
static bool add_variable(struct tkb_buf *out, const char *name)
{
	static const char *const passing[] = { "_=", "PWD=", "OLDPWD=",
		                               "SHLVL=" };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf all = TKB_BUF_INIT(ENVIRONMENT_LIMIT);
	const char *value = getenv(name);
	struct tkb_digest digest;
	tkb_buf_add_text(&all, name);
	if (strcmp(name, "*") != 0) {
		if (value != NULL) {
			tkb_buf_add_byte(&all, '=');
			tkb_buf_add_text(&all, value);
		}
		tkb_field_add(out, TKB_TRITON_VARIABLE, tkb_buf_bytes(&all));
		return all.failure == 0;
	}
	tkb_buf_reset(&all);
	for (char **item = environ; item != NULL && *item != NULL; item++) {
		if (tkb_begins_with_any(*item, passing, TKB_COUNT_OF(passing)))
			continue;
		tkb_buf_add_text(&all, *item);
		tkb_buf_add_byte(&all, '\0');
	}
	if (all.failure != 0 ||
	    tkb_digest_of(tkb_buf_bytes(&all), &digest, NULL) < 0)
		return false;
	tkb_buf_reset(&all);
	tkb_print(&all, "*=%s", tkb_digest_hex(&digest).text);
	tkb_field_add(out, TKB_TRITON_VARIABLE, tkb_buf_bytes(&all));
	return true;
}

static bool note_field(unsigned field, struct tkb_bytes bytes, int64_t began_ns,
                       struct tkb_buf *out)
{
	char path[TKB_FIELD_PATH_SIZE];
	struct tkb_look state;
	int64_t newest;

	if (field != TKB_TRITON_READ && field != TKB_TRITON_SEARCHED &&
	    field != TKB_TRITON_LISTED && field != TKB_TRITON_VARIABLE &&
	    field != TKB_TRITON_LINK)
		return true;
	if (!tkb_field_path(bytes, path))
		return false;
	if (field == TKB_TRITON_VARIABLE)
		return add_variable(out, path);
	if (!tkb_look(field, path, &state, &newest) ||
	    newest > began_ns - TICK_NS)
		return false;
	add_state(out, field, &state, path);
	return true;
}

bool tkb_depends_note(struct tkb_bytes answer, int64_t began_ns,
                      struct tkb_buf *out)
{
	struct tkb_fields fields = { .bytes = answer };
	unsigned field;
	struct tkb_bytes bytes;
	int rc;

	while ((rc = tkb_fields_next(&fields, &field, &bytes, NULL)) == 0) {
		if (!note_field(field, bytes, began_ns, out))
			return false;
	}
	return rc == TKB_MISS && out->failure == 0;
}

bool tkb_depends_note_entry(const char *folder, struct tkb_buf *out)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = opendir(folder);
	const struct dirent *item;
	struct tkb_look state;
	int64_t newest;
	size_t count = 0;
	int rc = TKB_ERR_IO;

	while (dir != NULL && (rc = tkb_dir_next(dir, &item, NULL)) == 0) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf path = TKB_BUF_INIT(TKB_FIELD_PATH_SIZE - 1);

		if (item->d_name[0] == '.')
			continue;
		tkb_print(&path, "%s/%s", folder, item->d_name);
		if (path.failure != 0 ||
		    !tkb_look(TKB_TRITON_READ, (const char *)path.data, &state,
		              &newest) ||
		    state.kind != TKB_LOOK_COMPARED)
			return false;
		add_state(out, TKB_TRITON_READ, &state,
		          (const char *)path.data);
		count++;
	}
	return rc == TKB_MISS && count != 0 && out->failure == 0;
}

static bool variable_holds(struct tkb_bytes noted)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf there = TKB_BUF_INIT(ENVIRONMENT_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf wanted = TKB_BUF_INIT(ENVIRONMENT_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf name = TKB_BUF_INIT(ENVIRONMENT_LIMIT);
	const char *end = memchr(noted.data, '=', noted.size);

	tkb_buf_add(&name,
	            tkb_bytes_slice(
			    noted, 0,
			    end == NULL ? noted.size
					: (size_t)(end -
	                                           (const char *)noted.data)));
	tkb_buf_add_byte(&name, '\0');
	tkb_field_add(&wanted, TKB_TRITON_VARIABLE, noted);
	return name.failure == 0 && wanted.failure == 0 &&
	       add_variable(&there, (const char *)name.data) &&
	       tkb_bytes_equal(tkb_buf_bytes(&there), tkb_buf_bytes(&wanted));
}

static bool state_holds(unsigned field, struct tkb_bytes noted,
                        struct tkb_buf *renewed)
{
	struct tkb_file_identity identity;
	char path[TKB_FIELD_PATH_SIZE];
	const bool is_file = field != TKB_TRITON_LINK;
	struct tkb_look before;
	struct tkb_look state;
	int64_t newest;

	if (noted.size <= sizeof(before) ||
	    !tkb_field_path(tkb_bytes_slice(noted, sizeof(before), noted.size),
	                    path))
		return false;
	memcpy(&before, noted.data, sizeof(before));
	if (is_file && !tkb_file_identify(path, &identity))
		state = (struct tkb_look){ .kind = TKB_LOOK_ABSENT };
	else if (is_file && before.kind != TKB_LOOK_ABSENT &&
	         tkb_file_is_same(&identity, &before.identity))
		state = before;
	else if ((is_file && before.kind == TKB_LOOK_ABSENT) ||
	         !tkb_look(field, path, &state, &newest))
		return false;
	if (state.kind != before.kind || state.mode != before.mode ||
	    (state.kind == TKB_LOOK_LARGE &&
	     !tkb_file_is_same(&state.identity, &before.identity)) ||
	    !tkb_digest_equal(&state.digest, &before.digest))
		return false;
	add_state(renewed, field, &state, path);
	return true;
}

bool tkb_depends_hold(struct tkb_bytes noted, struct tkb_buf *renewed)
{
	struct tkb_fields fields = { .bytes = noted };
	unsigned field;
	struct tkb_bytes bytes;
	bool holds = true;
	int rc = 0;

	while (holds &&
	       (rc = tkb_fields_next(&fields, &field, &bytes, NULL)) == 0) {
		switch (field) {
		case TKB_TRITON_READ:
		case TKB_TRITON_SEARCHED:
		case TKB_TRITON_LISTED:
		case TKB_TRITON_LINK:
			holds = state_holds(field, bytes, renewed);
			break;
		case TKB_TRITON_VARIABLE:
			holds = variable_holds(bytes);
			tkb_field_add(renewed, field, bytes);
			break;
		default:
			tkb_field_add(renewed, field, bytes);
		}
	}
	return holds && rc == TKB_MISS;
}
