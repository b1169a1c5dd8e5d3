/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/place.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/fd.h"
#include "cli/text.h"

enum {
	FREE_SIZE_LEAST = 64 * 1024 * 1024,
	FREE_FILES_LEAST = 1000
};

/*
 * From linux/magic.h, or, if missing there, from the file system's own source.
 */
static const struct {
	uint32_t type;
	const char *name;
	bool is_network;
} systems[] = {
	{ 0xef53, "ext", false },          { 0x58465342, "xfs", false },
	{ 0x9123683e, "btrfs", false },    { 0x01021994, "tmpfs", false },
	{ 0x794c7630, "overlay", false },  { 0x2fc12fc1, "zfs", false },
	{ 0x73717368, "squashfs", false }, { 0xf2f52010, "f2fs", false },
	{ 0xe0f5e1e2, "erofs", false },    { 0x858458f6, "ramfs", false },
	{ 0x6969, "nfs", true },           { 0x0bd00bd0, "lustre", true },
	{ 0xff534d42, "cifs", true },      { 0xfe534d42, "smb", true },
	{ 0x517b, "smb", true },           { 0x65735546, "fuse", true },
	{ 0x00c36400, "ceph", true },      { 0x47504653, "gpfs", true },
	{ 0x01021997, "9p", true },        { 0x19830326, "beegfs", true },
	{ 0x5346414f, "afs", true },       { 0x013111a8, "ibrix", true },
	{ 0xaad7aaea, "panfs", true },     { 0x7461636f, "ocfs2", true },
};

/*
 * The child
 */

/* Find the nearest existing folder above. */
static void go_up(char path[PLACE_PATH_SIZE])
{
	char *const slash = strrchr(path, '/');

	if (slash == NULL)
		(void)snprintf(path, PLACE_PATH_SIZE, ".");
	else
		slash[slash == path ? 1 : 0] = '\0';
}

static void look_at_system(const char *path, struct place_facts *out)
{
	struct statfs info;
	struct statvfs flags;

	if (statfs(path, &info) < 0 || statvfs(path, &flags) < 0) {
		out->error = errno;
		return;
	}
	out->type = (uint32_t)info.f_type;
	out->is_read_only = (flags.f_flag & ST_RDONLY) != 0;
	out->is_noexec = (flags.f_flag & ST_NOEXEC) != 0;
	out->is_noatime = (flags.f_flag & ST_NOATIME) != 0;
	out->free_size = (uint64_t)flags.f_bavail * flags.f_frsize;
	out->free_files = flags.f_favail;
	out->files = flags.f_files;
}

static bool inspect_folder(void *self, int fd)
{
	const struct place *const place = self;
	struct place_facts facts = { .is_there = false };
	char path[PLACE_PATH_SIZE];
	struct stat info;
	int rc;

	(void)snprintf(path, sizeof(path), "%s", place->path);
	rc = stat(path, &info);
	facts.is_there = rc == 0;
	facts.is_folder = rc == 0 && S_ISDIR(info.st_mode);
	if (rc < 0 && errno != ENOENT && errno != ENOTDIR)
		facts.error = errno;
	while (rc < 0 && (errno == ENOENT || errno == ENOTDIR) &&
	       strcmp(path, ".") != 0) {
		go_up(path);
		rc = stat(path, &info);
	}
	facts.is_below_file =
		rc == 0 && !facts.is_there && !S_ISDIR(info.st_mode);
	if (rc == 0) {
		facts.owner = info.st_uid;
		facts.mode = info.st_mode & 07777;
		facts.can_read = path_allows(path, R_OK | X_OK);
		facts.can_write = path_allows(path, W_OK | X_OK);
		look_at_system(path, &facts);
	}
	return fd_write(fd, (struct tkb_bytes){ &facts, sizeof(facts) });
}

void place_begin(struct place *place, struct ask *ask)
{
	*ask = (struct ask){ .function = inspect_folder,
		             .self = place,
		             .out = place->answer,
		             .size = sizeof(place->answer) };
}

void place_end(struct place *place, const struct ask *ask)
{
	place->is_late = ask->end == ASK_LATE;
	if (ask->end == ASK_DONE && ask->length == sizeof(place->facts))
		memcpy(&place->facts, place->answer, sizeof(place->facts));
	else
		place->facts.error = EIO;
}

bool place_is_usable(const struct place *place)
{
	return !place->is_late && place->facts.is_there &&
	       place->facts.is_folder && place->facts.can_read;
}

/*
 * Print
 */

static const char *system_name(const struct place *place, char out[16])
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		if (systems[i].type == place->facts.type)
			return systems[i].name;
	}
	(void)snprintf(out, 16, "0x%" PRIx64, place->facts.type);
	return out;
}

static bool is_network(const struct place *place)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		if (systems[i].type == place->facts.type)
			return systems[i].is_network;
	}
	return false;
}

static const char *user_name(uint32_t id, char out[PLACE_NAME_SIZE])
{
	const struct passwd *const user = getpwuid(id);

	if (user != NULL)
		(void)snprintf(out, PLACE_NAME_SIZE, "%s", user->pw_name);
	else
		(void)snprintf(out, PLACE_NAME_SIZE, "%" PRIu32, id);
	return out;
}

/* Note what this user may not do, and how to allow it. */
static void note_powerless(const struct place *place, struct findings *findings)
{
	const struct place_facts *const facts = &place->facts;
	char owner[PLACE_NAME_SIZE];
	char own[PLACE_NAME_SIZE];
	char advice[sizeof(place->path) + 3 * PLACE_NAME_SIZE];

	(void)user_name(facts->owner, owner);
	(void)user_name(geteuid(), own);
	if (facts->owner == geteuid() && facts->is_there)
		(void)snprintf(advice, sizeof(advice), "chmod -R u+rwX %s",
		               place->path);
	else if (facts->owner == geteuid())
		(void)snprintf(advice, sizeof(advice),
		               "let this user write the folder above, or "
		               "place the cache elsewhere");
	else if (facts->is_there)
		(void)snprintf(advice, sizeof(advice),
		               "chown -R %s %s, or start as %s", own,
		               place->path, owner);
	else
		(void)snprintf(advice, sizeof(advice),
		               "as %s: install -d -o %s %s; or place the cache "
		               "elsewhere",
		               owner, own, place->path);
	if (facts->is_there)
		findings_add(findings,
		             facts->can_read ? FINDING_FAULT : FINDING_COLD,
		             "owner",
		             "'%s' belongs to %s, mode %03" PRIo32
		             ", and user '%s' may not %s it\t%s",
		             place->path, owner, facts->mode, own,
		             facts->can_read ? "write" : "read", advice);
	else
		findings_add(
			findings, FINDING_FAULT, "owner",
			"'%s' does not exist, and user '%s' may not make "
			"it: the folder above belongs to %s, mode %03" PRIo32
			"\t%s",
			place->path, own, owner, facts->mode, advice);
}

static void note_rights(const struct place *place, struct findings *findings)
{
	const struct place_facts *const facts = &place->facts;
	char owner[PLACE_NAME_SIZE];

	if (facts->is_read_only)
		findings_add(findings, FINDING_FAULT, "read-only",
		             "'%s' is read-only, so what is missing there "
		             "cannot be kept, and Triton fails to compile "
		             "it\tstart by 'tkbundle run', which uses a place "
		             "that can be written and links what is here into "
		             "it, or mount it writable",
		             place->path);
	else if (!facts->can_read || !facts->can_write)
		note_powerless(place, findings);
	else if (geteuid() == 0 && facts->is_there && facts->owner != 0)
		findings_add(findings, FINDING_RISK, "owner",
		             "'%s' belongs to %s, and doctor runs as root\trun "
		             "doctor as the server's user, to check what that "
		             "user may do",
		             place->path, user_name(facts->owner, owner));
}

static void note_disk(const struct place *place, struct findings *findings)
{
	const struct place_facts *const facts = &place->facts;
	char size[TEXT_SIZE_SIZE];

	text_size(facts->free_size, size);
	if (!facts->is_read_only && facts->free_size < FREE_SIZE_LEAST)
		findings_add(findings, FINDING_FAULT, "disk",
		             "the disk of '%s' has only %s left\tremove "
		             "something, as by 'tkbundle gc %s --max-size "
		             "10G', or place the cache elsewhere",
		             place->path, size, place->path);
	if (!facts->is_read_only && facts->files != 0 &&
	    facts->free_files < FREE_FILES_LEAST)
		findings_add(findings, FINDING_FAULT, "disk",
		             "the disk of '%s' has only %" PRIu64
		             " inodes left\tremove something, as by 'tkbundle "
		             "gc %s --max-age 30d', or place the cache "
		             "elsewhere",
		             place->path, facts->free_files, place->path);
}

static void note_mount(const struct place *place, struct findings *findings)
{
	const struct place_facts *const facts = &place->facts;
	char type[16];

	if (is_network(place))
		findings_add(findings, FINDING_RISK, "file-system",
		             "'%s' lies on %s: compilers that share a network "
		             "file system tear entries and wait for each "
		             "other\tplace the cache on a disk of this "
		             "machine, and share it by a remote",
		             place->path, system_name(place, type));
	if (facts->is_noexec)
		findings_add(findings, FINDING_FAULT, "file-system",
		             "'%s' is mounted noexec, so the modules in it "
		             "cannot be loaded\tmount it exec, or name another "
		             "place: export TRITON_CACHE_DIR=PATH",
		             place->path);
	if (facts->is_noatime)
		findings_add(findings, FINDING_RISK, "access-times",
		             "'%s' is mounted noatime, so nobody knows which "
		             "entries are used\tmount it relatime, so that "
		             "'used' and 'tkbundle gc --max-age' work",
		             place->path);
}

static void note_faults(const struct place *place, struct findings *findings)
{
	if (place->is_late)
		findings_add(findings, FINDING_FAULT, "file-system",
		             "'%s' did not answer: it may lie on a dead "
		             "mount\tunmount it, or place the cache elsewhere",
		             place->path);
	else if (place->facts.error != 0)
		findings_add(findings, FINDING_FAULT, "owner",
		             "'%s' cannot be examined: %s\tlet this user "
		             "search the folders above it",
		             place->path, strerror(place->facts.error));
	else if (place->facts.is_there && !place->facts.is_folder)
		findings_add(findings, FINDING_FAULT, "path",
		             "'%s' is a file, and no folder\tremove it, or "
		             "place the cache elsewhere",
		             place->path);
	else if (place->facts.is_below_file)
		findings_add(findings, FINDING_FAULT, "path",
		             "'%s' cannot be made: a part of its path is a "
		             "file, and no folder\tremove that, or place the "
		             "cache elsewhere",
		             place->path);
	if (place->is_late || place->facts.error != 0 ||
	    place->facts.is_below_file)
		return;
	note_rights(place, findings);
	note_disk(place, findings);
	note_mount(place, findings);
}

static void add_place_json(const struct place *place, struct json_out *json)
{
	const struct place_facts *const facts = &place->facts;
	char text[PLACE_NAME_SIZE];
	char type[16];

	json_out_open_object(json, NULL);
	json_out_text(json, "name", place->name);
	json_out_flag(json, "kernels", place->is_kernels);
	json_out_text(json, "path", place->path);
	json_out_text(json, "origin", place->origin);
	json_out_flag(json, "is_late", place->is_late);
	json_out_flag(json, "is_there", facts->is_there);
	json_out_flag(json, "can_read", facts->can_read);
	json_out_flag(json, "can_write", facts->can_write);
	json_out_text(json, "owner", user_name(facts->owner, text));
	(void)snprintf(text, sizeof(text), "%03" PRIo32, facts->mode);
	json_out_text(json, "mode", text);
	json_out_text(json, "file_system", system_name(place, type));
	json_out_flag(json, "is_network", is_network(place));
	json_out_flag(json, "is_read_only", facts->is_read_only);
	json_out_flag(json, "is_noexec", facts->is_noexec);
	json_out_flag(json, "is_noatime", facts->is_noatime);
	json_out_number(json, "free", facts->free_size);
	json_out_number(json, "free_inodes", facts->free_files);
	json_out_close(json);
}

void place_print(const struct place *place, struct cli *cli,
                 struct findings *findings)
{
	const struct place_facts *const facts = &place->facts;
	char owner[PLACE_NAME_SIZE];
	char size[TEXT_SIZE_SIZE];
	char type[16];

	add_place_json(place, &cli->json);
	note_faults(place, findings);
	cli_print(cli, "  %s%s: %s (%s)%s", place->name,
	          place->is_kernels ? " (kernels)" : "", place->path,
	          place->origin, facts->is_there ? "" : ", not there yet");
	if (place->is_late || facts->error != 0)
		return;
	text_size(facts->free_size, size);
	cli_print(cli,
	          "    of %s, mode %03" PRIo32 "; %s%s%s%s, %s and %" PRIu64
	          " inodes free",
	          user_name(facts->owner, owner), facts->mode,
	          system_name(place, type),
	          facts->is_read_only ? ", read-only" : "",
	          facts->is_noexec ? ", noexec" : "",
	          facts->is_noatime ? ", noatime" : "", size,
	          facts->free_files);
}
