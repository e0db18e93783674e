// Draws the imports between folders and layers into docs/explanation/architecture.md. Run it when
// test/house/architecture.test.ts reports that the drawings are out of date.
//
//   node scripts/draw-imports.ts

import { readFileSync, writeFileSync } from "node:fs";
import { drawImports, withDrawings } from "../test/house/import-graph.ts";
import { readCommandLine } from "./command-line.ts";

readCommandLine(import.meta.filename, {});
const page = "docs/explanation/architecture.md";
writeFileSync(page, withDrawings(readFileSync(page, "utf8"), drawImports()));
