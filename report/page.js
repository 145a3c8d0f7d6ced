"use strict";
// The page at work. Whatever stands in the data is text: it reaches the document as text of nodes, never as markup, and names are keys of maps, never of objects.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const columns = data.columns; // cell of columns[i]: row[i]
  columns.forEach((c, i) => { c.at = i; });
  const named = new Map(columns.map((c) => [c.name, c]));
  const run = new Map(data.run);
  const front = data.front.rows, sample = data.sample.rows, points = data.points;
  const modelColumn = columns.find((c) => c.kind === "model") || null;
  const models = [...new Set(data.keys.map((k) => k[0]))].sort();
  const small = window.matchMedia("(max-width: 600px)").matches;
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", dark ? "#DDDDDD" : "#000000", "#B8A800"];
  const ramp = ["#440154", "#414487", "#2A788E", "#22A884", "#7AD151"];
  const ink = dark ? "#e8e8e8" : "#1a1a1a", faint = dark ? "#b0b4bb" : "#595959", line = dark ? "#3a3f49" : "#d6d9de", paper = dark ? "#1f2229" : "#f6f7f9";
  const charts = [];
  const ranges = new Map(); // column -> [low, high] that is kept; of a text column a set of texts
  let chosen = 0, sorted = { column: null, down: false };

  // ---- words ----
  const count = (n) => Number(n).toLocaleString("en-US");
  function number(v) {
    if (v === null || v === undefined) return "";
    if (typeof v !== "number") return String(v);
    if (v === 0) return "0";
    const a = Math.abs(v);
    return a >= 1e6 || a < 1e-4 ? v.toExponential(3) : String(Number(v.toPrecision(5)));
  }
  const percent = (s) => s === null ? "" : (100 * s).toFixed(1) + " %";
  const element = (name, text) => { const e = document.createElement(name); if (text !== undefined) e.textContent = text; return e; };
  const labelOf = (name) => named.has(name) ? named.get(name).label : name;
  const inText = (name) => { const s = labelOf(name); return s.charAt(0).toLowerCase() + s.slice(1); };
  const order = (a, b) => (a > b) - (a < b);
  const cells = (kind, texts) => texts.map((t) => element(kind, t));
  function tableRow(kind, texts) { const tr = element("tr"); tr.append(...cells(kind, texts)); return tr; }
  // Lines of a tooltip, as nodes.
  function lines(texts) { const box = element("div"); box.append(...texts.map((t) => element("div", t))); return box; }

  // ---- header ----
  const text = run.get("sweep_text") || "", sweep = String(run.get("sweep"));
  const question = (text.match(/^#\s*(.+)$/m) || [null, sweep])[1];
  document.title = sweep + " · dse report";
  $("sweep-name").textContent = sweep;
  $("question").textContent = question;
  const goal = data.objectives.map((o) => (o.maximise ? "more " : "less ") + inText(o.name)).join(", ");
  $("summary").textContent = count(run.get("done")) + " points of " + String(run.get("models")).replace(/ \d+/g, "") + ", " + count(run.get("feasible")) +
    " of them feasible; the front has " + count(front.length) + (data.per.length ? ", one for each " + data.per.map(inText).join(", ") : "") + ". Better is " + goal + ".";
  // What to know before deciding by the front; of an unreadable list nothing.
  function notices() {
    try {
      return JSON.parse(data.notices).map((n) => [String(n.kind), String(n.text)]);
    } catch (e) {
      return [];
    }
  }
  const ofAxes = (n) => n[0] === "axis-end"; // these stand with the axes
  $("notices").replaceChildren(...notices().filter((n) => !ofAxes(n)).map((n) => element("li", n[1])));
  $("axis-notices").replaceChildren(...notices().filter(ofAxes).map((n) => element("li", n[1])));

  // ---- SQL and commands ----
  function copyable(panel, statement) {
    const box = $(panel).querySelector("details.sql");
    box.querySelectorAll("pre, button").forEach((e) => e.remove());
    box.hidden = !statement;
    if (!statement) return;
    const pre = element("pre"), button = element("button", "Copy");
    statement.split(" --").forEach((s, i) => { const word = element("span", (i ? "--" : "") + s); word.className = "word"; pre.append(i ? " " : "", word); });
    button.type = "button";
    button.addEventListener("click", () => {
      const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
      if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(statement).then(done, () => {});
      else {
        const area = element("textarea", statement);
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        done();
      }
    });
    box.append(pre, button);
  }
  const sql = (...statements) => "-- dse query DB -r " + data.id + " SQL\n" + statements.map((s) => s + ";").join("\n\n");
  copyable("panel-scatter", sql(data.front.sql, data.sample.sql));
  copyable("panel-table", sql(data.front.sql));
  copyable("panel-reasons", sql(data.reasons.sql));

  // ---- charts ----
  function chart(id) {
    const c = echarts.init($(id), null, { renderer: "canvas" });
    charts.push(c);
    return c;
  }
  const base = { animation: false, textStyle: { color: ink, fontFamily: "inherit" }, aria: { enabled: true } };
  // Everything anew but the tooltip, which may be about to move.
  const draw = (c, option) => c.setOption(Object.assign({}, base, option), { replaceMerge: ["series", "xAxis", "yAxis", "visualMap"] });
  const axisStyle = { nameTextStyle: { color: ink }, axisLabel: { color: faint, hideOverlap: true }, axisLine: { lineStyle: { color: faint } }, splitLine: { lineStyle: { color: line } } };
  window.addEventListener("resize", () => charts.forEach((c) => c.resize()));
  window.addEventListener("beforeprint", () => charts.forEach((c) => c.resize()));

  // A choice among columns: the value of an option is the column's number, what is chosen a name.
  function options(select, list, chosenName) {
    select.replaceChildren(...list.map((c) => { const o = element("option", c.label); o.value = String(c.at); o.dataset.column = c.name; return o; }));
    const c = list.find((x) => x.name === chosenName);
    if (c) select.value = String(c.at);
  }
  const choice = (id) => columns[Number($(id).value)];

  // ---- which rows are kept ----
  function kept(row) {
    for (const [c, r] of ranges) {
      const v = row[c.at];
      if (r instanceof Set ? !r.has(v) : v === null || v < r[0] || v > r[1]) return false;
    }
    return true;
  }
  const keptRows = () => front.map((row, i) => i).filter((i) => kept(front[i]));
  // The one model whose rows are kept, or null.
  function oneModel() {
    const r = modelColumn && ranges.get(modelColumn);
    return r && r.size === 1 ? [...r][0] : null;
  }
  // Columns that say something of the rows kept: of one model its own parameters instead of their summary.
  const isOwn = (c) => c.models !== null;
  const quality = columns.find((c) => c.kind === "note" && c.name === "quality") || null;
  const isUnknown = (row) => quality !== null && row[quality.at] === "unknown";
  const isLossy = (row) => quality !== null && row[quality.at] !== null && !["exact", "rounded"].includes(row[quality.at]);
  const notesOf = (row) => columns.filter((c) => c.kind === "note" && row[c.at] !== null);
  const saysSomething = (c) => oneModel() === null ? !isOwn(c) : c.kind !== "design" && (!isOwn(c) || c.models.includes(oneModel()));

  // ---- scatter ----
  const scatter = chart("scatter");
  const numeric = columns.filter((c) => !c.text);
  const first = data.objectives[0].name, second = (data.objectives[1] || data.objectives[0]).name;
  options($("axis-x"), numeric, second);
  options($("axis-y"), numeric, first);
  options($("axis-colour"), columns.filter((c) => c.kind !== "design"), modelColumn ? modelColumn.name : (named.get(data.per[0]) || columns.find((c) => c.kind === "axis") || columns[0]).name);

  const valuesOf = new Map();
  function values(c) {
    if (!valuesOf.has(c)) valuesOf.set(c, [...new Set(front.concat(sample).map((r) => r[c.at]))].filter((v) => v !== null).sort(order));
    return valuesOf.get(c);
  }
  // A colour for each of a few values; NULL and many values have the ramp or none.
  const fewValues = (c) => c.text || values(c).length <= palette.length;
  const colourOf = (c, v) => v === null ? faint : palette[values(c).indexOf(v) % palette.length];

  function scatterSeries(x, y, by, usable) {
    const byText = fewValues(by), rows = keptRows().map((i) => front[i]).filter(usable), series = [];
    const at = (row) => [row[x.at], row[y.at], byText ? 0 : row[by.at]];
    if ($("show-sample").checked)
      series.push({ name: "other points", type: "scatter", large: true, largeThreshold: 1000, symbolSize: 3, itemStyle: { color: faint, opacity: 0.35 },
        data: sample.filter(usable).filter(kept).map((row) => [row[x.at], row[y.at]]), silent: true });
    (byText ? [...values(by), null] : [null]).forEach((g) => {
      const mine = rows.filter((row) => !byText || row[by.at] === g);
      if (mine.length)
        series.push({ name: byText ? (g === null ? "none" : number(g)) : "front", type: "scatter", symbolSize: small ? 8 : 9,
          itemStyle: byText ? { color: colourOf(by, g), borderColor: paper, borderWidth: 1 } : {}, data: mine.map((row) => Object.assign({ value: at(row), row: row }, isLossy(row) ? { symbol: "emptyCircle", itemStyle: byText ? { borderColor: colourOf(by, g), borderWidth: 2 } : { borderWidth: 2 } } : {})) });
    });
    const selected = front[chosen];
    if (selected && usable(selected) && kept(selected))
      series.push({ name: "chosen", type: "scatter", symbolSize: 16, silent: true, itemStyle: { color: "transparent", borderColor: ink, borderWidth: 2 }, data: [[selected[x.at], selected[y.at]]] });
    return series;
  }
  function drawScatter() {
    const x = choice("axis-x"), y = choice("axis-y"), by = choice("axis-colour"), logX = $("log-x").checked, logY = $("log-y").checked;
    const usable = (row) => row[x.at] !== null && row[y.at] !== null && (!logX || row[x.at] > 0) && (!logY || row[y.at] > 0);
    const byText = fewValues(by), found = values(by), series = scatterSeries(x, y, by, usable);
    const axis = (c, log) => Object.assign({ type: log ? "log" : "value", name: c.label, nameLocation: "middle", scale: true }, axisStyle);
    draw(scatter, {
      grid: { left: small ? 58 : 80, right: byText ? 20 : 90, top: 40, bottom: 55 },
      legend: { top: 0, type: "scroll", textStyle: { color: ink }, pageTextStyle: { color: ink }, data: series.map((s) => s.name).filter((n) => n !== "chosen") },
      xAxis: Object.assign(axis(x, logX), { nameGap: 30 }),
      yAxis: Object.assign(axis(y, logY), { nameGap: small ? 42 : 60 }),
      visualMap: byText ? { show: false, dimension: 2, min: 0, max: 0, seriesIndex: [] }
        : { type: "continuous", dimension: 2, min: found[0], max: found[found.length - 1], seriesIndex: [$("show-sample").checked ? 1 : 0],
          inRange: { color: ramp }, right: 0, top: "middle", text: [by.label, ""], textStyle: { color: ink } },
      tooltip: { trigger: "item", confine: true, formatter: (p) => p.data.row ? tooltip(p.data.row) : "" },
      series: series,
    });
    $("scatter-note").textContent = "Of the other feasible points " + count(sample.length) + " of " + count(run.get("feasible")) + " are shown. Click a point to choose it." +
      (front.some(isLossy) ? " Hollow: the point loses information" + (front.some(isUnknown) ? ", or nobody measured how much" : "") + "." : "") +
      (data.budget ? " The budget of the front: " + data.budget + "." : "");
  }
  function tooltip(row) {
    return lines(columns.filter((c) => c.kind !== "metric" && row[c.at] !== null && !isOwn(c)).map((c) => c.label + ": " + number(row[c.at])));
  }
  scatter.on("click", (p) => { if (p.data.row) choose(front.indexOf(p.data.row)); });
  // A column whose values spread over more than two decades is told apart on a logarithmic axis.
  function chooseScale(axis) {
    const v = values(choice("axis-" + axis)), low = v[0], high = v[v.length - 1];
    $("log-" + axis).checked = low > 0 && high > 100 * low;
  }
  ["x", "y"].forEach((axis) => { chooseScale(axis); $("axis-" + axis).addEventListener("change", () => chooseScale(axis)); });
  ["axis-x", "axis-y", "axis-colour", "log-x", "log-y", "show-sample"].forEach((id) => $(id).addEventListener("change", drawScatter));

  // ---- parallel coordinates ----
  const parallel = chart("parallel");
  const shownColumns = new Set(columns.filter((c) => ["model", "objective", "axis"].includes(c.kind)));
  columns.filter((c) => c.kind !== "design").forEach((c) => {
    const l = element("label"), box = element("input");
    box.type = "checkbox";
    box.checked = shownColumns.has(c);
    box.addEventListener("change", () => {
      if (box.checked) shownColumns.add(c); else { shownColumns.delete(c); ranges.delete(c); }
      drawParallel();
      drawRanges();
      refresh();
    });
    l.append(box, " " + c.label + (isOwn(c) ? " (" + c.models.join(", ") + ")" : ""));
    $("columns").append(l);
  });
  const axesShown = () => columns.filter((c) => shownColumns.has(c) && saysSomething(c) && !(c === modelColumn && oneModel() !== null));

  // A name is broken into two lines where it is long, and stands above its axis on a ground of its own.
  function brokenName(s) {
    const words = s.split(" "), half = Math.ceil(s.length / 2);
    if (s.length <= 12 || words.length < 2) return s;
    let head = words.shift();
    while (words.length > 1 && head.length + 1 + words[0].length <= half) head += " " + words.shift();
    return head + "\n" + words.join(" ");
  }
  function drawParallel() {
    const list = axesShown(), by = choice("axis-colour"), rows = oneModel() === null ? front : front.filter((r) => r[modelColumn.at] === oneModel());
    const narrow = Math.max(320, list.length * (small ? 84 : 72) + 120);
    $("parallel").style.minWidth = narrow + "px";
    parallel.resize();
    parallel.setOption(Object.assign({}, base, {
      parallel: { left: 60, right: 60, top: 56, bottom: 20, parallelAxisDefault: { nameGap: 12, nameLocation: "end", z: 20,
        nameTextStyle: { color: ink, fontSize: 11, lineHeight: 13, backgroundColor: paper, padding: [1, 3], verticalAlign: "bottom" },
        axisLabel: { color: ink, fontSize: 10, backgroundColor: paper, padding: [0, 2], hideOverlap: true }, axisLine: { lineStyle: { color: faint } },
        areaSelectStyle: { width: 20, opacity: 0.35, color: palette[0] } } },
      parallelAxis: list.map((c, i) => c.text ? { dim: i, name: brokenName(c.label), type: "category", data: values(c) } : { dim: i, name: brokenName(c.label), type: "value", scale: true }),
      series: [{ type: "parallel", inactiveOpacity: 0.04, activeOpacity: 1, lineStyle: { width: 1, opacity: front.length > 400 ? 0.3 : 0.6 },
        data: rows.map((row) => ({ value: list.map((c) => row[c.at] === null ? "-" : row[c.at]), lineStyle: { color: fewValues(by) ? colourOf(by, row[by.at]) : palette[0] } })) }],
    }), true);
    restoreBrushes();
  }
  // Ranges that were written, or brushed before the axes changed, are drawn on the axes.
  function restoreBrushes() {
    axesShown().forEach((c, i) => {
      const r = ranges.get(c);
      const interval = !r ? [] : r instanceof Set ? [...r].map((v) => { const k = values(c).indexOf(v); return [k, k]; }) : [[Math.max(r[0], -1e300), Math.min(r[1], 1e300)]];
      parallel.dispatchAction({ type: "axisAreaSelect", parallelAxisIndex: i, intervals: interval, fromScript: true });
    });
  }
  parallel.on("axisareaselected", (event) => {
    if (event.fromScript || (event.batch && event.batch.every((b) => b.fromScript))) return;
    const option = parallel.getOption(), before = oneModel();
    axesShown().forEach((c, i) => {
      const areas = (option.parallelAxis[i].areas || option.parallelAxis[i].activeIntervals);
      const component = parallel.getModel().getComponent("parallelAxis", i);
      const intervals = (component && component.activeIntervals) || areas || [];
      if (!intervals.length) { ranges.delete(c); return; }
      if (c.text)
        ranges.set(c, new Set(values(c).filter((v, k) => intervals.some((a) => k >= Math.min(a[0], a[1]) - 0.5 && k <= Math.max(a[0], a[1]) + 0.5))));
      else
        ranges.set(c, [Math.min(...intervals.map((a) => Math.min(a[0], a[1]))), Math.max(...intervals.map((a) => Math.max(a[0], a[1])))]);
    });
    if (oneModel() !== before) modelChanged(); else { drawRanges(); refresh(); }
  });

  function textRange(c) {
    const select = element("select"), r = ranges.get(c);
    select.append(element("option", "any"), ...values(c).map((v, k) => { const o = element("option", number(v)); o.value = String(k); return o; }));
    select.options[0].value = "";
    select.value = r && r.size === 1 ? String(values(c).indexOf([...r][0])) : "";
    select.dataset.column = c.name;
    select.addEventListener("change", () => {
      if (select.value === "") ranges.delete(c); else ranges.set(c, new Set([values(c)[Number(select.value)]]));
      if (c === modelColumn) { modelChanged(); return; }
      restoreBrushes();
      refresh();
    });
    return [select];
  }
  function numberRange(c) {
    const r = ranges.get(c), parts = [];
    ["from", "to"].forEach((end, k) => {
      const input = element("input");
      input.type = "number";
      input.step = "any";
      input.setAttribute("aria-label", c.label + " " + end);
      input.dataset.column = c.name;
      input.dataset.end = end;
      if (r && isFinite(r[k])) input.value = Number(r[k].toPrecision(6));
      input.addEventListener("change", () => {
        const now = ranges.get(c) || [-Infinity, Infinity];
        now[k] = input.value === "" ? (k ? Infinity : -Infinity) : Number(input.value);
        if (now[0] === -Infinity && now[1] === Infinity) ranges.delete(c); else ranges.set(c, now);
        restoreBrushes();
        refresh();
      });
      parts.push(input, k ? "" : " to ");
    });
    return parts;
  }
  function drawRanges() {
    $("ranges").replaceChildren(...axesShown().map((c) => {
      const l = element("label", c.label + " ");
      l.append(...(c.text ? textRange(c) : numberRange(c)));
      return l;
    }));
    if (modelColumn) $("model").value = oneModel() === null ? "" : String(models.indexOf(oneModel()));
  }
  // Other columns say something now: ranges of those that do not are gone, or nothing would be kept for a reason that is not seen.
  function modelChanged() {
    for (const c of [...ranges.keys()]) if (!saysSomething(c)) ranges.delete(c);
    if (sorted.column && !saysSomething(sorted.column)) sorted = { column: null, down: false };
    drawHead();
    drawParallel();
    drawRanges();
    refresh();
    const list = keptRows();
    if (list.length && !kept(front[chosen])) choose(list[0]);
  }
  $("reset").addEventListener("click", () => { ranges.clear(); modelChanged(); });
  if (modelColumn) {
    $("model-choice").hidden = false;
    const all = element("option", "all models");
    all.value = "";
    $("model").replaceChildren(all, ...models.map((m, k) => { const o = element("option", m); o.value = String(k); return o; }));
    $("model").addEventListener("change", () => {
      if ($("model").value === "") ranges.delete(modelColumn); else ranges.set(modelColumn, new Set([models[Number($("model").value)]]));
      modelChanged();
    });
  }

  // ---- table ----
  const TABLE_MAX = 500;
  const tableColumns = () => columns.filter(saysSomething);
  function sortRows(list) {
    if (!sorted.column) return list;
    const k = sorted.column.at, sign = sorted.down ? -1 : 1;
    return list.sort((a, b) => { const p = front[a][k], q = front[b][k]; return p === q ? a - b : p === null ? 1 : q === null ? -1 : sign * order(p, q); });
  }
  function drawHead() {
    const row = element("tr");
    tableColumns().forEach((c) => {
      const th = element("th"), button = element("button", c.label);
      th.scope = "col";
      th.title = c.name + ": " + c.doc;
      th.className = c.kind + (c.text ? " text" : "");
      th.dataset.column = c.name;
      button.type = "button";
      if (sorted.column === c) th.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      button.addEventListener("click", () => { sorted = { column: c, down: sorted.column === c && !sorted.down }; drawHead(); drawTable(); });
      th.append(button);
      row.append(th);
    });
    $("front-table").tHead.replaceChildren(row);
  }
  function tableCell(c, row) {
    const td = element("td", number(row[c.at]));
    td.className = (c.text ? "text" : "") + (c.kind === "note" ? " note-cell" : "") + (c === quality && isUnknown(row) ? " unknown" : "");
    if (c.kind === "note") td.title = td.textContent;
    return td;
  }
  function drawTable() {
    const list = sortRows(keptRows()), shown = tableColumns();
    $("shown").textContent = "(" + count(list.length) + (list.length === front.length ? ")" : " of " + count(front.length) + ")");
    $("table-note").textContent = list.length > TABLE_MAX ? "The first " + TABLE_MAX + " are shown; the CSV has all." : "";
    $("front-table").tBodies[0].replaceChildren(...list.slice(0, TABLE_MAX).map((i) => {
      const tr = element("tr");
      tr.tabIndex = 0;
      tr.dataset.row = i;
      tr.setAttribute("aria-selected", i === chosen ? "true" : "false");
      tr.append(...shown.map((c) => tableCell(c, front[i])));
      tr.addEventListener("click", () => choose(i));
      tr.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(i); } });
      return tr;
    }));
  }
  // A text that a spreadsheet would carry out as a formula gets an apostrophe.
  function csv() {
    const quote = (v) => v === null ? "" : typeof v === "number" ? String(v) : '"' + String(v).replace(/^[=+@\t\r-]/, "'$&").replace(/"/g, '""') + '"';
    return [columns.map((c) => quote(c.name)).join(",")].concat(sortRows(keptRows()).map((i) => columns.map((c) => quote(front[i][c.at])).join(","))).join("\n") + "\n";
  }
  $("download").addEventListener("click", () => {
    const a = element("a");
    a.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    a.download = sweep.replace(/[^\w.-]/g, "_") + "_front.csv";
    a.click();
    URL.revokeObjectURL(a.href);
  });

  // ---- one point ----
  const breakdown = chart("breakdown");
  const whyNot = new Map([
    ["mean", "This point is a mean over requests, so it has no parts of a single step."],
    ["event-level", "This point was evaluated at event level, which has no parts of a single step. With --breakdown the command prints the parts that event level has."],
    ["changed", "Another version of dse or of its catalog evaluated this point, so its parts are not shown. The command gives the numbers of this version."],
  ]);
  /* Steps of mixtures of experts have twice as many parts as there are colours: the second time round they are hatched. */
  const hatch = { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [3, 4], rotation: -Math.PI / 4, color: dark ? "rgba(0, 0, 0, 0.5)" : "rgba(255, 255, 255, 0.6)" };
  const partStyle = (i) => ({ color: palette[i % palette.length], decal: i % (2 * palette.length) < palette.length ? null : hatch });
  function drawParts(parts) {
    const top = parts.filter((p) => p[1] === 0), sum = (k) => top.reduce((s, p) => s + p[k], 0), total = sum(2);
    const row = (p, kind) => tableRow(kind, [p[0], number(p[2]), percent(total ? p[2] / total : null), number(p[3]), number(p[4]), p[5] || ""]);
    $("parts").tHead.replaceChildren(tableRow("th", ["Part", "Time of a step [µs]", "Share", "DRAM a token [MiB]", "Energy a token [mJ]", "Bound"]));
    $("parts").tBodies[0].replaceChildren(...parts.map((p) => row(["\u2003".repeat(p[1]) + p[0].replace(/_/g, " "), ...p.slice(1)], "td")),
      row(["total", 0, total, sum(3), sum(4), ""], "th"));
    draw(breakdown, {
      grid: { left: 20, right: 20, top: 60, bottom: 40, containLabel: true },
      legend: { top: 0, type: "scroll", textStyle: { color: ink }, pageTextStyle: { color: ink } },
      tooltip: { trigger: "item", confine: true, formatter: (p) => lines([p.seriesName + ": " + number(p.value) + " µs"]) },
      xAxis: Object.assign({ type: "value", name: "Time [µs]", nameLocation: "middle", nameGap: 28 }, axisStyle),
      yAxis: { type: "category", data: [""], axisLine: { lineStyle: { color: faint } } },
      series: top.filter((p) => p[2] > 0).map((p, i) => ({ name: p[0].replace(/_/g, " "), type: "bar", stack: "time", data: [p[2]], itemStyle: partStyle(i) })),
    });
    breakdown.resize();
  }
  function drawPoint() {
    const row = front[chosen], point = points[chosen] || null, has = Boolean(point && Array.isArray(point.parts));
    if (!row) return;
    $("point-name").textContent = columns.filter((c) => row[c.at] !== null && (c.kind === "model" || c.kind === "axis"))
      .map((c) => c.kind === "model" ? row[c.at] : c.label + ": " + number(row[c.at])).join(", ");
    $("point-rests-on").replaceChildren(...notesOf(row).filter((c) => c !== quality || isUnknown(row)).map((c) => element("li", c.label + ": " + number(row[c.at]))));
    $("breakdown").style.display = has ? "" : "none";
    $("point-note").textContent = has ? "" : point ? whyNot.get(point.why) || "The parts of this point are not known." : "The sweep could not be read again when the page was made, so the parts and the command of this point are not known.";
    copyable("panel-point", point ? point.command : "");
    if (has) drawParts(point.parts);
    else {
      $("parts").tHead.replaceChildren();
      $("parts").tBodies[0].replaceChildren();
      breakdown.clear();
    }
  }
  function choose(i) {
    chosen = i;
    document.querySelectorAll("#front-table tbody tr").forEach((tr) => tr.setAttribute("aria-selected", Number(tr.dataset.row) === i ? "true" : "false"));
    drawScatter();
    drawPoint();
  }

  // ---- sensitivity ----
  const sensitivity = chart("sensitivity"), effect = chart("effect");
  const scopeShown = () => data.effects[Number($("effect-scope").value) || 0];
  $("effect-scope").replaceChildren(...data.effects.map((s, i) => { const o = element("option", s.scope); o.value = String(i); return o; }));
  $("scope-choice").hidden = data.effects.length < 2;
  const goals = data.objectives.map((o) => labelOf(o.name));
  function drawSensitivity() {
    const list = scopeShown().parameters, values = [];
    goals.forEach((o, j) => list.forEach((p, i) => values.push([i, j, p.shares[j] === null ? "-" : p.shares[j]])));
    $("sensitivity").style.display = list.length ? "" : "none";
    sensitivity.resize();
    draw(sensitivity, {
      grid: { left: 10, right: small ? 10 : 90, top: 10, bottom: small ? 60 : 20, containLabel: true },
      tooltip: { confine: true, formatter: (p) => lines([goals[p.value[1]] + " over " + labelOf(list[p.value[0]].name) + ": " + (typeof p.value[2] === "number" ? percent(p.value[2]) : "none")]) },
      xAxis: { type: "category", data: list.map((p) => labelOf(p.name)), axisLabel: { color: faint, interval: 0, rotate: list.length > (small ? 3 : 8) ? 40 : 0 } },
      yAxis: { type: "category", data: goals, axisLabel: { color: faint } },
      visualMap: Object.assign({ min: 0, max: 1, inRange: { color: ramp }, textStyle: { color: ink }, formatter: (v) => Math.round(100 * v) + " %" },
        small ? { orient: "horizontal", left: "center", bottom: 0 } : { right: 0, top: "middle" }),
      series: [{ type: "heatmap", data: values, label: { show: true, formatter: (p) => typeof p.value[2] === "number" ? String(Math.round(100 * p.value[2])) : "" } }],
    });
    $("sensitivity-table").tHead.replaceChildren(tableRow("th", ["Share of variance", ...list.map((p) => labelOf(p.name))]));
    $("sensitivity-table").tBodies[0].replaceChildren(...goals.map((o, j) => tableRow("td", [o, ...list.map((p) => percent(p.shares[j]))])));
    $("effect-parameter").replaceChildren(...list.map((p, i) => { const o = element("option", labelOf(p.name)); o.value = String(i); return o; }));
    drawEffect();
  }
  $("effect-objective").replaceChildren(...goals.map((g, i) => { const o = element("option", g); o.value = String(i); return o; }));
  function drawEffect() {
    const p = scopeShown().parameters[Number($("effect-parameter").value)], o = Number($("effect-objective").value);
    $("effect").style.display = p ? "" : "none";
    copyable("panel-effects", p ? sql(p.sql) : "");
    if (!p) return;
    const rows = p.rows.filter((r) => r[2 + 2 * o] !== null), byText = rows.some((r) => typeof r[0] === "string");
    const drawn = (name, k, i) => ({ name: name, type: byText ? "bar" : "line", symbolSize: 6, data: rows.map((r) => byText ? r[k] : [r[0], r[k]]), itemStyle: { color: palette[i] } });
    const told = (list) => lines([String(list[0].axisValueLabel)].concat(list.map((q) => q.seriesName + ": " + number(Array.isArray(q.value) ? q.value[1] : q.value))));
    effect.resize();
    draw(effect, {
      grid: { left: small ? 58 : 80, right: 20, top: 40, bottom: 50 },
      legend: { top: 0, textStyle: { color: ink } },
      tooltip: { trigger: "axis", confine: true, formatter: told },
      xAxis: Object.assign({ type: byText ? "category" : "value", scale: true, name: labelOf(p.name), nameLocation: "middle", nameGap: 30 }, axisStyle, byText ? { data: rows.map((r) => r[0]) } : {}),
      yAxis: Object.assign({ type: "value", scale: !byText, name: goals[o], nameLocation: "middle", nameGap: small ? 42 : 60 }, axisStyle),
      series: [drawn("mean of all points", 2 + 2 * o, 0), drawn("best", 3 + 2 * o, 1)],
    });
  }
  sensitivity.on("click", (e) => { $("effect-objective").value = String(e.value[1]); $("effect-parameter").value = String(e.value[0]); drawEffect(); });
  $("effect-scope").addEventListener("change", drawSensitivity);
  $("effect-objective").addEventListener("change", drawEffect);
  $("effect-parameter").addEventListener("change", drawEffect);

  // ---- at equal quality ----
  function drawEqual() {
    const contest = data.equal[Number($("equal-of").value) || 0];
    $("panel-equal").hidden = !contest;
    if (!contest) return;
    $("equal-note").textContent = "Each comparison takes the best designs within the same quality budget and in the same scenario: the same LLM, context and other parameters for which the sweep has a front each." +
      (contest.unknown ? " " + count(contest.unknown) + " designs take no part: they lose more, or their loss is unknown." : "");
    $("equal").replaceChildren(...contest.sentences.map((s) => element("li", s)));
    copyable("panel-equal", sql(contest.sql));
  }
  $("equal-of").replaceChildren(...data.equal.map((c, i) => { const o = element("option", c.of === "model" ? "models" : labelOf(c.of) + " on one model"); o.value = String(i); return o; }));
  $("equal-choice").hidden = data.equal.length < 2;
  $("equal-of").addEventListener("change", drawEqual);

  // ---- reasons, provenance ----
  function drawReasons() {
    if (!data.reasons.rows.length) { $("panel-reasons").querySelector("h2").after(element("p", "Every point can be built.")); return; }
    $("reasons").tHead.replaceChildren(tableRow("th", ["Points", "Reason"]));
    $("reasons").tBodies[0].replaceChildren(...data.reasons.rows.map((r) => tableRow("td", [count(r[1]), r[0]])));
  }
  function drawRun() {
    const hidden = new Set(["sweep_text", "notices", "axis_ends"]);
    $("run").tBodies[0].replaceChildren(tableRow("td", ["database", data.database]),
      ...data.run.filter((r) => !hidden.has(r[0]) && r[1] !== null).map((r) => tableRow("td", [r[0], String(r[1])])));
    $("sweep-text").textContent = text;
  }

  function refresh() { drawScatter(); drawTable(); }
  $("axis-colour").addEventListener("change", drawParallel);
  document.querySelectorAll("form").forEach((f) => f.addEventListener("submit", (e) => e.preventDefault()));
  drawHead();
  refresh();
  drawParallel();
  drawRanges();
  drawPoint();
  drawSensitivity();
  drawEqual();
  drawReasons();
  drawRun();
  window.report = { scatter: scatter, parallel: parallel, breakdown: breakdown, sensitivity: sensitivity, effect: effect, // for tests and consoles
    data: data, csv: csv, kept: () => keptRows().length, choose: choose, ready: true };
})();
