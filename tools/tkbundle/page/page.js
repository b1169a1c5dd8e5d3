"use strict";
(() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const at = (id) => document.getElementById(id);
	const SHOWN = 200;
	const BOXES = 120;

	/* All text is shown through textContent: names may contain anything. */
	const make = (tag, text, kind) => {
		const made = document.createElement(tag);
		if (text !== undefined) made.textContent = text;
		if (kind) made.className = kind;
		return made;
	};
	const size = (bytes) => {
		const units = ["B", "kB", "MB", "GB", "TB"];
		let unit = 0;
		while (bytes >= 999.5 && unit < units.length - 1) {
			bytes /= 1000;
			unit++;
		}
		return (unit && bytes < 9.95 ? bytes.toFixed(1) : Math.round(bytes)) + " " + units[unit];
	};
	const when = (seconds) => seconds ? new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, 19) + "Z" : "";
	const plural = (count, one, many) => count + " " + (count === 1 ? one : many);

	const entries = data.entries.map((row) => ({
		key: row[0], kind: row[1], name: row[2], tree: row[3], target: row[4],
		platform: row[5], devices: row[6], used: row[7], time: row[8], part: row[9],
		files: row[10], size: row[10].reduce((sum, file) => sum + file[1], 0),
	}));
	const total = entries.reduce((sum, entry) => sum + entry.size, 0);
	for (const entry of entries)
		entry.text = [entry.key, entry.kind, entry.name, entry.tree, entry.target, entry.platform].join(" ").toLowerCase();

	document.title = data.name + " - tkbundle report";
	at("title").textContent = data.kind + " " + data.name;
	at("totals").textContent = plural(entries.length, "entry", "entries") + ", " +
		plural(entries.reduce((sum, entry) => sum + entry.files.length, 0), "file", "files") + ", " +
		size(total) + (data.packed ? ", packed " + size(data.packed) : "") + ", seen " + when(data.time);

	/* A table whose columns sort; a column is [title, value, text, is_number]. */
	const table = (into, columns, rows, options = {}) => {
		let order = options.order ?? -1;
		let down = true;
		let shown = SHOWN;
		const head = make("thead");
		const body = make("tbody");
		const line = head.appendChild(make("tr"));
		let current = rows;
		const draw = () => {
			body.replaceChildren(...current.slice(0, shown).map((row) => {
				const made = make("tr");
				for (const column of columns)
					made.append(make("td", (column[2] ?? column[1])(row), column[3] ? "n" : ""));
				return made;
			}));
			options.drawn?.(current.length, Math.min(shown, current.length));
		};
		const sort = () => {
			const value = columns[order]?.[1];
			if (value)
				current = [...current].sort((a, b) => {
					const x = value(a);
					const y = value(b);
					return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
				});
			[...line.children].forEach((cell, index) =>
				cell.setAttribute("aria-sort", index !== order ? "none" : down ? "descending" : "ascending"));
			draw();
		};
		columns.forEach((column, index) => {
			const cell = make("th", undefined, column[3] ? "n" : "");
			cell.scope = "col";
			const button = make("button", column[0]);
			button.type = "button";
			button.addEventListener("click", () => {
				down = order === index ? !down : Boolean(column[3]);
				order = index;
				sort();
			});
			cell.append(button);
			line.append(cell);
		});
		into.replaceChildren(head, body);
		sort();
		return {
			filter: (keep) => { current = rows.filter(keep); shown = SHOWN; sort(); },
			more: () => { shown += SHOWN; draw(); },
		};
	};
	const section = (id, columns, rows, none, order) => {
		if (rows.length === 0) {
			at(id).append(make("p", none, "soft"));
			return;
		}
		const note = make("p", undefined, "soft");
		const into = make("table");
		at(id).append(into, note);
		table(into, columns, rows, { order, drawn: (count, shown) => {
			note.textContent = count > shown ? "and " + (count - shown) + " more" : "";
		} });
	};
	const groups = (list, name) => {
		const found = new Map();
		for (const item of list) {
			const key = name(item);
			if (!found.has(key)) found.set(key, { name: key, count: 0, size: 0, items: [] });
			const group = found.get(key);
			group.count++;
			group.size += item.size;
			group.items.push(item);
		}
		return [...found.values()].sort((a, b) => b.size - a.size);
	};

	/*
	 * The treemap: a rectangle is cut into two halves, again and again; the
	 * larger half comes first.
	 */
	const place = (items, x, y, width, height, put) => {
		const sum = items.reduce((all, item) => all + item.size, 0);
		if (items.length === 0 || sum === 0) return;
		if (items.length === 1) {
			put(items[0], x, y, width, height);
			return;
		}
		let half = items[0].size;
		let cut = 1;
		while (cut < items.length - 1 && half + items[cut].size / 2 < sum / 2) half += items[cut++].size;
		const share = half / sum;
		if (width * 3 > height) {
			place(items.slice(0, cut), x, y, width * share, height, put);
			place(items.slice(cut), x + width * share, y, width * (1 - share), height, put);
		} else {
			place(items.slice(0, cut), x, y, width, height * share, put);
			place(items.slice(cut), x, y + height * share, width, height * (1 - share), put);
		}
	};
	const parts = {
		name: () => groups(entries, (entry) => entry.tree ? entry.tree : entry.name),
		tree: () => groups(entries, (entry) => entry.tree || entry.kind + "s"),
	};
	parts.stage = () => {
		const found = new Map();
		for (const entry of entries) {
			for (const file of entry.files) {
				const name = data.types[file[0]] || "no type";
				if (!found.has(name)) found.set(name, { name, count: 0, size: 0 });
				found.get(name).count++;
				found.get(name).size += file[1];
			}
		}
		return [...found.values()].sort((a, b) => b.size - a.size);
	};
	let list;
	const show = (by) => {
		let items = parts[by]();
		if (items.length > BOXES) {
			const rest = items.slice(BOXES - 1);
			items = items.slice(0, BOXES - 1).concat({
				name: rest.length + " others", isRest: true,
				count: rest.reduce((sum, item) => sum + item.count, 0),
				size: rest.reduce((sum, item) => sum + item.size, 0),
			});
		}
		for (const button of at("divide").children)
			button.setAttribute("aria-pressed", String(button.dataset.by === by));
		const boxes = [];
		place(items, 0, 0, 100, 100, (item, x, y, width, height) => {
			const box = make("button", item.name + " " + size(item.size));
			box.type = "button";
			box.title = box.textContent;
			box.setAttribute("aria-pressed", "false");
			box.style.left = x + "%";
			box.style.top = y + "%";
			box.style.width = width + "%";
			box.style.height = height + "%";
			box.addEventListener("click", () => {
				for (const other of boxes) other.setAttribute("aria-pressed", "false");
				box.setAttribute("aria-pressed", "true");
				at("picked").textContent = item.name + ": " + plural(item.count, by === "stage" ? "file" : "entry",
					by === "stage" ? "files" : "entries") + ", " + size(item.size) + ", " +
					(100 * item.size / total).toFixed(1) + "% of all";
				if (by === "name" && !item.isRest) {
					at("search").value = item.name;
					search();
				}
			});
			boxes.push(box);
		});
		at("map").replaceChildren(...boxes);
		at("picked").textContent = "";
	};
	for (const button of at("divide").children)
		button.addEventListener("click", () => show(button.dataset.by));

	const search = () => {
		const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
		list.filter((entry) => words.every((word) => entry.text.includes(word)));
	};
	list = table(at("entries"), [
		["key", (entry) => entry.key, (entry) => entry.key.slice(0, 12)],
		["kind", (entry) => entry.kind],
		["name", (entry) => entry.name],
		["target", (entry) => entry.tree || entry.target],
		["GPUs", (entry) => entry.devices],
		["files", (entry) => entry.files.length, undefined, true],
		["size", (entry) => entry.size, (entry) => size(entry.size), true],
		["compiled in", (entry) => entry.time, (entry) => entry.time ? (entry.time / 1000).toFixed(1) + " s" : "", true],
	], entries, { order: 6, drawn: (count, shown) => {
		at("found").textContent = shown + " of " + plural(count, "entry", "entries");
		at("more").hidden = count <= shown;
	} });
	at("search").addEventListener("input", search);
	at("more").addEventListener("click", () => list.more());
	show("name");

	section("parts", [
		["number", (part) => part.index, undefined, true],
		["what", (part) => part.name],
		["packed", (part) => part.packed, (part) => size(part.packed), true],
		["size", (part) => part.size, (part) => part.size ? size(part.size) : "", true],
		["entries", (part) => part.entries, undefined, true],
	], data.parts.map((part, index) => ({ index, name: part[0], packed: part[1], size: part[2], entries: part[3] })),
	"A cache has no frames.", 2);
	section("fits", [
		["target or platform", (group) => group.name],
		["entries", (group) => group.count, undefined, true],
		["size", (group) => group.size, (group) => size(group.size), true],
	], groups(entries, (entry) => entry.platform || entry.target || "any machine"), "Nothing.", 2);

	const twins = new Map();
	for (const entry of entries) {
		for (const file of entry.files) {
			if (!file[2]) continue;
			if (!twins.has(file[2])) twins.set(file[2], { name: entry.name, type: data.types[file[0]], size: file[1], count: 0 });
			twins.get(file[2]).count++;
		}
	}
	section("twins", [
		["first in", (twin) => twin.name],
		["type", (twin) => twin.type],
		["files", (twin) => twin.count, undefined, true],
		["spent", (twin) => twin.size * (twin.count - 1), (twin) => size(twin.size * (twin.count - 1)), true],
	], [...twins.values()].filter((twin) => twin.count > 1), "No file is there twice.", 3);
	section("use", [
		["first used", (entry) => entry.used, (entry) => when(entry.used)],
		["name", (entry) => entry.name],
		["key", (entry) => entry.key, (entry) => entry.key.slice(0, 12)],
	], entries.filter((entry) => entry.used), data.kind === "cache" ? "Nobody has used an entry, or the file system does not tell."
		: "Only a cache knows that.", 0);

	const starts = data.starts.map((row) => ({
		time: row[0], node: row[1], emitted: row[2], used: row[3], compiled: row[4],
		saved: row[5], delay: row[6], failures: row[7], reasons: row[8],
	})).sort((a, b) => a.time - b.time);
	const cold = (start) => start.compiled > 0 || start.failures.length > 0;
	if (starts.length > 0) {
		const bars = make("div", undefined, "bars");
		const most = Math.max(1, ...starts.map((start) => start.compiled));
		bars.setAttribute("role", "img");
		bars.setAttribute("aria-label", plural(starts.filter(cold).length, "cold start", "cold starts") +
			" of " + starts.length + "; the height is what was compiled anew");
		for (const start of starts.slice(-500)) {
			const bar = bars.appendChild(make("div", undefined, cold(start) ? "cold" : ""));
			bar.style.height = 2 + 98 * start.compiled / most + "%";
			bar.title = when(start.time) + ": compiled anew " + start.compiled;
		}
		at("starts").append(bars);
	}
	section("starts", [
		["time", (start) => start.time, (start) => when(start.time)],
		["node", (start) => start.node],
		["emitted", (start) => start.emitted, undefined, true],
		["used", (start) => start.used, undefined, true],
		["compiled anew", (start) => start.compiled, undefined, true],
		["saved", (start) => start.saved, (start) => (start.saved / 1000).toFixed(1) + " s", true],
		["delay", (start) => start.delay, (start) => (start.delay / 1000).toFixed(1) + " s", true],
		["failed", (start) => start.failures.join("; ")],
	], starts, "No start has left a report.", 0);
	const reasons = new Map();
	for (const start of starts) {
		for (const [word, count] of Object.entries(start.reasons)) {
			if (!reasons.has(word)) reasons.set(word, { word, count: 0, starts: 0 });
			reasons.get(word).count += count;
			reasons.get(word).starts++;
		}
	}
	section("why", [
		["reason", (reason) => data.reasons[reason.word] ?? reason.word],
		["compiled anew", (reason) => reason.count, undefined, true],
		["starts", (reason) => reason.starts, undefined, true],
	], [...reasons.values()], "No start compiled anything anew.", 1);
	document.documentElement.dataset.ready = String(entries.length);
})();
