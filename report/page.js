"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const columns = data.columns; // cell of column i: row[i + 1]; row[0] is the point
  const at = new Map(columns.map((c, i) => [c.name, i + 1]));
  const front = data.front.rows, sample = data.sample.rows;
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", dark ? "#DDDDDD" : "#000000", "#B8A800"];
  const ramp = ["#440154", "#414487", "#2A788E", "#22A884", "#7AD151"];
  const ink = dark ? "#e8e8e8" : "#1a1a1a", faint = dark ? "#b0b4bb" : "#595959", line = dark ? "#3a3f49" : "#d6d9de";
  const charts = [];
  let ranges = {}; // column name -> [low, high] that is kept; of a text column a set of texts
  let chosen = 0, sorted = { column: null, down: false };

  // ---- words ----
  const unitWords = (u) => u.replace("us", "µs").replace("mm2", "mm²");
  const label = (c) => c.name.replace(/_/g, " ") + (c.unit ? " [" + unitWords(c.unit) + "]" : "");
  const column = (name) => columns[at.get(name) - 1];
  const count = (n) => Number(n).toLocaleString("en-US");
  function number(v) {
    if (v === null || v === undefined) return "";
    if (typeof v !== "number") return v;
    if (v === 0) return "0";
    const a = Math.abs(v);
    return a >= 1e6 || a < 1e-4 ? v.toExponential(3) : String(Number(v.toPrecision(5)));
  }
  const element = (name, text) => { const e = document.createElement(name); if (text !== undefined) e.textContent = text; return e; };

  // ---- header ----
  const text = data.run.sweep_text || "";
  const question = (text.match(/^#\s*(.+)$/m) || [null, data.run.sweep])[1];
  document.title = data.run.sweep + " · dse report";
  $("sweep-name").textContent = data.run.sweep;
  $("question").textContent = question;
  const goal = data.objectives.map((o) => (o.maximise ? "more " : "less ") + o.name).join(", ");
  $("summary").textContent = count(data.run.done) + " points of " + data.run.models.replace(/ \d+/g, "") + ", " + count(data.run.feasible) + " of them feasible; the front has " +
    count(front.length) + (data.per.length ? ", one for each " + data.per.join(", ") : "") + ". Better is " + goal + ".";

  // ---- SQL and commands ----
  function copyable(panel, statement) {
    const box = $(panel).querySelector("details.sql");
    box.querySelectorAll("pre, button").forEach((e) => e.remove());
    const pre = element("pre", statement), button = element("button", "Copy");
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
  copyable("panel-scatter", data.front.sql + ";\n\n" + data.sample.sql + ";");
  copyable("panel-table", data.front.sql + ";");
  copyable("panel-reasons", data.reasons.sql + ";");

  // ---- charts ----
  function chart(id) {
    const c = echarts.init($(id), null, { renderer: "canvas" });
    charts.push(c);
    return c;
  }
  const base = { animation: false, textStyle: { color: ink, fontFamily: "inherit" }, aria: { enabled: true } };
  const axisStyle = { nameTextStyle: { color: ink }, axisLabel: { color: faint }, axisLine: { lineStyle: { color: faint } }, splitLine: { lineStyle: { color: line } } };
  window.addEventListener("resize", () => charts.forEach((c) => c.resize()));
  window.addEventListener("beforeprint", () => charts.forEach((c) => c.resize()));

  function options(select, list, chosenName) {
    select.replaceChildren(...list.map((c) => { const o = element("option", label(c)); o.value = c.name; return o; }));
    if (chosenName) select.value = chosenName;
  }

  // ---- which rows are kept ----
  function kept(row) {
    for (const name in ranges) {
      const v = row[at.get(name)], r = ranges[name];
      if (r instanceof Set ? !r.has(v) : v === null || v < r[0] || v > r[1]) return false;
    }
    return true;
  }
  const keptRows = () => front.map((row, i) => i).filter((i) => kept(front[i]));

  // ---- scatter ----
  const scatter = chart("scatter");
  const numeric = columns.filter((c) => !c.text);
  const first = data.objectives[0].name, second = (data.objectives[1] || data.objectives[0]).name;
  options($("axis-x"), numeric, second);
  options($("axis-y"), numeric, first);
  options($("axis-colour"), columns, (data.per[0] && at.has(data.per[0]) && data.per[0]) || (columns.find((c) => c.kind === "axis") || columns[0]).name);

  function values(name) { return [...new Set(front.concat(sample).map((r) => r[at.get(name)]))].filter((v) => v !== null); }

  function scatterPoint(row, x, y, group) { return { value: [row[at.get(x)], row[at.get(y)]], row: row, group: group }; }

  function drawScatter() {
    const x = $("axis-x").value, y = $("axis-y").value, by = $("axis-colour").value;
    const usable = (row) => row[at.get(x)] !== null && row[at.get(y)] !== null && (!$("log-x").checked || row[at.get(x)] > 0) && (!$("log-y").checked || row[at.get(y)] > 0);
    const found = values(by), byText = column(by).text || found.length <= palette.length;
    const groups = byText ? found.sort((a, b) => (a > b) - (a < b)) : [null];
    const rows = keptRows().map((i) => front[i]).filter(usable);
    const series = [];
    if ($("show-sample").checked)
      series.push({ name: "other points", type: "scatter", large: true, largeThreshold: 1000, symbolSize: 3, itemStyle: { color: faint, opacity: 0.35 },
        data: sample.filter(usable).filter(kept).map((row) => [row[at.get(x)], row[at.get(y)]]), silent: true });
    groups.forEach((g, i) => {
      const mine = rows.filter((row) => !byText || row[at.get(by)] === g);
      series.push({ name: byText ? number(g) : "front", type: "scatter", symbolSize: 9, itemStyle: byText ? { color: palette[i % palette.length], borderColor: dark ? "#16181d" : "#fff", borderWidth: 1 } : {},
        data: mine.map((row) => ({ value: [row[at.get(x)], row[at.get(y)], byText ? 0 : row[at.get(by)]], row: row })) });
    });
    const selected = front[chosen];
    if (selected && usable(selected))
      series.push({ name: "chosen", type: "scatter", symbolSize: 16, silent: true, itemStyle: { color: "transparent", borderColor: ink, borderWidth: 2 },
        data: [[selected[at.get(x)], selected[at.get(y)]]] });
    const axis = (name, log) => Object.assign({ type: log ? "log" : "value", name: label(column(name)), nameLocation: "middle", scale: true }, axisStyle);
    scatter.setOption(Object.assign({}, base, {
      grid: { left: 80, right: byText ? 20 : 90, top: 40, bottom: 55 },
      legend: { top: 0, type: "scroll", textStyle: { color: ink }, data: series.map((s) => s.name).filter((n) => n !== "chosen") },
      xAxis: Object.assign(axis(x, $("log-x").checked), { nameGap: 30 }),
      yAxis: Object.assign(axis(y, $("log-y").checked), { nameGap: 60 }),
      visualMap: byText ? { show: false, dimension: 2, min: 0, max: 0, seriesIndex: [] } : { type: "continuous", dimension: 2, min: Math.min(...found), max: Math.max(...found), seriesIndex: [$("show-sample").checked ? 1 : 0],
        inRange: { color: ramp }, right: 0, top: "middle", text: [by.replace(/_/g, " "), ""], textStyle: { color: ink } },
      tooltip: { trigger: "item", confine: true, formatter: (p) => p.data.row ? tooltip(p.data.row) : "" },
      series: series,
    }), true);
    $("scatter-note").textContent = "Of the other feasible points " + count(sample.length) + " of " + count(data.run.feasible) + " are shown. A click chooses a point.";
  }
  function tooltip(row) {
    const box = element("div");
    columns.filter((c) => c.kind !== "metric").forEach((c) => { const p = element("div", c.name + ": " + number(row[at.get(c.name)]) + " " + unitWords(c.unit)); box.append(p); });
    return box;
  }
  scatter.on("click", (p) => { if (p.data.row) choose(front.indexOf(p.data.row)); });
  ["axis-x", "axis-y", "axis-colour", "log-x", "log-y", "show-sample"].forEach((id) => $(id).addEventListener("change", drawScatter));

  // ---- parallel coordinates ----
  const parallel = chart("parallel");
  const shownColumns = new Set(columns.filter((c) => c.kind !== "metric").map((c) => c.name));
  columns.forEach((c) => {
    const l = element("label"), box = element("input");
    box.type = "checkbox";
    box.checked = shownColumns.has(c.name);
    box.addEventListener("change", () => {
      if (box.checked) shownColumns.add(c.name); else { shownColumns.delete(c.name); delete ranges[c.name]; }
      drawParallel();
      drawRanges();
      refresh();
    });
    l.append(box, " " + c.name);
    $("columns").append(l);
  });
  const axesShown = () => columns.filter((c) => shownColumns.has(c.name));

  function drawParallel() {
    const list = axesShown(), by = $("axis-colour").value, found = values(by);
    const isText = column(by).text;
    const colour = (row) => {
      const v = row[at.get(by)];
      if (isText || found.length <= palette.length) return palette[Math.max(0, found.slice().sort((a, b) => (a > b) - (a < b)).indexOf(v)) % palette.length];
      return palette[0];
    };
    parallel.setOption(Object.assign({}, base, {
      parallel: { left: 60, right: 90, top: 50, bottom: 30, parallelAxisDefault: { nameGap: 14, nameTextStyle: { color: ink, fontSize: 11 }, axisLabel: { color: faint, fontSize: 10 }, axisLine: { lineStyle: { color: faint } }, areaSelectStyle: { width: 20, opacity: 0.35, color: palette[0] } } },
      parallelAxis: list.map((c, i) => c.text ? { dim: i, name: c.name, type: "category", data: values(c.name).sort() } : { dim: i, name: c.name, type: "value", scale: true }),
      series: [{ type: "parallel", inactiveOpacity: 0.04, activeOpacity: 1, lineStyle: { width: 1, opacity: front.length > 400 ? 0.3 : 0.6 },
        data: front.map((row) => ({ value: list.map((c) => row[at.get(c.name)]), lineStyle: { color: colour(row) } })) }],
    }), true);
    restoreBrushes();
  }
  // Ranges that were written, or brushed before the axes changed, are drawn on the axes.
  function restoreBrushes() {
    axesShown().forEach((c, i) => {
      const r = ranges[c.name];
      const interval = !r ? [] : r instanceof Set ? [...r].map((v) => { const k = values(c.name).sort().indexOf(v); return [k, k]; }) : [[Math.max(r[0], -1e300), Math.min(r[1], 1e300)]];
      parallel.dispatchAction({ type: "axisAreaSelect", parallelAxisIndex: i, intervals: interval, fromScript: true });
    });
  }
  parallel.on("axisareaselected", (event) => {
    if (event.fromScript || (event.batch && event.batch.every((b) => b.fromScript))) return;
    const option = parallel.getOption();
    axesShown().forEach((c, i) => {
      const areas = (option.parallelAxis[i].areas || option.parallelAxis[i].activeIntervals);
      const model = parallel.getModel().getComponent("parallelAxis", i);
      const intervals = (model && model.activeIntervals) || areas || [];
      if (!intervals.length) { delete ranges[c.name]; return; }
      if (c.text) {
        const names = values(c.name).sort();
        ranges[c.name] = new Set(names.filter((v, k) => intervals.some((a) => k >= Math.min(a[0], a[1]) - 0.5 && k <= Math.max(a[0], a[1]) + 0.5)));
      } else {
        ranges[c.name] = [Math.min(...intervals.map((a) => Math.min(a[0], a[1]))), Math.max(...intervals.map((a) => Math.max(a[0], a[1])))];
      }
    });
    drawRanges();
    refresh();
  });

  function drawRanges() {
    $("ranges").replaceChildren(...axesShown().map((c) => {
      const l = element("label", c.name + " "), r = ranges[c.name];
      if (c.text) {
        const select = element("select");
        select.append(element("option", "any"), ...values(c.name).sort().map((v) => element("option", v)));
        select.value = r && r.size === 1 ? [...r][0] : "any";
        select.dataset.column = c.name;
        select.addEventListener("change", () => {
          if (select.value === "any") delete ranges[c.name]; else ranges[c.name] = new Set([select.value]);
          restoreBrushes();
          refresh();
        });
        l.append(select);
        return l;
      }
      ["from", "to"].forEach((end, k) => {
        const input = element("input");
        input.type = "number";
        input.step = "any";
        input.size = 8;
        input.setAttribute("aria-label", c.name + " " + end);
        input.dataset.column = c.name;
        input.dataset.end = end;
        if (r && isFinite(r[k])) input.value = Number(r[k].toPrecision(6));
        input.addEventListener("change", () => {
          const now = ranges[c.name] || [-Infinity, Infinity];
          now[k] = input.value === "" ? (k ? Infinity : -Infinity) : Number(input.value);
          if (now[0] === -Infinity && now[1] === Infinity) delete ranges[c.name]; else ranges[c.name] = now;
          restoreBrushes();
          refresh();
        });
        l.append(input, k ? "" : " to ");
      });
      return l;
    }));
  }
  $("reset").addEventListener("click", () => { ranges = {}; drawParallel(); drawRanges(); refresh(); });

  // ---- table ----
  const TABLE_MAX = 500;
  function sortRows(list) {
    if (!sorted.column) return list;
    const k = at.get(sorted.column), sign = sorted.down ? -1 : 1;
    return list.sort((a, b) => { const p = front[a][k], q = front[b][k]; return p === q ? a - b : sign * (p === null ? 1 : q === null ? -1 : p > q ? 1 : -1); });
  }
  function drawHead() {
    const row = element("tr");
    columns.forEach((c) => {
      const th = element("th"), button = element("button", label(c));
      th.scope = "col";
      th.title = c.doc;
      th.className = c.kind;
      button.type = "button";
      if (sorted.column === c.name) th.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      button.addEventListener("click", () => { sorted = { column: c.name, down: sorted.column === c.name && !sorted.down }; drawHead(); drawTable(); });
      th.append(button);
      row.append(th);
    });
    $("front-table").tHead.replaceChildren(row);
  }
  function drawTable() {
    const list = sortRows(keptRows());
    $("shown").textContent = "(" + count(list.length) + (list.length === front.length ? ")" : " of " + count(front.length) + ")");
    $("table-note").textContent = list.length > TABLE_MAX ? "The first " + TABLE_MAX + " are shown; the CSV has all." : "";
    $("front-table").tBodies[0].replaceChildren(...list.slice(0, TABLE_MAX).map((i) => {
      const tr = element("tr");
      tr.tabIndex = 0;
      tr.dataset.row = i;
      tr.setAttribute("aria-selected", i === chosen ? "true" : "false");
      tr.append(...columns.map((c) => element("td", number(front[i][at.get(c.name)]))));
      tr.addEventListener("click", () => choose(i));
      tr.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(i); } });
      return tr;
    }));
  }
  function csv() {
    const quote = (v) => v === null ? "" : typeof v === "number" ? String(v) : '"' + String(v).replace(/"/g, '""') + '"';
    return [columns.map((c) => quote(c.name)).join(",")].concat(sortRows(keptRows()).map((i) => columns.map((c) => quote(front[i][at.get(c.name)])).join(","))).join("\n") + "\n";
  }
  $("download").addEventListener("click", () => {
    const a = element("a");
    a.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    a.download = data.run.sweep + "_front.csv";
    a.click();
    URL.revokeObjectURL(a.href);
  });

  // ---- one point ----
  const breakdown = chart("breakdown");
  function drawPoint() {
    const row = front[chosen], parts = data.breakdowns[chosen];
    const axes = columns.filter((c) => c.kind === "axis");
    $("point-name").textContent = row ? axes.map((c) => c.name + " = " + number(row[at.get(c.name)])).join(", ") : "";
    const model = row && at.has("model") ? row[at.get("model")] : data.table;
    if (row) copyable("panel-point", "dse eval " + model + axes.filter((c) => c.name !== "model" && row[at.get(c.name)] !== null).map((c) => " --set " + c.name + "=" + row[at.get(c.name)]).join("") + " --breakdown");
    const has = Array.isArray(parts);
    $("breakdown").style.display = has ? "" : "none";
    const head = element("tr");
    head.append(...["part", "time of a step [µs]", "share", "DRAM a token [MiB]", "energy a token [mJ]", "bound"].map((t) => element("th", t)));
    $("parts").tHead.replaceChildren(...(has ? [head] : []));
    if (!has) { $("parts").tBodies[0].replaceChildren(); if (row) $("point-name").textContent += ". Its parts are not known: it was evaluated at event level, as a mean, or by another version."; breakdown.clear(); return; }
    const top = parts.filter((p) => p[1] === 0), total = top.reduce((s, p) => s + p[2], 0);
    $("parts").tBodies[0].replaceChildren(...parts.map((p) => {
      const tr = element("tr");
      tr.append(element("td", "\u2003".repeat(p[1]) + p[0].replace(/_/g, " ")), element("td", number(p[2])), element("td", total ? (100 * p[2] / total).toFixed(1) + " %" : ""), element("td", number(p[3])), element("td", number(p[4])), element("td", p[5]));
      return tr;
    }));
    breakdown.setOption(Object.assign({}, base, {
      grid: { left: 20, right: 20, top: 60, bottom: 40, containLabel: true },
      legend: { top: 0, type: "scroll", textStyle: { color: ink } },
      tooltip: { trigger: "item", valueFormatter: (v) => number(v) + " µs" },
      xAxis: Object.assign({ type: "value", name: "Time [µs]", nameLocation: "middle", nameGap: 28 }, axisStyle),
      yAxis: { type: "category", data: [""], axisLine: { lineStyle: { color: faint } } },
      series: top.filter((p) => p[2] > 0).map((p, i) => ({ name: p[0].replace(/_/g, " "), type: "bar", stack: "time", data: [p[2]], itemStyle: { color: palette[i % palette.length] } })),
    }), true);
    breakdown.resize();
  }
  function choose(i) {
    chosen = i;
    document.querySelectorAll("#front-table tbody tr").forEach((tr) => tr.setAttribute("aria-selected", Number(tr.dataset.row) === i ? "true" : "false"));
    drawScatter();
    drawPoint();
  }

  // ---- sensitivity ----
  const sensitivity = chart("sensitivity"), effect = chart("effect");
  const parameters = columns.filter((c) => c.kind === "axis" && data.effects[c.name]);
  // Share of an objective's variance that lies between the values of a parameter.
  function share(parameter, o) {
    const total = data.totals.rows[0], mean = total[1 + 2 * o], variance = total[2 + 2 * o];
    if (!(variance > 1e-12 * mean * mean)) return null;
    const rows = data.effects[parameter].rows, n = rows.reduce((s, r) => s + r[1], 0);
    return Math.min(1, rows.reduce((s, r) => s + (r[2 + 2 * o] === null ? 0 : r[1] * (r[2 + 2 * o] - mean) ** 2), 0) / n / variance);
  }
  function drawSensitivity() {
    const cells = [];
    data.objectives.forEach((o, j) => parameters.forEach((p, i) => cells.push([i, j, share(p.name, j)])));
    sensitivity.setOption(Object.assign({}, base, {
      grid: { left: 20, right: 90, top: 10, bottom: 20, containLabel: true },
      tooltip: { formatter: (p) => data.objectives[p.value[1]].name + " over " + parameters[p.value[0]].name + ": " + (p.value[2] === null ? "" : (100 * p.value[2]).toFixed(1) + " %") },
      xAxis: { type: "category", data: parameters.map((p) => p.name), axisLabel: { color: faint, rotate: parameters.length > 8 ? 40 : 0 } },
      yAxis: { type: "category", data: data.objectives.map((o) => o.name), axisLabel: { color: faint } },
      visualMap: { min: 0, max: 1, right: 0, top: "middle", inRange: { color: ramp }, textStyle: { color: ink }, formatter: (v) => Math.round(100 * v) + " %" },
      series: [{ type: "heatmap", data: cells.map((c) => [c[0], c[1], c[2] === null ? "-" : c[2]]), label: { show: true, formatter: (p) => typeof p.value[2] === "number" ? Math.round(100 * p.value[2]) + "" : "" } }],
    }), true);
    const head = element("tr");
    head.append(element("th", "share of variance"), ...parameters.map((p) => element("th", p.name)));
    $("sensitivity-table").tHead.replaceChildren(head);
    $("sensitivity-table").tBodies[0].replaceChildren(...data.objectives.map((o, j) => {
      const tr = element("tr");
      tr.append(element("td", o.name), ...parameters.map((p) => { const s = share(p.name, j); return element("td", s === null ? "" : (100 * s).toFixed(1) + " %"); }));
      return tr;
    }));
  }
  options($("effect-objective"), data.objectives.map((o) => column(o.name)));
  options($("effect-parameter"), parameters);
  function drawEffect() {
    const p = $("effect-parameter").value, o = data.objectives.findIndex((x) => x.name === $("effect-objective").value);
    if (!p || o < 0) return;
    const c = column(p), rows = data.effects[p].rows.filter((r) => r[2 + 2 * o] !== null);
    copyable("panel-effects", data.effects[p].sql + ";");
    const line = (name, k, i) => ({ name: name, type: c.text ? "bar" : "line", symbolSize: 6, data: rows.map((r) => c.text ? r[k] : [r[0], r[k]]), itemStyle: { color: palette[i] } });
    effect.setOption(Object.assign({}, base, {
      grid: { left: 80, right: 20, top: 40, bottom: 50 },
      legend: { top: 0, textStyle: { color: ink } },
      tooltip: { trigger: "axis", valueFormatter: number },
      xAxis: Object.assign({ type: c.text ? "category" : "value", scale: true, name: label(c), nameLocation: "middle", nameGap: 30 }, axisStyle, c.text ? { data: rows.map((r) => r[0]) } : {}),
      yAxis: Object.assign({ type: "value", scale: !c.text, name: label(column(data.objectives[o].name)), nameLocation: "middle", nameGap: 60 }, axisStyle),
      series: [line("mean of all points", 2 + 2 * o, 0), line("best", 3 + 2 * o, 1)],
    }), true);
  }
  sensitivity.on("click", (e) => { $("effect-objective").value = data.objectives[e.value[1]].name; $("effect-parameter").value = parameters[e.value[0]].name; drawEffect(); });
  $("effect-objective").addEventListener("change", drawEffect);
  $("effect-parameter").addEventListener("change", drawEffect);

  // ---- reasons, provenance ----
  function drawReasons() {
    if (!data.reasons.rows.length) { $("panel-reasons").querySelector("h2").after(element("p", "Every point can be built.")); return; }
    const head = element("tr");
    head.append(element("th", "points"), element("th", "reason"));
    $("reasons").tHead.replaceChildren(head);
    $("reasons").tBodies[0].replaceChildren(...data.reasons.rows.map((r) => { const tr = element("tr"); tr.append(element("td", count(r[1])), element("td", r[0])); return tr; }));
  }
  function drawRun() {
    const rows = Object.keys(data.run).filter((k) => k !== "sweep_text" && data.run[k] !== null).map((k) => { const tr = element("tr"); tr.append(element("td", k), element("td", String(data.run[k]))); return tr; });
    const tr = element("tr");
    tr.append(element("td", "database"), element("td", data.database));
    $("run").tBodies[0].replaceChildren(tr, ...rows);
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
  drawEffect();
  drawReasons();
  drawRun();
  window.report = { scatter: scatter, parallel: parallel, csv: csv, kept: () => keptRows().length, ready: true }; // for tests and consoles
})();
