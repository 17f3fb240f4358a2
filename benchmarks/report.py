#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes one HTML page of what shoal_bench wrote: report.py bench.json... bench.html

The page needs no network: its plots are SVG drawn here, with Python's own library alone. With --keep NAME the
measurement is kept too: NAME.json and its plots in results/, described in the README there, and the README of the
project shows its table and plots.
"""

import argparse
import html
import json
import math
import re
import sys
from pathlib import Path

OURS = {"shoal": "#0b6e4f", "shoal, column-major": "#5fb894", "shoal, interleaved": "#9ad4bb"}
RIVALS = ["#2e6fba", "#d1495b", "#edae49", "#7a5195", "#8c564b", "#5f6b6d", "#17a2b8", "#b5a642", "#e377c2", "#1d2d5c", "#f4713d", "#9aa5b1", "#6b1d2e", "#b19cd9"]
SCALARS = {"f32": "float", "f64": "double", "c64": "complex float", "c128": "complex double"}


def worked(entry):
    return entry["failure"] is None and "seconds" in entry


def reference(row):
    """shoal's entry, if it worked."""
    return next((e for e in row["entries"] if e["name"] == "shoal" and worked(e)), None)


def fastest_rival(row):
    rivals = [e for e in row["entries"] if e["name"] not in OURS and worked(e)]
    return min(rivals, key=lambda e: e["seconds"]["median"], default=None)


def colours(run):
    """One colour for each implementation, the same on every plot."""
    names = []
    for row in run["rows"]:
        for entry in row["entries"]:
            if entry["name"] not in names and entry["name"] not in OURS:
                names.append(entry["name"])
    return OURS | {name: RIVALS[i % len(RIVALS)] for i, name in enumerate(names)}


# --- plots ----------------------------------------------------------------------------------------


def number(x):
    """A short form of a number for an axis."""
    if x >= 1e4 or x < 1e-2:
        return f"1e{round(math.log10(x))}"
    return f"{x:g}"


def text(x, y, content, anchor="middle", size=11, **more):
    attributes = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in more.items())
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-family="system-ui,sans-serif" font-size="{size}"'
            f' fill="#3a4248"{attributes}>{html.escape(content)}</text>')


def stroke(x1, y1, x2, y2, colour, dashes=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-dasharray="{dashes}"/>'


WIDTH, HEIGHT = 490, 310


def plot(title, y_label, series, colour_of, x_label="n", shares=False, line=None):
    """An SVG with logarithmic axes. series: name -> [(x, y)]. shares: y is linear, in percent, from 0.
    line: (y, text) of a horizontal line."""
    series = {name: sorted(p for p in points if p[1] and p[1] > 0) for name, points in series.items()}
    series = {name: points for name, points in series.items() if points}
    if not series:
        return ""
    width, height, left, right, top, bottom = WIDTH, HEIGHT, 58, 24, 34, 42
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points] + ([line[0]] if line else [])
    x_low, x_high = math.log(xs[0]), math.log(xs[-1])
    if x_high == x_low:
        x_low, x_high = x_low - 0.5, x_high + 0.5
    if shares:
        step = next(x for x in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 50, 100) if max(ys) <= 6 * x or x == 100)
        low, high = 0, math.ceil(max(ys) / step) * step
        ticks = [i * step for i in range(round(high / step) + 1)]
    else:
        low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
        high = max(high, low + 1)
        ticks = [10.0**p for p in range(low, high + 1)]

    def px(x):
        return left + (math.log(x) - x_low) / (x_high - x_low) * (width - left - right)

    def py(y):
        return height - bottom - ((y if shares else math.log10(y)) - low) / (high - low) * (height - top - bottom)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">',
           text(left, 18, title, "start", 12.5, font_weight=600)]
    for y in ticks:
        out.append(stroke(left, py(y), width - right, py(y), "#e1e6e9"))
        out.append(text(left - 6, py(y) + 3.5, f"{100 * y:.0f} %" if shares else number(y), "end"))
    last = -100.0
    for x in xs:
        out.append(stroke(px(x), height - bottom, px(x), height - bottom + 4, "#889299"))
        if px(x) - last > 24:
            out.append(text(px(x), height - bottom + 16, number(x)))
            last = px(x)
    out.append(text((left + width - right) / 2, height - 6, x_label))
    middle = (top + height - bottom) / 2
    out.append(text(12, middle, y_label, transform=f"rotate(-90 12 {middle})"))
    if line:
        y = py(line[0])
        out.append(stroke(left, y, width - right, y, "#a4232f", "5 4"))
        label = text(width - right - 4, y + 13 if y < top + 20 else y - 5, line[1], "end", stroke="#fff", stroke_width=3, paint_order="stroke")
    for name, points in sorted(series.items(), key=lambda item: item[0] == "shoal"): # shoal on top
        colour = colour_of[name]
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{3 if name == "shoal" else 1.6}"/>')
        for x, y in points:
            out.append(f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="2.6" fill="{colour}">'
                       f"<title>{html.escape(name)}, {x:g}: {y:.3g}</title></circle>")
    if line:
        out.append(label) # over the curves
    out.append("</svg>")
    return "".join(out)


def legend(names, colour_of):
    return '<p class="legend">' + " ".join(
        f'<span><i style="background:{colour_of[name]}"></i>{html.escape(name)}</span>' for name in names) + "</p>"


class Plots:
    """Plots that share a legend: on the page, or as one picture."""

    def __init__(self, colour_of):
        self.colour_of, self.pictures, self.names = colour_of, [], []

    def add(self, title, y_label, series, **more):
        picture = plot(title, y_label, series, self.colour_of, **more)
        if picture:
            self.pictures.append(picture)
            self.names += [name for name in series if name not in self.names]

    def on_page(self):
        return f'<div class="plots">{"".join(self.pictures)}</div>' + legend(self.names, self.colour_of) if self.pictures else ""

    def picture(self):
        """White behind, so that it reads on dark pages too."""
        rows = math.ceil(len(self.pictures) / 2)
        out, x, y = [], 14, rows * HEIGHT + 18
        for name in self.names:
            wide = 36 + 6.6 * len(name)
            if x + wide > 2 * WIDTH:
                x, y = 14, y + 20
            out += [f'<rect x="{x}" y="{y - 7}" width="16" height="5" fill="{self.colour_of[name]}"/>', text(x + 21, y, name, "start")]
            x += wide
        for i, picture in enumerate(self.pictures):
            out.append(picture.replace("<svg ", f'<svg x="{i % 2 * WIDTH}" y="{i // 2 * HEIGHT}" width="{WIDTH}" height="{HEIGHT}" ', 1))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {y + 14}" width="{2 * WIDTH}" height="{y + 14}">'
                f'<rect width="100%" height="100%" rx="6" fill="#fff"/>{"".join(out)}</svg>\n')


def series_of(rows, x_of, y_of):
    """name -> points, of the entries that worked."""
    series = {}
    for row in rows:
        for entry in row["entries"]:
            if worked(entry):
                y = y_of(row, entry)
                if y is not None:
                    series.setdefault(entry["name"], []).append((x_of(row), y))
    return series


def square_rows(run, operation, scalar):
    return [row for row in run["rows"]
            if row["operation"] == operation and row["scalar"] == scalar and row["m"] == row["n"] == row.get("k", row["n"])
            and row["vectors"] and row["mode"] == "device" and row["condition"] == 1
            and (operation == "svd" or row["batch"] > 1)]


def headline(run):
    """How the fastest rival compares with shoal, over n."""
    plots = Plots({"float": OURS["shoal"], "double": RIVALS[0]})
    for operation, what in (("svd", "svd with vectors"), ("gemm", "gemm")):
        series = {}
        for scalar in ("f32", "f64"):
            for row in square_rows(run, operation, scalar):
                ours, best = reference(row), fastest_rival(row)
                if ours and best:
                    series.setdefault(SCALARS[scalar], []).append(
                        (row["n"], best["seconds"]["median"] / ours["seconds"]["median"]))
        plots.add(f"{what}: the fastest rival's time over shoal's", "above 1 shoal is faster", series,
                  line=(1, "as fast as the fastest rival"))
    return plots


def time_each(row, entry):
    return entry["seconds"]["median"] / row["batch"] / row["calls"] * 1e9


def plots_over_n(run, operation, what, colour_of):
    plots = Plots(colour_of)
    for scalar in ("f32", "f64"):
        rows = square_rows(run, operation, scalar)
        if len({row["n"] for row in rows}) < 2:
            continue
        plots.add(f"{what}, {SCALARS[scalar]}: time of a matrix", "nanoseconds",
                  series_of(rows, lambda row: row["n"], time_each))
        plots.add(f"{what}, {SCALARS[scalar]}: share of a copy's rate", "share of the copy",
                  series_of(rows, lambda row: row["n"], lambda row, entry: entry["copy_fraction"]), shares=True)
    return plots


def accuracy_over_n(run, colour_of):
    plots = Plots(colour_of)

    def worst(row, entry):
        a = entry["accuracy"] or {}
        values = [a.get(k) for k in ("residual", "orthogonality_u", "orthogonality_v")]
        return None if None in values else max(values)

    for scalar in ("f32", "f64"):
        rows = square_rows(run, "svd", scalar)
        if len(rows) > 1:
            plots.add(f"svd, {SCALARS[scalar]}: worst of residual and orthogonality", "units of u max(m, n)",
                      series_of(rows, lambda row: row["n"], worst), line=(5, "what shoal promises"))
        rows = square_rows(run, "gemm", scalar)
        if len(rows) > 1:
            plots.add(f"gemm, {SCALARS[scalar]}: largest error of an element", "share of gamma",
                      series_of(rows, lambda row: row["n"], lambda row, e: e["accuracy"].get("gemm_error")),
                      line=(1, "what shoal promises"))
    return plots


def accuracy_over_condition(run, colour_of):
    plots = Plots(colour_of)
    for scalar in ("f32", "f64"):
        for shape in ((15, 3), (16, 16)):
            rows = {}
            for row in run["rows"]: # the first of each condition
                if (row["operation"], row["scalar"], row["m"], row["n"]) == ("svd", scalar, *shape) and row["vectors"] and row["mode"] == "device":
                    rows.setdefault(row["condition"], row)
            if len(rows) > 1:
                plots.add(f"svd {shape[0]}x{shape[1]}, {SCALARS[scalar]}: error of a value relative to itself", "units of u max(m, n)",
                          series_of(rows.values(), lambda row: row["condition"], lambda row, e: e["accuracy"].get("values_relative")),
                          x_label="condition number (graded columns)")
    return plots


# --- tables ---------------------------------------------------------------------------------------


def with_prefix(x, unit):
    for prefix in ("", "k", "M", "G"):
        if x < 999.5:
            break
        x /= 1000
    else:
        prefix = "T"
    return f"{x:.3g} {prefix}{unit}" if x >= 1 else f"{x:.2g} {unit}"


def as_time(seconds):
    for unit in ("s", "ms", "µs", "ns"):
        if seconds >= 1 or unit == "ns":
            return f"{seconds:.3g} {unit}"
        seconds *= 1000


def units(x):
    return "" if x is None else f"{x:.2f}" if x < 1000 else f"{x:.0e}"


def shape_of(row):
    if row["operation"] == "gemm" and not row["m"] == row["n"] == row["k"]:
        return f'{row["m"]}x{row["k"]} by {row["k"]}x{row["n"]}'
    return f'{row["m"]}x{row["n"]}'


def describe(row, scalar=True):
    parts = [row["operation"]]
    if row["operation"] == "svd" and (scalar or not row["vectors"]):
        parts.append("thin" if row["vectors"] else "values only")
    if scalar:
        parts.append(SCALARS[row["scalar"]])
    parts += [shape_of(row), f'batch {row["batch"]:,}']
    if row["condition"] != 1:
        parts.append(f'columns graded to {row["condition"]:.0e}')
    if row["mode"] != "device":
        parts.append({"five": "five in a row", "host-to-host": "from the host's memory and back"}[row["mode"]])
    return ", ".join(parts)


def entry_cells(row, entry):
    name = f'<td title="{html.escape(entry["version"])}; {entry["layout"]}">{html.escape(entry["name"])}</td>'
    if not worked(entry):
        return name + f'<td colspan="6" class="failed">failed: {html.escape(entry["failure"] or "not measured")}</td>' + accuracy_cells(row, entry)
    s = entry["seconds"]
    spread = 50 * (s["high"] - s["low"]) / s["median"]
    part = "" if entry["measured_matrices"] == row["batch"] else f'<br><small>from {entry["measured_matrices"]:,}</small>'
    flops = f'<td>{with_prefix(entry["gflop_per_s"] * 1e9, "FLOP/s")}</td>'
    ratio = f'{entry["time_over_shoal"]:.2f}' if "time_over_shoal" in entry else ""
    return (name + f'<td>{as_time(s["median"])} <small>±{spread:.0f} %</small>{part}</td>'
            f'<td>{with_prefix(entry["matrices_per_s"], "/s")}</td><td>{with_prefix(entry["gb_per_s"] * 1e9, "B/s")}</td>'
            f'<td>{100 * entry["copy_fraction"]:.1f} %</td>{flops}<td>{ratio}</td>' + accuracy_cells(row, entry))


def accuracy_cells(row, entry):
    a = entry["accuracy"] or {}
    keys = ("gemm_error",) if row["operation"] == "gemm" else ("residual", "orthogonality_u", "orthogonality_v", "values")
    cells = "".join(f"<td>{units(a.get(key))}</td>" for key in keys)
    return cells + f'<td class="text">{html.escape(entry["tolerance"])}</td>'


def heading(row):
    names = ["", "time", "matrices", "bytes", "of copy", "arithmetic", "time / shoal's"]
    names += ["error / γ"] if row["operation"] == "gemm" else ["residual", "U", "V", "values"]
    return "<tr>" + "".join(f"<th>{name}</th>" for name in names) + '<th class="text">tolerance</th></tr>'


def details(run):
    out = []
    for row in run["rows"]:
        body = "".join(f'<tr class="{"shoal" if e["name"] == "shoal" else ""}">{entry_cells(row, e)}</tr>' for e in row["entries"])
        out.append(f'<h3 id="{html.escape(row["name"])}">{html.escape(describe(row))}</h3>'
                   f'<p class="how"><code>shoal_bench{" --full" if run["scope"] == "full" else ""} --filter \'^{html.escape(row["name"])}$\'</code></p>'
                   f'<div class="wide"><table>{heading(row)}{body}</table></div>')
    return "".join(out)


def seed_rows(run):
    """What shoal was asked for first: 8,000 of 15x3, and large products one after another."""
    return [row for row in run["rows"] if row["scalar"] in ("f32", "f64") and row["condition"] == 1
            and (row["operation"] == "gemm" and row["batch"] == 1 or (row["operation"], row["m"], row["n"], row["batch"], row["vectors"]) == ("svd", 15, 3, 8000, True))]


def share_of_copy(row):
    return f'{100 * reference(row)["copy_fraction"]:.0f} %' if reference(row) else "-"


def ratio(row):
    """The fastest rival's time over shoal's; None where one of them is missing."""
    ours, best = reference(row), fastest_rival(row)
    return best["seconds"]["median"] / ours["seconds"]["median"] if ours and best else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def times(x):
    return f"{x:.3g}" if x < 999.5 else f"{x:,.0f}"


def verdict(run):
    """A sentence for each operation: on how many shapes shoal is ahead of everyone, by how much, and where it is not."""
    sentences = []
    for operation, what in (("svd", "Decompositions"), ("gemm", "Products")):
        found = sorted((ratio(row), row["name"]) for row in summary_rows(run) if row["operation"] == operation and ratio(row))
        if not found:
            continue
        link = lambda pair: f'<a href="#{html.escape(pair[1])}">{html.escape(pair[1])}</a>'
        ahead = sum(x >= 1 for x, _ in found)
        sentences.append(f"<li><b>{what}: shoal is faster than every rival on {ahead} of {len(found)} shapes</b>. Time of the fastest rival over shoal's: "
                         f"{times(geometric_mean([x for x, _ in found]))} in the geometric mean, "
                         f"from {times(found[0][0])} ({link(found[0])}) to {times(found[-1][0])} ({link(found[-1])}).</li>")
    return f'<ul>{"".join(sentences)}</ul>'


SHORT = (2, 3, 4, 8, 16, 32, 64)


def short_rows(run):
    """The rows of the first page: shoal's first cases, and some sizes of each operation."""
    rows = seed_rows(run)
    for operation in ("svd", "gemm"):
        for scalar in ("f32", "f64"):
            rows += [row for row in square_rows(run, operation, scalar) if row["n"] in SHORT]
    return rows


def by_shape(run, rows):
    """[(what it is, scalar -> row)]: float and double of a shape together."""
    seeds, shapes = {row["name"] for row in seed_rows(run)}, {}
    for row in rows:
        seed = row["name"] in seeds
        key = re.sub("/f(32|64)/", "/", row["name"])
        if not seed: # the batch differs with the scalar
            key = re.sub(r"/\d+(?=/|$)", "", key)
        name = describe(row, scalar=False) if seed else f'{row["operation"]}, {shape_of(row)}'
        shapes.setdefault(key, (name, {}))[1][row["scalar"]] = row
    return list(shapes.values())


def in_short(run):
    """The first table: a line a shape."""
    lines = []
    for name, rows in by_shape(run, short_rows(run) or summary_rows(run)):
        line = f'<td class="wrapped">{html.escape(name)}</td>'
        for scalar in ("f32", "f64"):
            row = rows.get(scalar)
            if not row:
                line += "<td></td>" * 4
                continue
            best, x = fastest_rival(row), ratio(row)
            line += (f'<td class="group"><a href="#{html.escape(row["name"])}">{rate(row, reference(row))}</a></td><td>{share_of_copy(row)}</td>'
                     f'<td class="wrapped">{html.escape(best["name"].replace(", loop", "")) if best else "none"}</td>'
                     + (f'<td class="{"faster" if x >= 1 else "slower"}">{times(x)}</td>' if x else "<td></td>"))
        lines.append(f"<tr>{line}</tr>")
    head = '<th class="group">shoal</th><th>of copy</th><th>fastest rival</th><th class="wrapped">its time / shoal\'s</th>'
    return ('<table><tr><th></th><th class="group middle" colspan="4">float</th><th class="group middle" colspan="4">double</th></tr>'
            f'<tr><th></th>{head * 2}</tr>{"".join(lines)}</table>')


def everyone(run):
    """A line for each implementation: on how many rows it worked, how fast, and how right it was at worst."""
    names = list(dict.fromkeys(e["name"] for row in run["rows"] for e in row["entries"]))
    lines = []
    for name in names:
        entries = [e for row in run["rows"] for e in row["entries"] if e["name"] == name]
        found = [e["time_over_shoal"] for e in entries if worked(e) and "time_over_shoal" in e]
        cells = [html.escape(name), str(sum(map(worked, entries))), str(sum(not worked(e) for e in entries) or ""),
                 times(geometric_mean(found)) if found else ""]
        for keys in (("residual",), ("orthogonality_u", "orthogonality_v"), ("values",), ("gemm_error",)):
            measured = [x for e in entries for x in [(e["accuracy"] or {}).get(key) for key in keys] if x is not None]
            cells.append(units(max(measured, default=None)))
        lines.append(f'<tr class="{"shoal" if name == "shoal" else ""}">' + "".join(f"<td>{c}</td>" for c in cells) + "</tr>")
    return ("<table><tr><th></th><th>rows that worked</th><th>failed</th><th>time / shoal's, mean</th><th>residual</th><th>U, V</th><th>values</th><th>error / γ</th></tr>"
            f'{"".join(lines)}</table>')


def summary_rows(run):
    return [row for row in run["rows"] if row["condition"] == 1 and row["scalar"] in ("f32", "f64")]


def summary(rows):
    """A line a row: shoal, the fastest rival that worked, and how far apart they are."""
    lines = []
    for row in rows:
        if not any(e["name"] == "shoal" for e in row["entries"]):
            continue
        ours, best = reference(row), fastest_rival(row)
        failed = ", ".join(e["name"] for e in row["entries"] if not worked(e))
        cells = [f'<a href="#{html.escape(row["name"])}">{html.escape(describe(row))}</a>',
                 as_time(ours["seconds"]["median"]) if ours else "failed",
                 f'{100 * ours["copy_fraction"]:.0f} %' if ours else "",
                 html.escape(best["name"]) if best else "", as_time(best["seconds"]["median"]) if best else ""]
        x = ratio(row)
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells)
                     + (f'<td class="{"faster" if x >= 1 else "slower"}">{times(x)}</td>' if x else "<td></td>")
                     + f'<td class="text wrapped"><small>{html.escape(failed)}</small></td></tr>')
    return ("<table><tr><th></th><th>shoal</th><th>of copy</th><th>fastest rival</th><th>its time</th><th>its time / shoal's</th>"
            f'<th class="text">failed</th></tr>{"".join(lines)}</table>')


def failures(run):
    """Who failed, why, and on how many rows."""
    rows_of = {}
    for row in run["rows"]:
        for entry in row["entries"]:
            if not worked(entry):
                reason = re.sub(r"\d+ (matrices|NaN|GB|MB)", r"some \1", entry["failure"] or "not measured")
                rows_of.setdefault((entry["name"], reason), []).append(row["name"])
    if not rows_of:
        return "<p>Nobody failed.</p>"
    body = "".join(f'<tr><td>{html.escape(name)}</td><td class="text wrapped">{html.escape(reason)}</td><td>{len(rows)}</td>'
                   f'<td class="text"><a href="#{html.escape(rows[0])}">{html.escape(rows[0])}</a></td></tr>'
                   for (name, reason), rows in sorted(rows_of.items()))
    return f'<div class="wide"><table><tr><th></th><th class="text">why</th><th>rows</th><th class="text">the first of them</th></tr>{body}</table></div>'


STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:1120px;margin:2em auto;padding:0 1em;color:#1d2328;background:#fff}
h1{margin-bottom:.1em} h2{margin-top:2em;border-bottom:1px solid #ccd3d8} h3{margin:1.6em 0 .2em;font-size:1em}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums} .wide{overflow-x:auto}
td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #e6eaed;white-space:nowrap} td:first-child,th:first-child{text-align:left}
th{font-weight:600;color:#55606a} tr.shoal td{background:#eef6f2;font-weight:600} .text{text-align:left!important} .failed{color:#a4232f;text-align:left;white-space:normal}
.faster{color:#0b6e4f;font-weight:600} .slower{color:#a4232f;font-weight:600} small{color:#6b757d;font-weight:400} a{color:inherit}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(430px,1fr));gap:10px} svg{width:100%;height:auto} .wrapped{white-space:normal}
.legend span{margin-right:1.3em;white-space:nowrap} .legend i{display:inline-block;width:1.1em;height:.35em;margin-right:.4em;vertical-align:middle}
.group{border-left:2px solid #ccd3d8} .middle{text-align:center!important} li{margin:.3em 0}
.how{margin:.1em 0 .3em} code{font-size:12px;color:#55606a}
"""


def facts_of(run):
    machine = run["machine"]
    facts = [("date", run["date"]), ("load of the host before the run", f'{run["load"]:.1f}'), ("shoal", run["shoal"]), ("compiler", run["compiler"]),
             ("command", run["command"]), ("device", machine["device"]), ("execution space", f'{run["space"]}, concurrency {run["threads"]}')]
    facts += sorted((machine.get("details") or {}).items())
    return facts + [("a copy of large arrays", f'{run["copy_gb_per_s"]:,.1f} GB/s, read and written together')]


def versions_of(run):
    """name -> (version, tolerance) of everybody; the tolerance of decompositions where there is one."""
    versions = {}
    for row in sorted(run["rows"], key=lambda row: row["operation"]):
        for entry in row["entries"]:
            versions[entry["name"]] = (entry["version"], entry["tolerance"])
    return versions


def page(run):
    colour_of = colours(run)
    machine = run["machine"]
    facts, versions = facts_of(run), versions_of(run)
    facts_table = "".join(f"<tr><td>{html.escape(k)}</td><td>{html.escape(str(v))}</td></tr>" for k, v in facts)
    version_table = "".join(f"<tr><td>{html.escape(k)}</td><td>{html.escape(v)}</td><td>{html.escape(t)}</td></tr>"
                            for k, (v, t) in versions.items())
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>shoal beside its rivals</title><style>{STYLE}</style></head><body>
<h1>shoal beside its rivals</h1>
<p>shoal {run["shoal"]}, {html.escape(machine["device"])}, {run["date"]}. Everyone works on the same matrices, in the same run, in the
layout that suits them best. Each time is the median of a call; “of copy” is the rate at which each matrix's bytes move, every one
counted once, over the rate of a plain copy: at 100 % the memory is the limit (reading is cheaper than writing, so that products may exceed it).</p>
<h2>In short</h2>
{verdict(run)}
{headline(run).on_page()}
<div class="wide">{in_short(run)}</div>
<h2>Everyone</h2>
<p>On how many rows each worked, its time over shoal's (geometric mean), and its largest errors on all rows, those with columns graded over many
powers of ten included: in units of u max(m, n), of which shoal promises 5, and of γ, of which it promises 1 (the last section says what they are).
Who <a href="#failures">failed, and why</a>.</p>
<div class="wide">{everyone(run)}</div>
<h2>Decompositions</h2>{plots_over_n(run, "svd", "svd with vectors", colour_of).on_page()}
<h2>Products</h2>{plots_over_n(run, "gemm", "gemm", colour_of).on_page()}
<h2>Accuracy</h2>{accuracy_over_condition(run, colour_of).on_page()}{accuracy_over_n(run, colour_of).on_page()}
<h2>Every shape in a line</h2><div class="wide">{summary(summary_rows(run))}</div>
<h2 id="failures">Failures</h2>{failures(run)}
<h2>Machine and versions</h2><div class="wide"><table>{facts_table}</table></div><p></p>
<div class="wide"><table><tr><th></th><th>version</th><th>tolerance</th></tr>{version_table}</table></div>
<h2>Every row</h2>
<p>residual: ‖A − UΣVᴴ‖ / ‖A‖; U, V: distance from orthonormal; values: largest error of a singular value over the largest value, against a
computation in extended precision; all in units of u max(m, n), of which shoal promises 5, the worst of the sampled matrices. γ: the
largest error of an element of a product over its bound, of which shoal promises 1. ± is half the distance of the quartiles.
A failure is shown with its reason. The command below a heading measures that row again.</p>
{details(run)}
</body></html>
"""


def merged(files):
    """The rows of several runs on one machine under the heading of the first, without the choice of rows."""
    runs = []
    for file in files:
        with open(file, encoding="utf-8") as source:
            runs.append(json.load(source))
    if len(runs) > 1:
        runs[0]["command"] = " and ".join(dict.fromkeys(whole(run["command"]) for run in runs))
    runs[0]["rows"] = [row for run in runs for row in run["rows"]]
    return runs[0]


def whole(command):
    """The command for all rows."""
    return re.sub(r" --(filter|json)[ =]('[^']*'|\S+)", "", command)


# --- kept measurements ----------------------------------------------------------------------------


def pictures(run):
    """What is kept beside the numbers: [(suffix, plots, what they show, the rows that they are made of)]."""
    colour_of = colours(run)
    all_pictures = [
        ("ratio", headline(run), "The fastest rival's time over shoal's", r"^(svd/thin|gemm)/f(32|64)/(\d+)x\3(x\3)?/\d{2,}$"),
        ("svd", plots_over_n(run, "svd", "svd with vectors", colour_of), "Decompositions: time of a matrix, and share of the copy's rate, over n",
         r"^svd/thin/f(32|64)/(\d+)x\2/\d+$"),
        ("gemm", plots_over_n(run, "gemm", "gemm", colour_of), "Products: time of a matrix, and share of the copy's rate, over n",
         r"^gemm/f(32|64)/(\d+)x\2x\2/\d{2,}$"),
        ("accuracy", accuracy_over_condition(run, colour_of), "Error of a singular value relative to itself over the condition number",
         r"^svd/thin/f(32|64)/(15x3|16x16)/\d+(/cond.*)?$")]
    return [p for p in all_pictures if p[1].pictures]


def again(run, rows):
    """The command that measures the rows again and draws their plots."""
    options = whole(run["command"]).removeprefix("shoal_bench")
    if not run["machine"]["is_gpu"]:
        return f"scripts/dev bench{options} --filter '{rows}'"
    peers = {"NumPy", "PyTorch", "CuPy"} & {e["name"] for row in run["rows"] for e in row["entries"]}
    return " && ".join([f"shoal_bench{options} --filter '{rows}' --json bench.json"] + ["benchmarks/peers.py bench.json"] * bool(peers)
                       + ["benchmarks/report.py bench.json bench.html"])


def figures(run, path):
    """Markdown: each picture, and the command that makes it again."""
    out = []
    for suffix, _, what, rows in pictures(run):
        out += [f"![{what}]({path}-{suffix}.svg)", "", f"{what}. Again: `{again(run, rows)}`", ""]
    return out


def cells(rows, value):
    """One value for each scalar: float / double."""
    return " / ".join(value(rows[s]) if s in rows else "-" for s in ("f32", "f64"))


def rate(row, entry):
    if not entry:
        return "failed"
    if row["operation"] == "svd":
        return with_prefix(entry["matrices_per_s"], "/s")
    return f'{entry["gb_per_s"]:,.3g} GB/s' if row["batch"] > 1 else with_prefix(entry["gflop_per_s"] * 1e9, "FLOP/s")


def rival_rate(row):
    best = fastest_rival(row)
    return f'{rate(row, best)} ({best["name"].replace(", loop", "")})' if best else "none"


def short_table(run):
    """Markdown: shoal and the fastest rival, float / double."""
    lines = ["| float / double | shoal | share of the copy | fastest rival | its time over shoal's |", "|---|---|---|---|---|"]
    for name, rows in by_shape(run, short_rows(run)):
        columns = (lambda r: rate(r, reference(r)), share_of_copy, rival_rate, lambda r: times(ratio(r)) if ratio(r) else "-")
        lines.append(f"| {name} | " + " | ".join(cells(rows, value) for value in columns) + " |")
    return "\n".join(lines)


def heading_of(run):
    return f'{run["machine"]["device"]}, concurrency {run["threads"]}, {run["date"]}; a copy moves {run["copy_gb_per_s"]:,.1f} GB/s'


def table(head, rows):
    line = lambda cells: "| " + " | ".join(str(c).replace("|", "/") for c in cells) + " |"
    return "\n".join([line(head), "|---" * len(head) + "|"] + [line(r) for r in rows])


def describe_kept(folder):
    """The README of the folder, from everything that is kept there."""
    out = ["# Kept measurements", "", "Written by `benchmarks/report.py --keep`; nothing here is typed by hand. Each row of a `.json` is measured again by",
           "`shoal_bench --filter '^<its name>$'`; `benchmarks/report.py <file>.json page.html` makes the whole page of it.", ""]
    for file in sorted(folder.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        out += [f"## {file.stem}", "", table(("", ""), facts_of(run)), "", short_table(run), "",
                table(("", "version", "tolerance"), [(k, v, t) for k, (v, t) in versions_of(run).items()]), ""]
        out += figures(run, file.stem)
    return "\n".join(out)


def show_in_readme(run, name, readme, folder):
    """Puts the table and the plots between the README's markers for CPUs or for GPUs."""
    kind = "gpu" if run["machine"]["is_gpu"] else "cpu"
    link = folder.resolve().relative_to(readme.resolve().parent).as_posix()
    shown = [f"{heading_of(run)}. Random matrices, row-major; rivals in their best layout, in the same run", f"(`{run['command']}`; [details and versions]({link}/README.md)).", "",
             short_table(run), ""] + figures(run, f"{link}/{name}")
    old = readme.read_text(encoding="utf-8")
    new, count = re.subn(f"(<!-- measured: {kind} -->\n).*?(<!-- end: {kind} -->)", lambda m: m[1] + "\n".join(shown) + m[2], old, flags=re.S)
    if count != 1:
        sys.exit(f"{readme} has no lines '<!-- measured: {kind} -->' and '<!-- end: {kind} -->'")
    readme.write_text(new, encoding="utf-8")


def keep(run, name, folder, readme):
    folder.mkdir(parents=True, exist_ok=True)
    # A row a line: differences of kept files can be read.
    rows = ",\n".join(json.dumps(row) for row in run["rows"])
    head = json.dumps({k: v for k, v in run.items() if k != "rows"}, indent=1)[:-2]
    (folder / f"{name}.json").write_text(f'{head},\n "rows": [\n{rows}\n]}}\n', encoding="utf-8")
    for suffix, plots, _, _ in pictures(run):
        (folder / f"{name}-{suffix}.svg").write_text(plots.picture(), encoding="utf-8")
    (folder / "README.md").write_text(describe_kept(folder), encoding="utf-8")
    show_in_readme(run, name, readme, folder)


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="bench.json", help="what shoal_bench --json wrote; several are put together")
    parser.add_argument("page", help="the HTML file to write")
    parser.add_argument("--keep", metavar="NAME", help="keep the measurement under this name, and show it in the README")
    parser.add_argument("--folder", type=Path, default=here / "results", help="where it is kept")
    parser.add_argument("--readme", type=Path, default=here.parent / "README.md", help="where it is shown")
    options = parser.parse_args()
    run = merged(options.files)
    with open(options.page, "w", encoding="utf-8") as target:
        target.write(page(run))
    if options.keep:
        keep(run, options.keep, options.folder, options.readme)


if __name__ == "__main__":
    main()
