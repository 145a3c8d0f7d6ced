// A report in headless Chromium: browser.mjs PLAYWRIGHT PAGE.html [SCREENSHOT.png]. It loads without a word on the console, axes change, ranges and brushes change the
// table, rows are chosen by keyboard, SQL is shown, one model has its own columns, nothing is fetched, a phone scrolls in one direction. The last line is "ok", or what was wrong, with exit status 1.
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , library, page_path, screenshot] = process.argv;
const { chromium } = createRequire(import.meta.url)(library);
const said = [], fetched = [];
const check = (what, ok) => { if (!ok) throw new Error(what); };
const home = mkdtempSync(join(tmpdir(), "dse-report-"));
const browser = await chromium.launchPersistentContext(home, {
  executablePath: ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
  headless: true,
  viewport: { width: 1280, height: 900 },
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failure = null;
try {
  const page = await browser.newPage();
  page.on("console", (m) => said.push(m.type() + ": " + m.text()));
  page.on("pageerror", (e) => said.push("error: " + e.message));
  page.on("request", (r) => { if (!r.url().startsWith("file:") && !r.url().startsWith("data:") && !r.url().startsWith("blob:")) fetched.push(r.url()); });
  await page.goto(pathToFileURL(page_path).href, { waitUntil: "load" });
  await page.waitForFunction(() => window.report && window.report.ready);
  const opened = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  console.log("loaded in " + Math.round(opened) + " ms");

  const rows = () => page.locator("#front-table tbody tr").count();
  const kept = () => page.evaluate(() => window.report.kept());
  const all = await kept();
  check("the table is empty", (await rows()) > 0 && all > 0);
  check("the table does not have what is kept", (await rows()) === Math.min(all, 500));

  // What the run says of its front, and of the point that is chosen, is there.
  const notes = await page.evaluate(() => {
    const r = window.report.data, beyond = r.columns.findIndex((c) => c.kind === "note" && c.name === "beyond"), texts = JSON.parse(r.notices).map((n) => n.text);
    const i = beyond < 0 ? -1 : r.front.rows.findIndex((row) => row[beyond] !== null);
    if (i >= 0) window.report.choose(i);
    const shown = [...document.querySelectorAll(".notices li")].map((li) => li.textContent);
    const ok = texts.every((t) => shown.includes(t)) && (i < 0 || shown.some((s) => s.includes(r.front.rows[i][beyond])));
    window.report.choose(0);
    return ok ? "" : texts.join("; ");
  });
  check("a notice is not shown: " + notes, notes === "");

  // Axes change.
  const axis = () => page.evaluate(() => window.report.scatter.getOption().xAxis[0].name);
  const before = await axis();
  const names = await page.locator("#axis-x option").evaluateAll((o) => o.map((x) => x.value));
  await page.selectOption("#axis-x", names.find((n) => n !== "" && n !== page.locator("#axis-x").inputValue) && names[names.length - 1]);
  check("the axis of the scatter did not change", (await axis()) !== before);

  // A brush changes the table: the upper half of the last axis that is an objective.
  const brushed = await page.evaluate(() => {
    const p = window.report.parallel, axes = p.getOption().parallelAxis, r = JSON.parse(document.getElementById("data").textContent);
    const labels = r.objectives.map((o) => r.columns.find((c) => c.name === o.name).label.split(" ")[0]);
    const i = axes.findLastIndex((a) => a.type === "value" && labels.some((l) => a.name.startsWith(l)));
    const extent = p.getModel().getComponent("parallelAxis", i).axis.scale.getExtent();
    p.dispatchAction({ type: "axisAreaSelect", parallelAxisIndex: i, intervals: [[(extent[0] + extent[1]) / 2, extent[1]]] });
    return axes[i].name;
  });
  await page.waitForTimeout(50);
  const half = await kept();
  check("brushing did not change the table (" + brushed + ", " + half + " of " + all + ")", half < all && (await rows()) === Math.min(half, 500));
  await page.click("#reset");
  check("the brush did not end", (await kept()) === all);

  // With a mouse, too: along the same axis.
  const place = await page.evaluate(() => {
    const p = window.report.parallel, axes = p.getOption().parallelAxis, i = axes.findLastIndex((a) => a.type === "value");
    const layout = p.getModel().getComponent("parallel").coordinateSystem.getAxisLayout("dim" in axes[i] ? axes[i].dim : i);
    const box = document.getElementById("parallel").getBoundingClientRect();
    return { x: box.x + layout.position[0], y: box.y + layout.position[1], length: layout.axisExpandWidth || 300 };
  }).catch(() => null);
  if (place) {
    await page.locator("#parallel").scrollIntoViewIfNeeded();
    const box = await page.locator("#parallel").boundingBox();
    const x = (await page.evaluate(() => { const p = window.report.parallel, axes = p.getOption().parallelAxis, i = axes.findLastIndex((a) => a.type === "value"); return p.getModel().getComponent("parallel").coordinateSystem.getAxisLayout(axes[i].dim !== undefined ? axes[i].dim : i).position[0]; }));
    await page.mouse.move(box.x + x, box.y + 70);
    await page.mouse.down();
    await page.mouse.move(box.x + x, box.y + 160, { steps: 6 });
    await page.mouse.up();
    await page.waitForTimeout(100);
    check("a brush of the mouse did not change the table", (await kept()) < all);
    await page.click("#reset");
  }

  // By keyboard: a range, then a row.
  await page.locator("#ranges-box summary").focus();
  await page.keyboard.press("Enter");
  const to = page.locator("#ranges input[data-end=to]").first();
  const name = await to.getAttribute("data-column");
  const head = await page.locator("#front-table thead th").evaluateAll((h, n) => h.findIndex((x) => x.dataset.column === n), name);
  check("the table has no column " + name, head >= 0);
  const values = (await page.locator("#front-table tbody tr td:nth-child(" + (head + 1) + ")").allTextContents()).map(Number);
  await to.fill(String(Math.min(...values)));
  await to.press("Tab");
  check("a written range did not change the table", (await kept()) < all || new Set(values).size === 1);
  await page.click("#reset");
  await page.locator("#front-table tbody tr").nth(1).focus();
  await page.keyboard.press("Enter");
  check("a row is not chosen by keyboard", (await page.locator("#front-table tbody tr").nth(1).getAttribute("aria-selected")) === "true");
  check("the parts of a point are missing", (await page.locator("#parts tbody tr").count()) > 0);

  // Sorting, SQL, CSV, sensitivity.
  await page.locator("#front-table thead button").first().press("Enter");
  check("the table is not sorted", (await page.locator("#front-table thead th").first().getAttribute("aria-sort")) === "ascending");
  await page.locator("#panel-table details.sql summary").click();
  check("no SQL is shown", (await page.locator("#panel-table details.sql pre").textContent()).includes("AS model, point"));
  check("no command is shown", (await page.locator("#panel-point details.sql pre").textContent()).startsWith("dse eval "));
  check("the CSV has not all rows", (await page.evaluate(() => window.report.csv().trim().split("\n").length)) === all + 1);
  check("no sensitivity", (await page.locator("#sensitivity-table tbody tr").count()) > 0);
  const shares = (await page.locator("#sensitivity-table tbody td:not(:first-child)").allTextContents()).filter((s) => s).map(parseFloat);
  for (const tr of await page.locator("#sensitivity-table tbody tr").all()) { // of a full grid the shares of single parameters add up to 100 % at most
    const sum = (await tr.locator("td:not(:first-child)").allTextContents()).filter((s) => s).map(parseFloat).reduce((a, b) => a + b, 0);
    check("shares of variance add up to " + sum + " %", sum > 0 && sum <= 101);
  }
  check("a share of variance is not within 0 and 100 %", shares.length > 0 && shares.every((s) => s >= 0 && s <= 100));
  // A label says its unit once; every column of the table has one.
  const labels = await page.locator("#front-table thead th").allTextContents();
  check("a label says its unit twice: " + labels.filter((l) => /(mj|us|mm2|per s|mib|gbs|pj per bit) \[/i.test(l)), !labels.some((l) => /(mj|us|mm2|per s|mib|gbs|pj per bit) \[/i.test(l)));

  // One of several models: its rows alone, and its own parameters as columns, axes and ranges.
  const models = (await page.evaluate(() => window.report.data.columns.some((c) => c.kind === "model"))) ? await page.evaluate(() => [...new Set(window.report.data.keys.map((k) => k[0]))]) : [];
  for (const model of models) {
    const own = await page.evaluate((m) => window.report.data.columns.filter((c) => c.models && c.models.includes(m)).map((c) => c.name), model);
    const others = await page.evaluate((m) => window.report.data.columns.filter((c) => c.models && !c.models.includes(m)).map((c) => c.name), model);
    await page.selectOption("#model", { label: model });
    const heads = await page.locator("#front-table thead th").evaluateAll((h) => h.map((x) => x.dataset.column));
    check(model + " lacks columns of its own", own.every((n) => heads.includes(n)));
    check(model + " has columns of others", !others.some((n) => heads.includes(n)));
    check("rows of other models than " + model, (await page.locator("#front-table tbody tr td:first-child").allTextContents()).every((t) => t === model));
    const ranged = await page.locator("#ranges [data-column]").evaluateAll((l) => l.map((x) => x.dataset.column));
    check(model + " lacks ranges of its own", own.every((n) => ranged.includes(n)));
    const axes = await page.evaluate(() => window.report.parallel.getOption().parallelAxis.length);
    check(model + " has " + axes + " axes", axes === new Set(ranged).size);
    await page.click("#reset");
  }
  if (await page.evaluate(() => window.report.data.columns.filter((c) => c.models).length > 1)) check("models side by side have no design", (await page.locator("#front-table thead th").evaluateAll((h) => h.map((x) => x.dataset.column))).includes("design"));

  // A phone: nothing is wider than it but what scrolls in a box of its own.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload({ waitUntil: "load" });
  await page.waitForFunction(() => window.report && window.report.ready);
  const width = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth));
  check("a phone of 390 has to scroll over " + width, width <= 390);
  const wide = await page.evaluate(() => [...document.querySelectorAll("section *")].filter((e) => !e.closest(".wide, .scroll, .chart, pre") && e.getBoundingClientRect().right > 390.5).map((e) => e.tagName + "#" + e.id));
  check("wider than a phone: " + wide, wide.length === 0);
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  check("opened, it is wider than a phone", (await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.reload({ waitUntil: "load" });
  await page.waitForFunction(() => window.report && window.report.ready);
  await page.emulateMedia({ media: "print" });
  check("the form is printed", !(await page.locator("#axes").isVisible()));
  await page.emulateMedia({ media: "screen" });
  if (screenshot) await page.screenshot({ path: screenshot, fullPage: true });
  check("the console says: " + said.join("; "), said.length === 0);
  check("the network was asked: " + fetched.join("; "), fetched.length === 0);
} catch (e) {
  failure = e.message;
}
await browser.close();
rmSync(home, { recursive: true, force: true });
console.log(failure || "ok");
process.exit(failure ? 1 : 0);
