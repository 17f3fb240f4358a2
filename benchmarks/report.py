#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes one HTML page of what shoal_bench wrote: report.py bench.json bench.html

The page needs no network: its plots are SVG drawn here, with Python's own library alone.
"""

import html
import json
import math
import sys

COLOURS = ["#0b6e4f", "#d1495b", "#2e6fba", "#edae49", "#7a5195", "#8c564b", "#5f6b6d", "#17a2b8"]
SCALARS = {"f32": "float", "f64": "double", "c64": "complex float", "c128": "complex double"}


def worked(entry):
    return entry["failure"] is None and "seconds" in entry


def colours(run):
    """One colour for each implementation, the same on every plot."""
    names = []
    for row in run["rows"]:
        for entry in row["entries"]:
            if entry["name"] not in names:
                names.append(entry["name"])
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}


# --- plots ----------------------------------------------------------------------------------------


def decades(low, high):
    """The powers of ten from below low to above high."""
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


def number(x):
    """A short form of a number for an axis."""
    if x >= 1e4 or x < 1e-2:
        return f"1e{round(math.log10(x))}"
    return f"{x:g}"


def plot(title, y_label, series, colour_of, x_label="n", x_ticks=None, y_linear_top=None, line=None):
    """An SVG with logarithmic axes. series: name -> [(x, y)]. y_linear_top: y from 0 to it, linear.
    line: (y, text) of a horizontal line."""
    series = {name: sorted(p for p in points if p[1] and p[1] > 0) for name, points in series.items()}
    series = {name: points for name, points in series.items() if points}
    if not series:
        return ""
    width, height, left, right, top, bottom = 470, 310, 58, 12, 30, 40
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points] + ([line[0]] if line else [])
    x_low, x_high = math.log(min(xs)), math.log(max(xs))
    if x_high == x_low:
        x_low, x_high = x_low - 0.5, x_high + 0.5

    def px(x):
        return left + (math.log(x) - x_low) / (x_high - x_low) * (width - left - right)

    if y_linear_top:
        top_y = max(y_linear_top, max(ys) * 1.02)
        ticks = [top_y * i / 5 for i in range(6)] if top_y > y_linear_top else [y_linear_top * i / 5 for i in range(6)]
        label = lambda y: f"{100 * y:.0f} %"

        def py(y):
            return height - bottom - y / top_y * (height - top - bottom)
    else:
        powers = decades(min(ys), max(ys))
        low, high = powers[0], max(powers[-1], powers[0] + 1)
        ticks = [10.0**p for p in range(low, high + 1)]
        label = number

        def py(y):
            return height - bottom - (math.log10(y) - low) / (high - low) * (height - top - bottom)

    out = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">']
    out.append(f'<text x="{left}" y="18" class="title">{html.escape(title)}</text>')
    for y in ticks:
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{py(y):.1f}" y2="{py(y):.1f}" class="grid"/>')
        out.append(f'<text x="{left - 5}" y="{py(y) + 3.5:.1f}" text-anchor="end">{label(y)}</text>')
    last = -100.0
    for x in x_ticks or sorted(set(xs)):
        out.append(f'<line x1="{px(x):.1f}" x2="{px(x):.1f}" y1="{height - bottom}" y2="{height - bottom + 4}" class="axis"/>')
        if px(x) - last > 22:
            out.append(f'<text x="{px(x):.1f}" y="{height - bottom + 15}" text-anchor="middle">{number(x)}</text>')
            last = px(x)
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 6}" text-anchor="middle">{html.escape(x_label)}</text>')
    out.append(f'<text transform="translate(12 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">{html.escape(y_label)}</text>')
    if line:
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{py(line[0]):.1f}" y2="{py(line[0]):.1f}" class="limit"/>')
        out.append(f'<text x="{width - right - 4}" y="{py(line[0]) - 4:.1f}" text-anchor="end">{html.escape(line[1])}</text>')
    for name, points in series.items():
        colour = colour_of[name]
        thick = 3 if name == "shoal" else 1.5
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>')
        for x, y in points:
            out.append(f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="2.6" fill="{colour}"><title>{html.escape(name)}, {x:g}: {y:.3g}</title></circle>')
    out.append("</svg>")
    return "".join(out)


def legend(names, colour_of):
    return '<p class="legend">' + " ".join(
        f'<span><i style="background:{colour_of[name]}"></i>{html.escape(name)}</span>' for name in names) + "</p>"


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


def time_each(row, entry):
    return entry["seconds"]["median"] / row["batch"] / row["calls"] * 1e9


def plots_over_n(run, operation, what, colour_of):
    out, names = [], []
    for scalar in ("f32", "f64"):
        rows = square_rows(run, operation, scalar)
        if len({row["n"] for row in rows}) < 2:
            continue
        series = series_of(rows, lambda row: row["n"], time_each)
        names += [name for name in series if name not in names]
        out.append(plot(f"{what}, {SCALARS[scalar]}: time of a matrix", "nanoseconds", series, colour_of))
        series = series_of(rows, lambda row: row["n"], lambda row, entry: entry["copy_fraction"])
        out.append(plot(f"{what}, {SCALARS[scalar]}: share of a copy's rate", "share of the copy", series, colour_of, y_linear_top=1))
    return f'<div class="plots">{"".join(out)}</div>' + legend(names, colour_of) if out else ""


def accuracy_plots(run, colour_of):
    out, names = [], []

    def add(title, label, series, **more):
        picture = plot(title, label, series, colour_of, **more)
        if picture:
            out.append(picture)
            names.extend(name for name in series if name not in names)

    def worst(row, entry):
        a = entry["accuracy"] or {}
        values = [a.get(k) for k in ("residual", "orthogonality_u", "orthogonality_v")]
        return None if None in values else max(values)

    for scalar in ("f32", "f64"):
        rows = square_rows(run, "svd", scalar)
        if len(rows) > 1:
            add(f"svd, {SCALARS[scalar]}: worst of residual and orthogonality", "units of u max(m, n)",
                series_of(rows, lambda row: row["n"], worst), line=(5, "what shoal promises"))
        rows = square_rows(run, "gemm", scalar)
        if len(rows) > 1:
            add(f"gemm, {SCALARS[scalar]}: largest error of an element", "share of gamma",
                series_of(rows, lambda row: row["n"], lambda row, e: e["accuracy"].get("gemm_error")), line=(1, "what shoal promises"))
    for scalar in ("f32", "f64"):
        for shape in ((15, 3), (16, 16)):
            rows = {}
            for row in run["rows"]: # the first of each condition
                if (row["operation"], row["scalar"], row["m"], row["n"]) == ("svd", scalar, *shape) and row["vectors"] and row["mode"] == "device":
                    rows.setdefault(row["condition"], row)
            if len(rows) > 1:
                add(f"svd {shape[0]}x{shape[1]}, {SCALARS[scalar]}: error of a value relative to itself", "units of u max(m, n)",
                    series_of(rows.values(), lambda row: row["condition"], lambda row, e: e["accuracy"].get("values_relative")),
                    x_label="condition number (graded columns)")
    return f'<div class="plots">{"".join(out)}</div>' + legend(names, colour_of) if out else ""


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
    if row["operation"] == "gemm":
        return f'{row["m"]}x{row["k"]} by {row["k"]}x{row["n"]}'
    return f'{row["m"]}x{row["n"]}'


def describe(row):
    parts = [row["operation"], SCALARS[row["scalar"]], shape_of(row), f'batch {row["batch"]:,}']
    if row["operation"] == "svd":
        parts.insert(1, "thin" if row["vectors"] else "values only")
    if row["condition"] != 1:
        parts.append(f'columns graded to {row["condition"]:.0e}')
    if row["mode"] != "device":
        parts.append({"five": "five in a row", "host-to-host": "from the host's memory and back"}[row["mode"]])
    return ", ".join(parts)


def entry_cells(row, entry):
    name = f'<td title="{html.escape(entry["version"])}; {entry["layout"]}">{html.escape(entry["name"])}</td>'
    if not worked(entry):
        return name + f'<td colspan="6" class="failed">failed: {html.escape(entry["failure"] or "not measured")}</td>' + accuracy_cells(entry)
    s = entry["seconds"]
    spread = 50 * (s["high"] - s["low"]) / s["median"]
    part = "" if entry["measured_matrices"] == row["batch"] else f'<br><small>from {entry["measured_matrices"]:,}</small>'
    flops = with_prefix(entry["gflop_per_s"] * 1e9, "FLOP/s") if "gflop_per_s" in entry else ""
    ratio = f'{entry["time_over_shoal"]:.2f}' if "time_over_shoal" in entry else ""
    return (name + f'<td>{as_time(s["median"])} <small>±{spread:.0f} %</small>{part}</td>'
            f'<td>{with_prefix(entry["matrices_per_s"], "/s")}</td><td>{with_prefix(entry["gb_per_s"] * 1e9, "B/s")}</td>'
            f'<td>{100 * entry["copy_fraction"]:.1f} %</td><td>{flops}</td><td>{ratio}</td>' + accuracy_cells(entry))


def accuracy_cells(entry):
    a = entry["accuracy"] or {}
    if "gemm_error" in a:
        return f'<td colspan="4">{units(a["gemm_error"])} γ</td><td>{html.escape(entry["tolerance"])}</td>'
    cells = "".join(f"<td>{units(a.get(k))}</td>" for k in ("residual", "orthogonality_u", "orthogonality_v", "values"))
    return cells + f'<td>{html.escape(entry["tolerance"])}</td>'


HEAD = ("<tr><th></th><th>time</th><th>matrices</th><th>bytes</th><th>of copy</th><th>arithmetic</th><th>time / shoal's</th>"
        "<th>residual</th><th>U</th><th>V</th><th>values</th><th>tolerance</th></tr>")


def details(run):
    out = []
    for row in run["rows"]:
        body = "".join(f'<tr class="{"shoal" if e["name"] == "shoal" else ""}">{entry_cells(row, e)}</tr>' for e in row["entries"])
        out.append(f'<h3 id="{html.escape(row["name"])}">{html.escape(describe(row))}</h3>'
                   f'<p class="how"><code>shoal_bench --filter \'^{html.escape(row["name"])}$\'</code></p>'
                   f'<div class="wide"><table>{HEAD}{body}</table></div>')
    return "".join(out)


def summary(run):
    """A line a row: shoal, its best exact rival, and how far apart they are."""
    lines = []
    for row in run["rows"]:
        if row["condition"] != 1 or row["scalar"] not in ("f32", "f64"):
            continue
        ours = next((e for e in row["entries"] if e["name"] == "shoal"), None)
        if ours is None:
            continue
        rivals = sorted((e for e in row["entries"] if not e["name"].startswith("shoal") and worked(e)),
                        key=lambda e: e["seconds"]["median"])
        failed = [e["name"] for e in row["entries"] if not e["name"].startswith("shoal") and not worked(e)]
        best = rivals[0] if rivals else None
        time = as_time(ours["seconds"]["median"]) if worked(ours) else "failed"
        ratio = ""
        if best and worked(ours):
            r = best["seconds"]["median"] / ours["seconds"]["median"]
            ratio = f'<td class="{"faster" if r >= 1 else "slower"}">{r:.2f}</td>'
        share = f'{100 * ours["copy_fraction"]:.0f} %' if worked(ours) else ""
        lines.append(f'<tr><td><a href="#{html.escape(row["name"])}">{html.escape(describe(row))}</a></td><td>{time}</td><td>{share}</td>'
                     f'<td>{html.escape(best["name"]) if best else ""}</td><td>{as_time(best["seconds"]["median"]) if best else ""}</td>'
                     f'{ratio or "<td></td>"}<td><small>{html.escape(", ".join(failed))}</small></td></tr>')
    return ("<table><tr><th></th><th>shoal</th><th>of copy</th><th>fastest rival</th><th>its time</th><th>its time / shoal's</th>"
            f'<th>failed</th></tr>{"".join(lines)}</table>')


STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:1020px;margin:2em auto;padding:0 1em;color:#1d2328;background:#fff}
h1{margin-bottom:.1em} h2{margin-top:2em;border-bottom:1px solid #ccd3d8} h3{margin:1.6em 0 .2em;font-size:1em}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums} .wide{overflow-x:auto}
td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #e6eaed;white-space:nowrap} td:first-child,th:first-child{text-align:left}
th{font-weight:600;color:#55606a} tr.shoal td{background:#eef6f2;font-weight:600} .failed{color:#a4232f;text-align:left;white-space:normal}
.faster{color:#0b6e4f;font-weight:600} .slower{color:#a4232f;font-weight:600} small{color:#6b757d;font-weight:400} a{color:inherit}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(430px,1fr));gap:10px} svg{width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:#444c53} svg .title{font-size:12.5px;font-weight:600;fill:#1d2328}
.grid{stroke:#e3e8eb} .axis{stroke:#888} .limit{stroke:#a4232f;stroke-dasharray:5 4}
.legend span{margin-right:1.3em;white-space:nowrap} .legend i{display:inline-block;width:1.1em;height:.35em;margin-right:.4em;vertical-align:middle}
.how{margin:.1em 0 .3em} code{font-size:12px;color:#55606a}
"""


def page(run):
    colour_of = colours(run)
    machine = run["machine"]
    facts = [("date", run["date"]), ("device", machine["device"]), ("execution space", f'{run["space"]}, concurrency {run["threads"]}')]
    facts += sorted((machine.get("details") or {}).items())
    facts.append(("a copy of large arrays", f'{run["copy_gb_per_s"]:.0f} GB/s, read and written together'))
    versions = {}
    for row in run["rows"]:
        for entry in row["entries"]:
            versions[entry["name"]] = (entry["version"], entry["tolerance"])
    facts_table = "".join(f"<tr><td>{html.escape(k)}</td><td>{html.escape(str(v))}</td></tr>" for k, v in facts)
    version_table = "".join(f"<tr><td>{html.escape(k)}</td><td>{html.escape(v)}</td><td>{html.escape(t)}</td></tr>"
                            for k, (v, t) in versions.items())
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>shoal beside its rivals</title><style>{STYLE}</style></head><body>
<h1>shoal beside its rivals</h1>
<p>shoal {run["shoal"]}, {html.escape(machine["device"])}, {run["date"]}. Everyone works on the same matrices, in the same run, in the
layout that suits them best. Each time is the median of a call; “of copy” is the rate at which each matrix's bytes move, every one
counted once, over the rate of a plain copy: 100 % means that memory allows no more.</p>
<h2>Summary</h2><div class="wide">{summary(run)}</div>
<h2>Decompositions</h2>{plots_over_n(run, "svd", "svd with vectors", colour_of)}
<h2>Products</h2>{plots_over_n(run, "gemm", "gemm", colour_of)}
<h2>Accuracy</h2>{accuracy_plots(run, colour_of)}
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


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} bench.json bench.html")
    with open(sys.argv[1], encoding="utf-8") as source:
        run = json.load(source)
    with open(sys.argv[2], "w", encoding="utf-8") as target:
        target.write(page(run))


if __name__ == "__main__":
    main()
