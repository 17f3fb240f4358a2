# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""test_report.py <source folder> <bench.json>: peers.py and report.py on a tiny measurement."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from html.parser import HTMLParser
from pathlib import Path

source, measured = (Path(x).resolve() for x in sys.argv[1:3])


def python(script, *arguments):
    return subprocess.run([sys.executable, source / "benchmarks" / script, *arguments], capture_output=True, text=True)


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.links, self.outside = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.targets |= {attributes["id"]} if "id" in attributes else set()
        self.links |= {attributes["href"][1:]} if attributes.get("href", "").startswith("#") else set()
        self.outside += [v for k, v in attributes.items() if k in ("src", "href") and not v.startswith("#")]


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.json = self.folder / "bench.json"
        shutil.copy(measured, self.json)
        self.run_ = json.loads(self.json.read_text())

    def test_every_row_has_what_a_reader_needs(self):
        self.assertGreater(len(self.run_["rows"]), 20)
        for row in self.run_["rows"]:
            self.assertIn("shoal", [e["name"] for e in row["entries"]])
            for entry in row["entries"]:
                self.assertTrue(entry["version"] and entry["tolerance"], (row["name"], entry["name"]))
                if entry["failure"] is None:
                    self.assertGreater(entry["seconds"]["median"], 0)
                    self.assertGreater(entry["gflop_per_s"], 0)
                    self.assertIsNotNone(entry["accuracy"])

    def test_page_needs_no_network_and_shows_all(self):
        page = self.folder / "page.html"
        done = python("report.py", self.json, page)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        links = Links(text)
        self.assertEqual(links.outside, [])
        self.assertLessEqual(links.links, links.targets)
        self.assertLessEqual({row["name"] for row in self.run_["rows"]}, links.targets)
        for row in self.run_["rows"]:
            for entry in row["entries"]:
                if entry["failure"]:
                    self.assertIn("failed: ", text)
        for svg in re.findall("<svg.*?</svg>", text, re.S):
            xml.fromstring(svg)

    def test_a_kept_measurement_is_shown(self):
        readme, results = self.folder / "README.md", self.folder / "results"
        kind = "gpu" if self.run_["machine"]["is_gpu"] else "cpu"
        readme.write_text(f"before\n<!-- measured: {kind} -->\nold\n<!-- end: {kind} -->\nafter\n")
        done = python("report.py", self.json, self.folder / "page.html", "--keep", "tiny", "--folder", results, "--readme", readme)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((results / "tiny.json").read_text()), self.run_)
        shown, described = readme.read_text(), (results / "README.md").read_text()
        self.assertNotIn("old", shown)
        self.assertTrue(shown.startswith("before\n") and shown.endswith("after\n"))
        for text, folder in ((shown, self.folder), (described, results)):
            self.assertIn(self.run_["command"], text)
            pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
            self.assertTrue(pictures)
            for picture in pictures:
                xml.parse(folder / picture)
            commands = re.findall("Again: `.*--filter '(.*?)'.*`", text)
            self.assertEqual(len(commands), len(pictures))
            for rows in commands:
                self.assertTrue(any(re.search(rows, row["name"]) for row in self.run_["rows"]), rows)
        readme.write_text("no markers\n")
        refused = python("report.py", self.json, self.folder / "page.html", "--keep", "tiny", "--folder", results, "--readme", readme)
        self.assertNotEqual(refused.returncode, 0)

    def test_pieces_of_a_measurement_are_put_together(self):
        pieces, half = [], len(self.run_["rows"]) // 2
        for name, rows in (("first", self.run_["rows"][:half]), ("second", self.run_["rows"][half:])):
            pieces.append(self.folder / f"{name}.json")
            pieces[-1].write_text(json.dumps(self.run_ | {"rows": rows, "command": f"shoal_bench --seconds 1 --json {name}.json --filter '^{name} piece'"}))
        page = self.folder / "page.html"
        done = python("report.py", *pieces, page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual({row["name"] for row in self.run_["rows"]}, Links(page.read_text()).targets)
        self.assertIn("<td>shoal_bench --seconds 1</td>", page.read_text())

    def test_peers_add_their_entries(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        done = python("peers.py", self.json, "--filter", "^(svd/thin|gemm)/f(32|64)/(3x3|15x3)", "--seconds", "0.001")
        self.assertEqual(done.returncode, 0, done.stderr)
        added = [e for row in json.loads(self.json.read_text())["rows"] for e in row["entries"] if e["name"] == "NumPy"]
        self.assertTrue(added)
        for entry in added:
            self.assertIsNone(entry["failure"])
            self.assertGreater(entry["gflop_per_s"], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
