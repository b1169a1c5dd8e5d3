/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/versions.h"

#include <stdio.h>
#include <string.h>

/*
 * Print a line for Python, then one for each package, with tabs between the
 * parts. The output of modules that are imported goes to /dev/null.
 *
 * Most of Python's start is spent on code in .pth files, which `site` runs, and
 * on importing importlib.metadata. So start without `site`, call it without the
 * code of .pth files, and read a package's version from the file that
 * importlib.metadata reads. The current folder, which Python searches first for
 * -c, is none of packages: no engine looks there.
 */
static const char question[] =
	"import os, sys\n"
	"if sys.path[:1] == ['']: del sys.path[0]\n"
	"out = os.fdopen(os.dup(1), 'w', errors='replace')\n"
	"os.dup2(os.open(os.devnull, os.O_WRONLY), 1)\n"
	"def tell(*parts):\n"
	"    out.write('\\t'.join(' '.join(str(part).split()) for part in "
	"parts) + '\\n')\n"
	"def add_paths(folder, name, *_):\n"
	"    try: lines = open(os.path.join(folder, name), errors='replace')\n"
	"    except OSError: return\n"
	"    for line in lines:\n"
	"        path = os.path.join(folder, line.strip())\n"
	"        if not line.startswith(('#', 'import')) and "
	"os.path.isdir(path):\n"
	"            sys.path.append(path)\n"
	"if sys.flags.no_site:\n"
	"    import site\n"
	"    site.addpackage = add_paths\n"
	"    site.main()\n"
	"def plain(name):\n"
	"    return name.lower().replace('-', '_').replace('.', '_')\n"
	"places = {}\n"
	"for folder in sys.path:\n"
	"    try: names = os.listdir(folder or '.')\n"
	"    except OSError: names = ()\n"
	"    for name in names:\n"
	"        if name.endswith(('.dist-info', '.egg-info')):\n"
	"            package = plain(name.rsplit('.', 1)[0].split('-')[0])\n"
	"            places.setdefault(package, os.path.join(folder, name))\n"
	"def version_of(name):\n"
	"    path = places.get(plain(name), '')\n"
	"    for file in (path + '/METADATA', path + '/PKG-INFO', path):\n"
	"        try:\n"
	"            for line in open(file, errors='replace'):\n"
	"                if line.startswith('Version:'): return line[8:]\n"
	"        except OSError: pass\n"
	"    return ''\n"
	"tell('%d.%d.%d' % sys.version_info[:3], "
	"sys.implementation.cache_tag)\n"
	"for name in sys.argv[2:]:\n"
	"    version, imported, fault = version_of(name), '', ''\n"
	"    if version and sys.argv[1] == 'deep':\n"
	"        import importlib\n"
	"        try: imported = "
	"getattr(importlib.import_module(name.replace('-', '_')), "
	"'__version__', '?')\n"
	"        except BaseException as error:\n"
	"            fault = '%s: %s' % (type(error).__name__, error)\n"
	"    tell(name, version, imported, fault[:200])\n"
	"out.flush()\n"
	"os._exit(0)\n";

void versions_add(struct versions *versions, const char *package)
{
	if (package[0] == '\0' || versions->count == VERSIONS_LIMIT)
		return;
	for (size_t i = 0; i < versions->count; i++) {
		if (strcmp(versions->items[i].package, package) == 0)
			return;
	}
	versions->items[versions->count++].package = package;
}

bool versions_begin(struct versions *versions, const char *engine, bool is_deep,
                    struct ask *ask)
{
	size_t count = 0;

	if (engine == NULL || cli_variable("TKBUNDLE_PYTHON") != NULL ||
	    !python_is_gone(engine, versions->script, versions->gone))
		versions->script[0] = '\0';
	if (!python_find(NULL, engine != NULL ? engine : "python3",
	                 versions->python)) {
		versions->python[0] = '\0';
		return false;
	}
	versions->argv[count++] = versions->python;
	if (!is_deep)
		versions->argv[count++] = "-S";
	versions->argv[count++] = "-c";
	versions->argv[count++] = question;
	versions->argv[count++] = is_deep ? "deep" : "";
	for (size_t i = 0; i < versions->count; i++)
		versions->argv[count++] = versions->items[i].package;
	*ask = (struct ask){ .argv = versions->argv,
		             .out = versions->answer,
		             .size = sizeof(versions->answer) };
	return true;
}

static void copy_field(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%.*s", (int)size - 1,
	               text != NULL ? text : "");
}

static void read_package(struct versions *versions, const char *name,
                         char *rest)
{
	for (size_t i = 0; i < versions->count; i++) {
		struct version *const item = &versions->items[i];

		if (strcmp(item->package, name) != 0)
			continue;
		copy_field(item->text, sizeof(item->text), strsep(&rest, "\t"));
		copy_field(item->imported, sizeof(item->imported),
		           strsep(&rest, "\t"));
		copy_field(item->fault, sizeof(item->fault), rest);
		return;
	}
}

void versions_end(struct versions *versions, const struct ask *ask)
{
	char *rest = versions->answer;
	const char *name;
	char *line;

	versions->is_late = ask->end == ASK_LATE;
	versions->has_answered = ask->end == ASK_DONE;
	if (ask->end != ASK_DONE)
		return;
	line = strsep(&rest, "\n");
	copy_field(versions->text, sizeof(versions->text), strsep(&line, "\t"));
	copy_field(versions->tag, sizeof(versions->tag), line);
	while (rest != NULL) {
		line = strsep(&rest, "\n");
		name = strsep(&line, "\t");
		if (line != NULL)
			read_package(versions, name, line);
	}
}

const char *versions_find(const struct versions *versions, const char *package)
{
	for (size_t i = 0; i < versions->count; i++) {
		if (strcmp(versions->items[i].package, package) == 0)
			return versions->items[i].text;
	}
	return "";
}

/*
 * Print
 */

static void add_versions_json(const struct versions *versions,
                              struct json_out *json)
{
	json_out_open_object(json, "python");
	json_out_text(json, "path",
	              versions->python[0] != '\0' ? versions->python : NULL);
	json_out_text(json, "version",
	              versions->text[0] != '\0' ? versions->text : NULL);
	json_out_flag(json, "is_late", versions->is_late);
	json_out_open_array(json, "packages");
	for (size_t i = 0; i < versions->count; i++) {
		const struct version *const item = &versions->items[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "package", item->package);
		json_out_text(json, "version",
		              item->text[0] != '\0' ? item->text : NULL);
		json_out_text(json, "imported",
		              item->imported[0] != '\0' ? item->imported
		                                        : NULL);
		json_out_close(json);
	}
	json_out_close(json);
	json_out_close(json);
}

static void print_packages(const struct versions *versions, struct cli *cli)
{
	for (size_t i = 0; i < versions->count; i++) {
		const struct version *const item = &versions->items[i];

		if (versions->has_answered)
			cli_print(cli, "  %s %s%s%s", item->package,
			          item->text[0] != '\0' ? item->text
			                                : "is not installed",
			          item->imported[0] != '\0' ? ", imported as "
			                                    : "",
			          item->imported);
	}
}

/* The package that the server's Python has and this one lacks; NULL: none. */
static const char *find_missing(const struct versions *versions)
{
	if (versions_find(versions, "triton")[0] == '\0')
		return "Triton";
	return versions->engine != NULL && versions->engine[0] != '\0' &&
	                       versions_find(versions, versions->engine)[0] ==
	                               '\0'
	               ? versions->engine
	               : NULL;
}

static void note_faults(const struct versions *versions,
                        struct findings *findings)
{
	const char *const own = cli_variable("TKBUNDLE_PYTHON");
	const char *const missing = find_missing(versions);

	if (versions->script[0] != '\0')
		findings_add(findings, FINDING_FAULT, "python",
		             "'%s' is started by '%s', which does not exist, "
		             "as after a move of a virtual environment\tmake "
		             "the environment again at its new place, or, if "
		             "another script starts the server, name its "
		             "Python: export TKBUNDLE_PYTHON=PATH",
		             versions->script, versions->gone);
	if (versions->python[0] == '\0' && own != NULL)
		findings_add(findings, FINDING_RISK, "python",
		             "TKBUNDLE_PYTHON is '%s', which this user cannot "
		             "run, so versions are not known\tlet this user "
		             "run it, or name another one there",
		             own);
	else if (versions->python[0] == '\0')
		findings_add(findings, FINDING_RISK, "python",
		             "no Python is found, so versions are not "
		             "known\tname the server's in TKBUNDLE_PYTHON");
	else if (versions->is_late)
		findings_add(findings, FINDING_RISK, "python",
		             "%s did not answer, so versions are not "
		             "known\tname the server's in TKBUNDLE_PYTHON, or "
		             "find out what holds it up",
		             versions->python);
	else if (!versions->has_answered)
		findings_add(findings, FINDING_RISK, "python",
		             "%s cannot be asked, so versions are not "
		             "known\tname the server's in TKBUNDLE_PYTHON",
		             versions->python);
	else if (versions->script[0] == '\0' && missing != NULL)
		findings_add(findings, FINDING_RISK, "python",
		             "%s has no %s, so it is not the server's, and "
		             "what is compared with it may be wrong\tname the "
		             "Python "
		             "that the server is started by: export "
		             "TKBUNDLE_PYTHON=PATH",
		             versions->python, missing);
	for (size_t i = 0; i < versions->count; i++) {
		if (versions->items[i].fault[0] != '\0')
			findings_add(findings, FINDING_FAULT, "python",
			             "%s cannot be imported (%s)\trepair the "
			             "installation of %s",
			             versions->items[i].package,
			             versions->items[i].fault,
			             versions->python);
	}
}

void versions_print(const struct versions *versions, struct cli *cli,
                    struct findings *findings)
{
	add_versions_json(versions, &cli->json);
	note_faults(versions, findings);
	cli_print(cli, "  python %s%s%s",
	          versions->python[0] != '\0' ? versions->python
	                                      : "is not found",
	          versions->is_late ? " did not answer" : " ", versions->text);
	print_packages(versions, cli);
}
