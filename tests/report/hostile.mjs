// A page of a database whose names, texts and numbers are an attacker's: hostile.mjs PLAYWRIGHT PAGE.html MARK. Nothing of it becomes markup or runs, wherever it
// is shown: in tables, lists, charts, tooltips, titles. MARK stands in every hostile text, which would set window.pwned. The last line is "ok", or what was wrong.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , library, page_path, mark] = process.argv;
const { chromium } = createRequire(import.meta.url)(library);
const said = [], check = (what, ok) => { if (!ok) throw new Error(what); };
const browser = await chromium.launch({
  executablePath: ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failure = null;
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on("console", (m) => said.push(m.type() + ": " + m.text())); // a refusal of the page's policy says so here
  page.on("pageerror", (e) => said.push("error: " + e.message));
  page.on("dialog", (d) => { said.push("dialog: " + d.message()); d.dismiss(); });
  page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) said.push("request: " + r.url()); });
  await page.goto(pathToFileURL(page_path).href, { waitUntil: "load" });
  await page.waitForFunction(() => window.report && window.report.ready);
  const whole = async (when) => {
    const found = await page.evaluate(() => ({ pwned: window.pwned, scripts: document.scripts.length, polluted: ({}).polluted,
      foreign: [...document.querySelectorAll("img, iframe, object, embed, svg, link, a[href^=javascript]")].map((e) => e.outerHTML.slice(0, 80)) }));
    check(when + ": code of the database ran", found.pwned === undefined && found.polluted === undefined);
    check(when + ": markup of the database is in the page: " + found.foreign, found.foreign.length === 0 && found.scripts === 3);
    check(when + ": " + said.join("; "), said.length === 0);
  };
  await whole("loaded");

  // It is shown, as text.
  const shown = await page.evaluate((m) => ["sweep-name", "question", "summary", "notices", "axis-notices", "axes", "columns", "ranges", "front-table", "point-name", "sensitivity-table", "effect-choice", "reasons", "run", "sweep-text"]
    .filter((id) => !document.getElementById(id).textContent.includes(m)), mark);
  check("not shown in: " + shown, shown.length === 0);
  check("not in the title", (await page.title()).includes(mark));

  // Tooltips of every chart, of every series and point that has one.
  for (const name of ["scatter", "breakdown", "sensitivity", "effect"]) {
    const told = await page.evaluate((n) => {
      const chart = window.report[n], texts = [];
      const series = (chart.getOption() || {}).series || [];
      series.forEach((s, i) => s.data.slice(0, 3).forEach((d, k) => {
        chart.dispatchAction({ type: "showTip", seriesIndex: i, dataIndex: k });
        texts.push(chart.getDom().textContent);
      }));
      return texts.join(" ");
    }, name);
    check("a tooltip of " + name + " does not show the text", name === "breakdown" || told.includes(mark));
    await page.waitForTimeout(50);
    await whole("tooltip of " + name);
  }

  // Of every list each choice with a hostile text, and the ends; every box, every heading.
  for (const id of ["axis-x", "axis-y", "axis-colour", "model", "effect-scope", "effect-objective", "effect-parameter"]) {
    const choices = await page.locator("#" + id + " option").allTextContents();
    const wanted = choices.map((text, i) => (text.includes(mark) || i === 0 || i === choices.length - 1 ? i : -1)).filter((i) => i >= 0);
    for (const i of wanted) {
      if (!(await page.locator("#" + id).isVisible())) break;
      await page.selectOption("#" + id, { index: i });
      await page.waitForTimeout(10);
    }
    await whole("choices of " + id);
  }
  await page.click("#reset");
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  for (const select of await page.locator("#ranges select").all()) {
    const n = await select.locator("option").count();
    if (n > 1) await select.selectOption({ index: n - 1 });
  }
  await page.click("#reset");
  await page.evaluate((m) => document.querySelectorAll("#columns input").forEach((box, i) => { // each draws the chart anew
    if (!box.checked && (i % 8 === 0 || box.parentElement.textContent.split("[")[0].includes(m))) box.click();
  }), mark);
  for (const button of await page.locator("#front-table thead button").all()) await button.click();
  await page.locator("#front-table tbody tr").last().click();
  await whole("columns and rows");
  check("the CSV lacks the text", (await page.evaluate(() => window.report.csv())).includes(mark));

  // And if a text did become markup, the page's policy would not run it.
  await page.evaluate(() => { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.pwned = 1'><a id=js href='javascript:window.pwned=1'>x</a>");
    const s = document.createElement("script"); s.textContent = "window.pwned = 2"; document.body.append(s); });
  await page.click("#js");
  await page.waitForTimeout(100);
  check("the page has no policy against foreign scripts", (await page.evaluate(() => window.pwned)) === undefined && said.some((s) => s.includes("Content Security Policy")));
} catch (e) {
  failure = e.message;
}
await browser.close();
console.log(failure || "ok");
process.exit(failure ? 1 : 0);
