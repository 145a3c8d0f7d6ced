// The numbers of a page against those of dse: rows.mjs DSE DB PAGE.html COMMANDS. Every row's parts add up to its latency, the SQL that the page shows gives what
// the page shows, and so many of its commands, spread over the front, give the rows' numbers to the last digit. The last line is "ok", or what was wrong.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [, , dse, db, page, commands] = process.argv;
const data = JSON.parse(readFileSync(page, "utf8").match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]);
const columns = data.columns, front = data.front.rows;
const check = (what, ok) => { if (!ok) throw new Error(what); };
const same = (what, a, b) => check(what + ": " + JSON.stringify(a) + " is not " + JSON.stringify(b), JSON.stringify(a) === JSON.stringify(b));
const near = (what, a, b) => check(what + ": " + a + " is not " + b, a === b || Math.abs(a - b) <= 2e-5 * Math.max(Math.abs(a), Math.abs(b)) || Math.abs(a - b) < 1e-9);
const run = (args) => JSON.parse(execFileSync(dse, args, { encoding: "utf8", maxBuffer: 1 << 28 }));
const query = (sql) => run(["query", db, "-r", String(data.id), sql, "--format", "json"]);
const at = (name) => columns.findIndex((c) => c.name === name);
const values = (row) => columns.map((c) => row[c.name]);
// Words of a command; those of these sweeps need no quotes.
const words = (command) => { check("a quote in " + command, !/["'\\$`]/.test(command)); return command.split(" ").slice(1); };

function parts() {
  const latency = at("latency_us");
  let known = 0;
  front.forEach((row, i) => {
    const point = data.points[i];
    check("point " + i + " has no command", point && point.command.startsWith("dse eval " + data.keys[i][0]));
    if (!point.parts) { check("no reason why parts are missing", ["mean", "event-level"].includes(point.why)); return; }
    known++;
    const sum = point.parts.filter((p) => p[1] === 0).reduce((s, p) => s + p[2], 0);
    check(data.keys[i] + ": parts of " + sum + " us, a latency of " + row[latency], Math.abs(sum - row[latency]) <= 1e-5 * row[latency]);
  });
  return known;
}

// "a and b cannot be compared in LABEL: WHY.": the first that a comparison needs and the designs of the query do not have.
function obstacle(sentence, rows, limits) {
  const found = sentence.match(/^(.+) and (.+) cannot be compared in (.*): (no scenario has .*)\.$/), known = limits.length + 1, any = known + 1;
  const told = sentence.match(/at most ([\d.]*\d)/), most = told ? Number(told[1]) : limits[limits.length - 1], level = limits.indexOf(most) + 1;
  check(sentence, found !== null);
  const meet = (level) => rows.some((a) => a.contender === found[1] && a.limit <= level &&
    rows.some((b) => b.contender === found[2] && b.question === a.question && b.limit <= level));
  same(sentence, found[4], !meet(any) ? "no scenario has feasible designs of both"
    : !meet(known) ? "no scenario has designs of both whose attention_error is known"
    : !meet(level) ? "no scenario has designs of both whose attention_error is at most " + most
    : "no scenario has a value above 0 for designs of both whose attention_error is at most " + most);
}

// "At an attention error of at most 0.1, a beats b by 2x in LABEL (1x to 3x over 4 scenarios)" against the best designs that the query gives.
function told(sentence, rows, limits) {
  const found = sentence.match(/^(?:With exact attention|At an attention error of at most ([\d.]+)), (.+) (?:beats|and) (.+?) (?:by ([\d.e+-]+)x|are equal(?: on the mean)?) in (.*?)(?: \(|\.(?: |$))/);
  if (!found) { obstacle(sentence, rows, limits); return found; }
  const limit = [0, ...limits].indexOf(Number(found[1] || 0));
  const objective = data.objectives.find((o) => columns.find((c) => c.name === o.name).label === found[5]);
  const key = (objective.maximise ? "max(" : "min(") + '"' + objective.name + '")', best = (name, question) =>
    rows.filter((r) => r.contender === name && r.question === question && r.limit <= limit && r[key] !== null).map((r) => objective.maximise ? r[key] : 1 / r[key]).sort((a, b) => b - a)[0];
  const logs = [...new Set(rows.map((r) => r.question))].map((q) => Math.log(best(found[2], q) / best(found[3], q))).filter(Number.isFinite);
  const mean = Math.exp(logs.reduce((s, v) => s + v, 0) / logs.length), said = Number(found[4] || 1);
  check(sentence + ": " + mean, Math.abs(mean - said) < 0.006 * mean);
}

function shownSql() {
  const rows = query(data.front.sql);
  same("rows of the front", rows.length, front.length);
  rows.forEach((row, i) => {
    same("key " + i, [row.model, row.point], data.keys[i]);
    same("row " + i, values(row), front[i]);
  });
  const sample = query(data.sample.sql);
  same("rows of the sample", sample.length, data.sample.rows.length);
  sample.forEach((row, i) => values(row).forEach((v, k) => typeof v === "number" ? near("sample", v, data.sample.rows[i][k]) : same("sample", v, data.sample.rows[i][k])));
  same("reasons", query(data.reasons.sql).map((r) => [r.reason, r.points]), data.reasons.rows);
  data.equal.forEach((c) => {
    const rows = query(c.sql), names = new Set(rows.map((r) => r.contender)), n = names.size, unknown = rows.filter((r) => r.limit > c.limits.length);
    const objectives = data.objectives.filter((o) => o.name !== "attention_error").length;
    const about = (s) => { const f = s.match(/(?:^|, )([^,]+) (?:beats|and) (.+?) (?:by [\d.e+-]+x|are equal(?: on the mean)?|cannot be compared) in (.*?)(?: \(|\.(?: |$)|: )/); return [f[1], f[2]].sort() + f[3]; };
    same("sentences about pairs", new Set(c.sentences.map(about)).size, n * (n - 1) / 2 * objectives);
    same("designs of unknown quality", unknown.reduce((s, r) => s + r["count(*)"], 0), c.unknown);
    if (c.of === "model") same("designs", rows.reduce((s, r) => s + r["count(*)"], 0), data.effects[0].points);
    c.sentences.forEach((s) => told(s, rows, c.limits));
  });
  data.effects.slice(0, 2).forEach((scope) => scope.parameters.forEach((p) => {
    const found = query(p.sql).map((r) => Object.values(r));
    same(scope.scope + ", " + p.name + ": values", found.length, p.rows.length);
    found.forEach((r, i) => r.forEach((v, k) => typeof v === "number" ? near(p.name, v, p.rows[i][k]) : same(p.name, v, p.rows[i][k])));
    same(p.name + ": points", p.rows.reduce((s, r) => s + r[1], 0), scope.points);
  }));
}

// The front as the terminal has it: the same models, designs and objectives.
function terminal() {
  const own = columns.filter((c) => c.models), design = at("design");
  if (!own.length) return;
  check("models side by side have no design", own.length < 2 || design >= 0);
  front.forEach((row, i) => own.forEach((c) => {
    const mine = c.models.includes(data.keys[i][0]), v = row[columns.indexOf(c)];
    check(c.name + " of " + data.keys[i][0] + " is " + v, mine ? v !== null : v === null);
    if (mine && design >= 0 && typeof v !== "number") check(row[design] + " lacks " + c.name, (" " + row[design] + " ").includes(" " + c.name + "=" + v + " "));
  }));
}

function carriedOut() {
  const n = Math.min(Number(commands), front.length);
  for (let i = 0; i < n; i++) {
    const k = Math.floor(i * front.length / n), command = data.points[k].command, row = run([...words(command), "--format", "json"])[0];
    check(command + " is " + row.status, row.status === "ok");
    columns.forEach((c, j) => { if (c.name in row && front[k][j] !== null) same(command + ": " + c.name, row[c.name], front[k][j]); });
    same(command + ": model", row.latency_us !== undefined, true);
  }
  return n;
}

try {
  check("the page has no row", front.length > 0 && data.points.length === front.length && data.keys.length === front.length);
  const known = parts(), n = (shownSql(), terminal(), carriedOut());
  console.log(known + " of " + front.length + " rows with parts, " + n + " commands\nok");
} catch (e) {
  console.log(e.message);
  process.exit(1);
}
