"""The project that the demo's agents work on: a small shop, and programs that take as long as real ones."""
import os

FILES = {
    "README.md": "# Orchard\n\nAn online shop for fruit trees.\n",
    "package.json": '{\n  "name": "orchard",\n  "version": "2.3.1",\n  "scripts": { "test": "vitest run", "bench": "node bench/checkout.mjs" }\n}\n',
    "CHANGELOG.md": "# Changelog\n\n## 2.3.1\n\n- Prices in euro cents.\n",
    "src/cart/total.ts": "import { priceOf } from '../prices/lookup';\n\nexport async function total(lines: Line[]): Promise<number> {\n"
                         "  let sum = 0;\n  for (const line of lines) {\n    const price = await priceOf(line.sku);\n    sum += price * line.count;\n  }\n  return sum;\n}\n",
    "src/cart/checkout.ts": "import { total } from './total';\n\nexport async function checkout(cart: Cart) {\n  const due = await total(cart.lines);\n"
                            "  return pay(cart.customer, due);\n}\n",
    "src/prices/lookup.ts": "import { db } from '../db';\n\nexport async function priceOf(sku: string): Promise<number> {\n"
                            "  const row = await db.one('select cents from prices where sku = $1', [sku]);\n  return row.cents;\n}\n",
    "src/prices/cache.ts": "const known = new Map<string, number>();\nexport const cached = (sku: string) => known.get(sku);\n",
    "src/db.ts": "export const db = connect(process.env.DATABASE_URL);\n",
    "db/schema.sql": "create table prices (sku text, region text, cents integer);\ncreate index prices_region on prices (region);\n",
    "bench/checkout.mjs": "import { checkout } from '../dist/checkout.js';\nawait run(checkout, { lines: 200 });\n",
    "tests/total.test.ts": "test('the total of an empty cart is zero', async () => { expect(await total([])).toBe(0); });\n",
    "docs/deploy.md": "# Deploy\n\nTag a commit; the pipeline does the rest.\n",
    "forecast/model.py": "def forecast(frost_days, chill_hours):\n    return chill_hours / max(frost_days, 1)\n",
    "forecast/weather.py": "def frost_days(station):\n    return sum(day.low < 0 for day in station.days)\n",
    "forecast/test_model.py": "from model import forecast\n\ndef test_no_frost():\n    assert forecast(0, 900) == 900\n",
}

# What programs that are not on this machine would print, how long they would take, and how they would end. The first rule
# whose words are in the command line counts; a list of ends is gone through call by call.
PROGRAM = """#!%(python)s -IS
import json, os, sys, time
rules = json.load(open("/home/dev/bin/rules.json"))
line = " ".join([os.path.basename(sys.argv[0])] + sys.argv[1:])
for words, seconds, ends, text in rules:
    if words in line:
        count = "/home/dev/.tmp/count-" + "".join(c for c in words if c.isalnum())
        with open(count, "a") as f:
            f.write(".")
        time.sleep(seconds)
        print(text)
        sys.exit(ends[min(os.path.getsize(count), len(ends)) - 1])
sys.exit(0)
"""

RULES = [
    ("npm test", 4.2, [1, 0], "Test Files  1 failed | 11 passed\nFAIL tests/total.test.ts: expected 1 query, got 40"),
    ("npm run bench", 5.5, [0], "200 lines: 1.84 s, 200 queries"),
    ("npm run lint", 2.4, [0], "no problems"),
    ("npx tsc", 3.1, [0], ""),
    ("psql", 2.2, [0], "Seq Scan on prices  (cost=0.00..4512.00 rows=1)"),
    ("rg ", 0.4, [0], "src/cart/total.ts:6\nsrc/cart/checkout.ts:4"),
    ("jq ", 0.7, [0], "40"),
    ("pytest", 3.4, [1, 0], "1 failed, 6 passed"),
    ("ruff", 0.9, [0], "All checks passed"),
    ("curl", 2.0, [6], "could not resolve host"),
    ("git push", 0.5, [0], ""),
]


def plant(write, home, python):
    import json
    for path, text in FILES.items():
        write("project/" + path, text)
    write("bin/rules.json", json.dumps(RULES))
    for program in ("npm", "npx", "psql", "rg", "jq", "pytest", "ruff", "curl"):
        write("bin/" + program, PROGRAM % {"python": python})
        os.chmod(os.path.join(home, "bin", program), 0o755)
