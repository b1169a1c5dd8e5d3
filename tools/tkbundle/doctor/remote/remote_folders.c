/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/remote/remote_folders.h"

#include <stdio.h>
#include <stdlib.h>

#include "doctor/machine/place.h"
#include "doctor/machine/state.h"

static void note_missing(const struct remote_use *use, const char *path,
                         bool is_last, struct findings *findings)
{
	const char *const ref = use->config.values[CONFIG_REF].text;

	if (is_last)
		findings_add(findings, FINDING_FAULT, "remote",
		             "remote '%s' does not exist\tname the right "
		             "folder, or mount it; if it should be a new one, "
		             "'tkbundle push %s' makes it",
		             path, ref != NULL ? ref : "REF");
	else
		findings_add(findings, FINDING_RISK, "remote",
		             "remote '%s' does not exist yet, and whether it "
		             "could be written was not tried\tnothing, if that "
		             "is intended: the first pull makes and fills it",
		             path);
}

static enum remote_folders judge_folder(const struct remote_use *use,
                                        const struct place *place, bool is_last,
                                        struct findings *findings)
{
	if (place->is_late) {
		findings_add(findings, FINDING_FAULT, "remote",
		             "remote '%s' did not answer: it may lie on a dead "
		             "mount\tmount it again, or name another remote",
		             place->path);
		return REMOTE_FOLDERS_MISSING;
	}
	/* Whoever uses the folder reports other errors. */
	if (place->facts.is_there || place->facts.error != 0)
		return REMOTE_FOLDERS_THERE;
	note_missing(use, place->path, is_last, findings);
	return is_last ? REMOTE_FOLDERS_MISSING : REMOTE_FOLDERS_NEW;
}

enum remote_folders remote_folders_look(struct remote_use *use,
                                        struct findings *findings)
{
	const size_t count = use->library.tier_count(use->remote);
	enum remote_folders found = REMOTE_FOLDERS_THERE;

	for (size_t i = 0; i < count; i++) {
		const char *const path =
			use->library.tier_folder(use->remote, i);
		struct place place = { .name = "remote" };
		enum remote_folders own;
		struct ask ask;

		if (path == NULL ||
		    snprintf(place.path, sizeof(place.path), "%s", path) >=
		            (int)sizeof(place.path))
			continue;
		place_begin(&place, &ask);
		asks_begin(&ask, 1);
		asks_end(&ask, 1,
		         deadline_left_ms(&use->deadline, DOCTOR_LIMIT_MS));
		place_end(&place, &ask);
		own = judge_folder(use, &place, i + 1 == count, findings);
		found = own > found ? own : found;
	}
	return found;
}
